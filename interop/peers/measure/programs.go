package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	ourProgram   = "vmikit"
	theirProgram = "kubecli"
)

// module is this one, from which the programs are built.
const module = "github.com/vmikit/vmikit/interop/peers"

// goTool runs the go command on a program. kubecli is known only with its tag, which
// means nothing to the other.
func (b *bench) goTool(ctx context.Context, program string, env []string, command string, args ...string) ([]byte, time.Duration, error) {
	args = append(append([]string{command, "-tags", "kubecli"}, args...), module+"/programs/"+program)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		return nil, 0, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(errOut.Bytes()))
	}
	return out, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// modules are those that a program is built from, besides its own.
func (b *bench) modules(ctx context.Context, program string) ([]string, error) {
	out, _, err := b.goTool(ctx, program, nil, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}")
	if err != nil {
		return nil, err
	}
	modules := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
	return slices.DeleteFunc(modules, func(path string) bool { return path == module }), nil
}

// build returns the size of a stripped program in MB and the CPU time of building it in
// seconds.
func (b *bench) build(ctx context.Context, program string, env ...string) (size, cpu float64, err error) {
	dir, err := os.MkdirTemp("", "peers-")
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	to := filepath.Join(dir, program)
	_, took, err := b.goTool(ctx, program, env, "build", "-ldflags", "-s -w", "-o", to)
	if err != nil {
		return 0, 0, err
	}
	info, err := os.Stat(to)
	if err != nil {
		return 0, 0, err
	}
	return float64(info.Size()) / 1e6, took.Seconds(), nil
}

// measurePrograms measures what a program that lists machines depends on, and its size.
func (b *bench) measurePrograms(ctx context.Context) error {
	var modules, sizes [2]float64
	for i, program := range []string{ourProgram, theirProgram} {
		list, err := b.modules(ctx, program)
		if err != nil {
			return err
		}
		modules[i] = float64(len(list))
		if sizes[i], _, err = b.build(ctx, program); err != nil {
			return err
		}
	}
	b.row("program: modules besides itself", modules[0], modules[1], goal{most: 5})
	b.row("program: MB, stripped", sizes[0], sizes[1], goal{part: 1. / 4, most: 9})
	return nil
}

// measureBuilds builds both with nothing in the cache, the standard library included.
func (b *bench) measureBuilds(ctx context.Context) error {
	var took [2]float64
	for i, program := range []string{ourProgram, theirProgram} {
		cache, err := os.MkdirTemp("", "peers-cache-")
		if err != nil {
			return err
		}
		_, took[i], err = b.build(ctx, program, "GOCACHE="+cache)
		_ = os.RemoveAll(cache)
		if err != nil {
			return err
		}
	}
	b.row("program: CPU s of a cold build", took[0], took[1], goal{part: 1. / 4})
	return nil
}
