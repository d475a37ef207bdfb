package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/vmikit/vmikit/contract"
)

func newContractChecks() *cobra.Command {
	var output choice
	cmd := &cobra.Command{
		Use:   "checks",
		Short: "Print what vmikit contract checks",
		Long: `Print the checks in the order in which they run, with the clause of the document that
each stands on and what must be there for it to tell anything. IDs are stable.`,
		Example: `  vmikit contract checks
  vmikit contract checks -o json`,
		Args: noArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			write := map[string]func(io.Writer, []contract.Check) error{
				"text": writeChecksText, "json": writeChecksJSON, "markdown": writeChecksMarkdown,
			}[output.value]
			return write(cmd.OutOrStdout(), contract.Checks())
		}),
	}
	addChoice(cmd, &output, "output", "o", "text", "text, json or markdown", "text", "json", "markdown")
	return cmd
}

func needsOf(c contract.Check) []string {
	needs := make([]string, len(c.Needs))
	for i, n := range c.Needs {
		needs[i] = n.String()
	}
	return needs
}

func writeChecksText(w io.Writer, checks []contract.Check) error {
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, "CHECK\tCLAUSE\tNEEDS")
	for _, c := range checks {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", c.ID, c.Clause, strings.Join(needsOf(c), "; "))
	}
	return tw.Flush()
}

func writeChecksJSON(w io.Writer, checks []contract.Check) error {
	type check struct {
		ID      string   `json:"id"`
		Subject string   `json:"subject"`
		Line    int      `json:"line,omitempty"`
		Clause  string   `json:"clause"`
		Needs   []string `json:"needs"`
		Explain string   `json:"explain"`
	}
	all := make([]check, len(checks))
	for i, c := range checks {
		all[i] = check{c.ID, c.Subject(), c.Clause.Line, c.Clause.Text, needsOf(c), c.Explain}
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(all)
}

// writeChecksMarkdown writes the page of the documentation.
func writeChecksMarkdown(w io.Writer, checks []contract.Check) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# What vmikit contract checks

Written by `+"`vmikit contract checks -o markdown`"+`; make generate keeps it.

The %d checks, by subject, in the order in which they run. A check stands on a line of
the given document (openapi/kubevirt-vmi.yaml) or on a convention that every client of
Kubernetes relies on. What a check needs and does not find makes it skipped or not
exercised, never passed. IDs are stable: a check may become stricter, its ID is never
given to another one.
`, len(checks))
	subject := ""
	for _, c := range checks {
		if c.Subject() != subject {
			subject = c.Subject()
			fmt.Fprintf(&b, "\n## %s\n\n| check | stands on | needs | what a failure means |\n|---|---|---|---|\n", subject)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.ID, cell(c.Clause.String()), cell(strings.Join(needsOf(c), ", ")), cell(c.Explain))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell is text in a table of Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(text)
}
