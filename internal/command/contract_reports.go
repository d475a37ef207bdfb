package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vmikit/vmikit/contract"
)

// reportFormats are those of a report of the contract, the first of them the
// default on standard output.
var reportFormats = []string{"text", "json", "junit", "har", "html"}

// reports are the flags of where a report goes.
type reports struct {
	output choice
	files  []string
}

func (r *reports) addFlags(cmd *cobra.Command) {
	addChoice(cmd, &r.output, "output", "o", reportFormats[0], "the report on standard output: "+strings.Join(reportFormats, ", "), reportFormats...)
	cmd.Flags().StringArrayVar(&r.files, "report", nil, "also write a report, as FORMAT=FILE, e.g. html=report.html; more than once for several")
}

// check refuses what no report can be written to, before anything is asked.
func (r *reports) check() error {
	written := make(map[string]bool)
	for _, file := range r.files {
		format, path, ok := strings.Cut(file, "=")
		if !ok || !slices.Contains(reportFormats, format) || path == "" {
			return usagef("--report %q: must be FORMAT=FILE with one of the formats %s", file, strings.Join(reportFormats, ", "))
		}
		if written[path] {
			return usagef("--report %q: another report is written to that file", file)
		}
		written[path] = true
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return fmt.Errorf("--report %s: there is no directory %s", file, filepath.Dir(path))
		}
	}
	return nil
}

// write writes all reports, also of a run that ended with an error; where nothing was
// told, people have the error.
func (r *reports) write(stdout io.Writer, report *contract.Report, runErr error) error {
	var failed error
	for _, file := range r.files {
		format, path, _ := strings.Cut(file, "=")
		if err := writeFile(path, writerOf(report, format)); err != nil {
			failed = errors.Join(failed, fmt.Errorf("--report %s: %w", file, err))
		}
	}
	told := slices.ContainsFunc(report.Results, func(result contract.Result) bool { return len(result.Findings) > 0 || result.Outcome == contract.Pass })
	if runErr == nil || told || r.output.value != "text" {
		if err := writerOf(report, r.output.value)(stdout); err != nil {
			failed = errors.Join(failed, fmt.Errorf("write the report: %w", err))
		}
	}
	return failed
}

func writerOf(report *contract.Report, format string) func(io.Writer) error {
	switch format {
	case "json":
		return report.WriteJSON
	case "junit":
		return report.WriteJUnit
	case "har":
		return report.WriteHAR
	case "html":
		return report.WriteHTML
	}
	return report.WriteText
}

func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
