package command

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/vmikit/vmikit/openapi"
)

var profileTexts = map[openapi.Profile]string{
	openapi.ProfileDocument:   "the OpenAPI document as given",
	openapi.ProfileKubernetes: "with what every Kubernetes API has: error bodies, paging, watches, tables, discovery",
	openapi.ProfileKubeVirt:   "with the values that KubeVirt has added since the document was written (the default)",
}

func newProfiles() *cobra.Command {
	var output choice
	cmd := &cobra.Command{
		Use:   "profiles",
		Short: "List the profiles, and what each adds to the document",
		Long: `A profile is the document that objects, requests and answers are judged by. There
are three, each the one before with a layer on it.`,
		Example: `  vmikit profiles
  # What the default profile has otherwise than the document as given
  vmikit profiles diff
  vmikit profiles diff kubernetes kubevirt -o json
  vmikit profiles show kubevirt > openapi.yaml
  # What the names behind the messages mean that are no keywords of JSON Schema
  vmikit profiles rules`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(cmd, args[0])
			}
			return nil
		},
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			return listProfiles(cmd.OutOrStdout(), output.value)
		}),
	}
	addChoice(cmd, &output, "output", "o", "text", "text or json", "text", "json")
	cmd.AddCommand(newProfilesDiff(), newProfilesShow(), newProfilesRules())
	return cmd
}

func listProfiles(w io.Writer, output string) error {
	type entry struct {
		Name        openapi.Profile `json:"name"`
		Description string          `json:"description"`
	}
	var list []entry
	for _, p := range openapi.Profiles() {
		list = append(list, entry{p, profileTexts[p]})
	}
	if output == "json" {
		return writeJSON(w, list)
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	for _, e := range list {
		fmt.Fprintf(t, "%s\t%s\n", e.Name, e.Description)
	}
	return t.Flush()
}

func newProfilesDiff() *cobra.Command {
	var output choice
	cmd := &cobra.Command{
		Use:   "diff [A B]",
		Short: "Print what profile B has otherwise than profile A, by default kubevirt than document",
		Example: `  vmikit profiles diff
  vmikit profiles diff document kubernetes`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 0 && len(args) != 2 {
				return usagef("two profiles are needed, or none, got %d", len(args))
			}
			return nil
		},
		ValidArgsFunction: completeProfiles(2),
		RunE: run(func(cmd *cobra.Command, args []string) error {
			a, b := openapi.ProfileDocument, openapi.ProfileKubeVirt
			if len(args) == 2 {
				var err error
				if a, err = parseProfile(args[0]); err != nil {
					return err
				}
				if b, err = parseProfile(args[1]); err != nil {
					return err
				}
			}
			changes, err := openapi.Diff(a, b)
			if err != nil {
				return err
			}
			if output.value == "json" {
				if changes == nil {
					changes = []openapi.Change{}
				}
				return writeJSON(cmd.OutOrStdout(), changes)
			}
			return writeChanges(cmd.OutOrStdout(), changes, a, b)
		}),
	}
	addChoice(cmd, &output, "output", "o", "text", "text or json", "text", "json")
	return cmd
}

func writeChanges(w io.Writer, changes []openapi.Change, a, b openapi.Profile) error {
	count := make(map[openapi.Effect]int)
	for _, c := range changes {
		count[c.Effect]++
		// Two lines: pointers are long, and so are lists of values.
		fmt.Fprintf(w, "%-8s %s\n", c.Effect, c.Pointer)
		if c.Keyword != "" {
			fmt.Fprintf(w, "         %s: %s -> %s\n", c.Keyword, cmp.Or(c.From, "none"), cmp.Or(c.To, "none"))
		}
	}
	if len(changes) == 0 {
		_, err := fmt.Fprintf(w, "%s and %s judge alike\n", a, b)
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s against %s: %d additions, %d widenings, %d narrowings, %d other changes\n", b, a,
		count[openapi.EffectAdds], count[openapi.EffectWidens], count[openapi.EffectNarrows], count[openapi.EffectChanges])
	return err
}

func newProfilesShow() *cobra.Command {
	return &cobra.Command{
		Use:               "show PROFILE",
		Short:             "Print the OpenAPI document of a profile as YAML",
		Example:           "  vmikit profiles show document",
		ValidArgsFunction: completeProfiles(1),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("one profile is needed, got %d", len(args))
			}
			return nil
		},
		RunE: run(func(cmd *cobra.Command, args []string) error {
			p, err := parseProfile(args[0])
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(openapi.Source(p))
			return err
		}),
	}
}

func newProfilesRules() *cobra.Command {
	var output choice
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "List the rules that are no keywords of JSON Schema, and what they say",
		Example: `  vmikit profiles rules
  vmikit profiles rules -o json`,
		Args: noArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			if output.value == "json" {
				return writeJSON(cmd.OutOrStdout(), openapi.Rules())
			}
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 3, ' ', 0)
			for _, r := range openapi.Rules() {
				fmt.Fprintf(t, "%s\t%s\n", r.Name, r.Description)
			}
			return t.Flush()
		}),
	}
	addChoice(cmd, &output, "output", "o", "text", "text or json", "text", "json")
	return cmd
}

func parseProfile(name string) (openapi.Profile, error) {
	p, err := openapi.ParseProfile(name)
	if err != nil {
		return "", usagef("%s", err)
	}
	return p, nil
}

// completeProfiles offers the profiles for the first n arguments.
func completeProfiles(n int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return profileNames(), cobra.ShellCompDirectiveNoFileComp
	}
}
