package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vmikit/vmikit/openapi"
)

// choice is a flag with a closed list of values.
type choice struct {
	value   string
	allowed []string
}

func (c *choice) String() string { return c.value }

func (c *choice) Type() string { return "string" }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.allowed, s) {
		return fmt.Errorf("must be one of %s", strings.Join(c.allowed, ", "))
	}
	c.value = s
	return nil
}

// addChoice adds the flag to a command, with its completion. The first of the
// values is the default unless value says another.
func addChoice(cmd *cobra.Command, c *choice, name, shorthand, value, usage string, allowed ...string) {
	c.value, c.allowed = value, allowed
	cmd.Flags().VarP(c, name, shorthand, usage)
	complete(cmd, name, allowed)
}

// complete offers values for a flag.
func complete(cmd *cobra.Command, flag string, values []string) {
	// It fails only for a flag that does not exist, and for one that has a completion.
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

func profileNames() []string {
	var names []string
	for _, p := range openapi.Profiles() {
		names = append(names, string(p))
	}
	return names
}

// addProfile adds --profile.
func addProfile(cmd *cobra.Command, c *choice, usage string) {
	addChoice(cmd, c, "profile", "", string(openapi.ProfileKubeVirt), usage+": document, kubernetes or kubevirt (see 'vmikit profiles')", profileNames()...)
}

func (c *choice) profile() openapi.Profile { return openapi.Profile(c.value) }
