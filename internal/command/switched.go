package command

import (
	"strconv"

	"github.com/spf13/cobra"
)

// switched is a flag that is on, off, or not given, where off is not the same as that.
type switched struct{ on, given bool }

func addSwitched(cmd *cobra.Command, s *switched, name, usage string) {
	cmd.Flags().Var(s, name, usage)
	cmd.Flags().Lookup(name).NoOptDefVal = "true"
}

func (s *switched) String() string {
	if !s.given {
		return "" // no default is shown then
	}
	return strconv.FormatBool(s.on)
}

func (s *switched) Type() string { return "bool" }

func (s *switched) Set(text string) (err error) {
	s.given = true
	s.on, err = strconv.ParseBool(text)
	return err
}
