package command

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by release builds:
// -ldflags "-X github.com/vmikit/vmikit/internal/command.version=1.2.3".
var version string

// buildVersion says which build this is.
type buildVersion struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Date     string `json:"date,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// readVersion takes what the release build or else the go command has noted.
func readVersion() buildVersion {
	v := buildVersion{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v.Version == "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.time":
				v.Date = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	if v.Version == "" {
		v.Version = "devel"
	}
	return v
}

func (v buildVersion) writeText(w io.Writer) error {
	line := "vmikit " + v.Version
	if v.Commit != "" {
		line += fmt.Sprintf(" (%s, %s)", v.Commit[:min(12, len(v.Commit))], v.Date)
	}
	_, err := fmt.Fprintf(w, "%s %s %s\n", line, v.Go, v.Platform)
	return err
}

func newVersion() *cobra.Command {
	var output choice
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print which build this is",
		Example: "  vmikit version\n  vmikit version -o json",
		Args:    noArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			v := readVersion()
			if output.value == "json" {
				return writeJSON(cmd.OutOrStdout(), v)
			}
			return v.writeText(cmd.OutOrStdout())
		}),
	}
	addChoice(cmd, &output, "output", "o", "text", "text or json", "text", "json")
	return cmd
}

// writeJSON writes a value as people and programs can read it.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
