package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/vmikit/vmikit/openapi"
)

// Exit codes of validate beside exitOK.
const (
	exitViolations = 1
	exitUnreadable = 2
)

func newValidate() *cobra.Command {
	var (
		profile, output choice
		strict          bool
	)
	cmd := &cobra.Command{
		Use:   "validate PATH...",
		Short: "Check VirtualMachineInstances in files by the OpenAPI document",
		Long: `Check the VirtualMachineInstances in files, directories and standard input (-) by
the OpenAPI document. Each violation is a line with file, line, JSON pointer and
rule. Objects of other kinds are named and skipped.

What only the document as given objects to is told as a note: the document is
behind KubeVirt there. With --profile document it is a violation.

The document knows kubevirt.io/v1 alone, so kubevirt.io/v1alpha3 is a violation in
every profile. A note says that serve --load takes such an object: it answers it as
kubevirt.io/v1, as a cluster does. Names are what the document leaves open, templates
have none: serve --load refuses an object without a valid name, validate does not.

Exit codes: 0 valid, 1 violations, 2 something could not be read, or wrong usage.`,
		Example: `  vmikit validate vmi.yaml
  kubectl get vmi -A -o yaml | vmikit validate -
  # Fields that neither the document nor KubeVirt knows are violations too
  vmikit validate --strict manifests/
  vmikit validate -o junit manifests/ > report.xml`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("a file, a directory or - is needed")
			}
			return stdinOnce(args)
		},
		RunE: run(func(cmd *cobra.Command, args []string) error {
			v, err := newValidator(profile.profile(), strict)
			if err != nil {
				return &exitError{exitUnreadable, err}
			}
			report, err := v.validate(cmd.Context(), args, cmd.InOrStdin())
			if err != nil {
				return &exitError{exitUnreadable, err}
			}
			write := map[string]func(io.Writer) error{"text": report.writeText, "json": report.writeJSON, "junit": report.writeJUnit}[output.value]
			if err := write(cmd.OutOrStdout()); err != nil {
				return &exitError{exitUnreadable, fmt.Errorf("write the report: %w", err)}
			}
			return exitWith(report.exitCode())
		}),
	}
	addProfile(cmd, &profile, "the profile to judge by")
	cmd.Flags().BoolVar(&strict, "strict", false, "fields that neither the document nor KubeVirt's definition names are violations")
	addChoice(cmd, &output, "output", "o", "text", "text, json or junit", "text", "json", "junit")
	return cmd
}

// documentOf loads the document that a profile's issues are compared with to
// find what only the given document objects to; nil for that document itself.
func documentOf(p openapi.Profile) (*openapi.Document, error) {
	if p == openapi.ProfileDocument {
		return nil, nil
	}
	return openapi.Load(openapi.ProfileDocument)
}
