// Package command is the vmikit command: what cmd/vmikit and other mains are
// thin wrappers over.
//
//	os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
//
// Each subcommand has a file of its own.
package command

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs the command line and returns the exit code of the process. The first
// interrupt or SIGTERM ends what runs in good order, the second one kills.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// The transport of net/http writes there what a server sends that nobody asked
	// for, tokens and cloud-init data among it.
	log.SetOutput(io.Discard)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return Run(ctx, args, stdin, stdout, stderr)
}

// Run runs the command line until it is done or ctx ends, and returns the exit
// code. args has no program name in front.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for os.Args
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	return conclude(cmd, err)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "vmikit",
		Short: "Serve, validate and contract-test KubeVirt's VirtualMachineInstances",
		Long: `vmikit works on KubeVirt's VirtualMachineInstances (VMIs) by their OpenAPI document:
it serves them as a Kubernetes API server does, with no cluster behind it, checks
manifests, and tells a right implementation of the API from a wrong one.`,
		Example: `  # A server with a built-in sample of machines, and kubectl on it
  vmikit serve --tls --kubeconfig-out .vmikit/kubeconfig
  kubectl --kubeconfig .vmikit/kubeconfig get vmi -A

  # What is wrong with a manifest
  vmikit validate vmi.yaml

  # What is wrong with a server
  vmikit contract --server http://127.0.0.1:6443`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		DisableFlagsInUseLine:      true,
		// Anything, so that an unknown command is worded here and not by cobra.
		Args: cobra.ArbitraryArgs,
		RunE: run(func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		}),
	}
	root.AddCommand(newServe(), newValidate(), newContract(), newProxy(), newProfiles(), newVersion())
	return root
}
