package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// bench is one run.
type bench struct {
	out, log io.Writer
	size     size
	// binary is the vmikit that is measured, and dir what is thrown away at the end.
	binary, dir string
	// alone leaves the API server out.
	alone bool
	// patches is how many there were so far.
	patches int
}

// run measures the parts that are named, all of them when there are no names.
func (b *bench) run(ctx context.Context, names []string) (err error) {
	// The servers are short of CPU; the client need not be, for the want of memory.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	if b.dir, err = os.MkdirTemp("", "vmikit-measure-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if b.binary == "" {
		if b.binary, err = buildVmikit(ctx, b.dir); err != nil {
			return err
		}
	}
	fmt.Fprintf(b.out, "%s, %d cores, %s; client and servers share them\n", processor(), runtime.NumCPU(), runtime.Version())
	for _, p := range parts {
		if len(names) > 0 && !slices.Contains(names, p.name) {
			continue
		}
		if err := p.run(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// buildVmikit builds the command with the versions that its own module asks for.
func buildVmikit(ctx context.Context, dir string) (string, error) {
	root, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/vmikit/vmikit").Output()
	if err != nil {
		return "", fmt.Errorf("find the module of vmikit: %w", err)
	}
	path := filepath.Join(dir, "vmikit")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", path, "./cmd/vmikit")
	cmd.Dir = strings.TrimSpace(string(root))
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build vmikit: %w\n%s", err, out)
	}
	return path, nil
}
