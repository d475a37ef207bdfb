// Measure puts vmikit serve beside a real Kubernetes API server with KubeVirt's CRD,
// in one run on one machine. Each server is a process of its own, so that its CPU
// time and memory can be read; this process is the client of all, over TLS.
//
//	go run ./measure                           # a small size: to see that it works
//	go run ./measure -full                     # the sizes of the goals: a quarter of an hour
//	go run ./measure -full deliveries fleet    # the parts that need no API server: two minutes
//	go run ./measure -full -alone              # nothing beside vmikit but the floor: four minutes
//
// The floor is what a server in Go hardly goes below: the same bytes from a net/http
// handler, or a TLS socket, that does nothing else. Goals are printed beside the
// figures. It fails when something went wrong or an event was lost, never because
// something took long. It reads /proc, and so needs Linux.
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
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// parts are what can be measured, in the order in which it is.
var parts = []part{
	{"beside", (*bench).beside},
	{"deliveries", (*bench).deliveries},
	{"fleet", (*bench).fleet},
}

type part struct {
	name string
	run  func(*bench, context.Context) error
}

func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == childArgument {
		return runChild(ctx, args[1:], stdin, stdout)
	}
	b := &bench{out: stdout, log: stderr, size: small}
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: measure [flags] [beside] [deliveries] [fleet]")
		flags.PrintDefaults()
	}
	full := flags.Bool("full", false, "measure in the size of the goals")
	flags.StringVar(&b.binary, "vmikit", "", "the `path` of the vmikit to measure; it is built when there is none")
	flags.BoolVar(&b.alone, "alone", false, "leave the API server out")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *full {
		b.size = goals
	}
	names := flags.Args()
	for _, name := range names {
		if !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return fmt.Errorf("there is nothing called %q to measure", name)
		}
	}
	return b.run(ctx, names)
}
