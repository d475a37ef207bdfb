package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes that all subcommands share. Those of their own stand in their help.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// exitError is an error of a subcommand with the exit code that it leads to.
type exitError struct {
	code int
	// err is what to print, nil when all is said.
	err error
}

// Error is for whoever wraps it; conclude prints err.
func (e *exitError) Error() string { return fmt.Sprintf("exit code %d: %v", e.code, e.err) }

func (e *exitError) Unwrap() error { return e.err }

// exitWith ends a command with a code and nothing more to say.
func exitWith(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// usageError is a command line that cannot be: it is printed with the way to the help.
type usageError struct{ message string }

func (e *usageError) Error() string { return e.message }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// run makes the errors of a subcommand known as such. What else cobra returns is
// about the command line: an unknown flag, an argument too many.
func run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := f(cmd, args)
		if err == nil {
			return nil
		}
		if _, ok := errors.AsType[*exitError](err); ok {
			return err
		}
		return &exitError{code: exitFailed, err: err}
	}
}

// conclude prints what is left to say and returns the exit code.
func conclude(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	stderr := cmd.ErrOrStderr()
	usage, wrongUsage := errors.AsType[*usageError](err)
	if e, ok := errors.AsType[*exitError](err); ok && !wrongUsage {
		if e.err != nil {
			fmt.Fprintf(stderr, "error: %s\n", printable(e.err.Error()))
		}
		return e.code
	}
	message := oneLine(err.Error())
	if wrongUsage {
		message = usage.message
	}
	fmt.Fprintf(stderr, "error: %s\nsee '%s --help'\n", printable(message), cmd.CommandPath())
	return exitUsage
}

// oneLine drops what cobra and pflag add behind the first line.
func oneLine(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return first
}

func unknownCommand(cmd *cobra.Command, name string) error {
	message := fmt.Sprintf("unknown command %q", name)
	if near := cmd.SuggestionsFor(name); len(near) > 0 {
		message += fmt.Sprintf(", did you mean %s?", strings.Join(near, " or "))
	}
	return &usageError{message}
}

// noArgs is cobra.NoArgs in the words of this command.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}

// stdinOnce refuses to read standard input twice: there is nothing left in it
// the second time.
func stdinOnce(paths []string) error {
	first := slices.Index(paths, "-")
	if first >= 0 && slices.Contains(paths[first+1:], "-") {
		return usagef("standard input (-) can be given once only")
	}
	return nil
}
