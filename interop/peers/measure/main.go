// Measure puts the client beside kubevirt.io/client-go: what a list over HTTP takes, the
// memory of a range over all machines, and what a program that lists becomes.
//
//	go run ./measure                  # lists of 1,000 machines, and the memory
//	go run ./measure -full            # all of it: lists of 10,000 too, programs, cold builds: half an hour
//	go run ./measure programs         # modules and sizes; the first build takes some minutes
//
// The other side of lists is kubevirt.io/api with client-go's RESTClient, which is what
// kubevirt.io/client-go does; that of programs is kubevirt.io/client-go. Each side is a
// process of its own, and this one the server of both, over plain HTTP without
// compression. Goals are printed beside the figures. It fails when something went wrong,
// never because something took long. It needs Unix.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	out, log io.Writer
	lists    []int // of how many machines
	stream   int   // how many machines All ranges over
	turns    int   // of each side
}

// parts are what can be measured, in the order in which it is.
var parts = []part{
	{"lists", false, (*bench).measureLists},
	{"memory", false, (*bench).measureMemory},
	{"programs", true, (*bench).measurePrograms},
	{"cold", true, (*bench).measureBuilds},
}

type part struct {
	name string
	slow bool // only when it is asked for
	run  func(*bench, context.Context) error
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == childArgument {
		return runChild(ctx, args[1:], stdout)
	}
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: measure [flags] [lists] [memory] [programs] [cold]")
		flags.PrintDefaults()
	}
	full := flags.Bool("full", false, "measure everything, in all sizes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b := &bench{out: stdout, log: stderr, lists: []int{1000}, stream: 10_000, turns: 3}
	if *full {
		b.lists = []int{1000, 10_000}
	}
	names := flags.Args()
	for _, name := range names {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("there is nothing called %q to measure", name)
		}
	}
	b.heading()
	for _, p := range parts {
		if slices.Contains(names, p.name) || len(names) == 0 && (*full || !p.slow) {
			if err := p.run(b, ctx); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}
