package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/openapi"
)

// contractOptions are the flags of contract.
type contractOptions struct {
	connection
	namespace     string
	profile       choice
	enumUnknown   choice
	forbidden     string
	forbiddenFile string

	maxRequests    int
	rate           float64
	requestTimeout time.Duration
	seed           uint64
	only, skip     []string

	seedDirs        []string
	probeMethods    bool
	write           string
	fuzz            int
	maxLatency      time.Duration
	maxFlaky        share
	knownFailures   string
	requireExercise share

	reports
}

func newContract() *cobra.Command {
	o := &contractOptions{}
	cmd := &cobra.Command{
		Use:   "contract [--server URL | --context NAME]",
		Short: "Tell whether a server keeps the contract of the API",
		Long: `Ask a server for its VirtualMachineInstances in every way that the OpenAPI document
has, and check the answers: every body by the document, selectors and pages against
the full list, one object against the list's item, and who is let in.

Server and credentials are those of the flags, or those of the kubeconfig as for
kubectl. Only GET and HEAD are sent, one request at a time, unless --write or
--probe-methods asks for more. A run ends early when the server seems to suffer.

A token on a command line can be read by others on the machine; --token-file and
--forbidden-token-file keep it off it. No report has a token or cloud-init data in
it. 'vmikit contract checks' tells what is checked.

Exit codes: 0 the server keeps it, 1 it does not, 2 wrong usage or an error of the
tester, 3 the server is unreachable, 4 too little could be told:
no object was shown, the run ended early, or fewer checks told something than could
not (--require-exercised asks for more).`,
		Example: `  vmikit contract --server http://127.0.0.1:6443

  # The cluster of the current context, as its user
  vmikit contract

  # A cluster, with the token of a service account that may read machines
  vmikit contract --server https://cluster.example.com:6443 --certificate-authority ca.crt --token-file token

  # One namespace, the document as given, reports for CI beside the one on the terminal
  vmikit contract --server http://127.0.0.1:6443 --namespace default --profile document --report junit=contract.xml --report html=contract.html

  # Objects that were applied beforehand, writes in a namespace made for it, 500 generated requests
  vmikit contract --context staging --seed-dir manifests/ --write contract-test --fuzz 500`,
		Args: noArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd)
		}),
	}
	o.addFlags(cmd)
	cmd.AddCommand(newContractChecks())
	return cmd
}

func (o *contractOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.connection.addFlags(cmd, "server", "s", "the base URL of the server, what stands before /apis")
	f.StringVar(&o.forbidden, "forbidden-token", "", "the bearer token of a user who may read nothing")
	f.StringVar(&o.forbiddenFile, "forbidden-token-file", "", "a file with the bearer token of a user who may read nothing")

	f.StringVarP(&o.namespace, "namespace", "n", "", "look into this namespace only; the profile document needs one")
	addProfile(cmd, &o.profile, "the profile that the server is held to")
	addChoice(cmd, &o.enumUnknown, "enum-unknown", "", "fail", "what a value that a closed list of the profile does not have is: fail or warn", "fail", "warn")
	f.StringSliceVar(&o.only, "only", nil, "run these checks only: an ID, or its first part for all of a subject")
	f.StringSliceVar(&o.skip, "skip", nil, "leave these checks out")
	f.StringVar(&o.knownFailures, "known-failures", "", "a file of failures that are known: on each line the ID of a check, then a part of the message if not all is meant; # begins a comment. One that is not found any more fails")
	f.Var(&o.requireExercise, "require-exercised", "the share of the checks that must tell something, e.g. 90%")

	f.IntVar(&o.maxRequests, "max-requests", 400, "the most requests to send; what would need more asks a sample")
	f.Float64Var(&o.rate, "rate", 5, "the most requests a second, 0 for no limit; on loopback there is none by default")
	f.DurationVar(&o.requestTimeout, "request-timeout", 30*time.Second, "how long to wait for an answer")
	f.Uint64Var(&o.seed, "seed", 1, "which sample is taken where not everything is asked")
	f.DurationVar(&o.maxLatency, "max-latency", 0, "a slower answer is a failure, e.g. 2s; without it slow answers are notes")
	f.Var(&o.maxFlaky, "max-flaky", "more requests that are answered at the second try only are a failure, e.g. 1%; without it they are a note")

	f.StringSliceVar(&o.seedDirs, "seed-dir", nil, "a file or directory of manifests that were applied beforehand: nothing else shows that a server hides an object")
	f.IntVar(&o.fuzz, "fuzz", 0, "also send so many requests generated from the document")
	f.BoolVar(&o.probeMethods, "probe-methods", false, "also ask with other methods, DELETE among them, for a name that does not exist")
	f.StringVar(&o.write, "write", "", "also write: make, change and delete machines that no node can run in this namespace")

	o.reports.addFlags(cmd)

	complete(cmd, "only", checkIDs())
	complete(cmd, "skip", checkIDs())
	for _, name := range []string{"forbidden-token-file", "known-failures", "seed-dir"} {
		cobra.CheckErr(cmd.MarkFlagFilename(name))
	}
}

func checkIDs() []string {
	var ids []string
	for _, c := range contract.Checks() {
		ids = append(ids, c.ID)
	}
	return ids
}

func (o *contractOptions) run(cmd *cobra.Command) error {
	if err := o.reports.check(); err != nil {
		return &exitError{contract.ExitError, err}
	}
	options, err := o.options(cmd)
	if err != nil {
		return &exitError{contract.ExitError, err}
	}
	target, err := o.target(cmd)
	if err != nil {
		return &exitError{contract.ExitError, err}
	}
	bar := newProgressBar(cmd.ErrOrStderr())
	if bar != nil {
		options = append(options, contract.WithProgress(bar.show))
	}
	report, err := contract.Run(cmd.Context(), target, options...)
	bar.clear()
	// CI expects its files of every run. People have the error.
	if report != nil {
		if err := o.reports.write(cmd.OutOrStdout(), report, err); err != nil {
			return &exitError{contract.ExitError, err}
		}
	}
	if err != nil && report != nil && o.reports.output.value == "text" {
		tellLeft(cmd.ErrOrStderr(), report)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &exitError{contract.ExitError, errors.New("interrupted")}
	case err != nil:
		return &exitError{contract.ErrorExitCode(err), err}
	}
	return exitWith(report.ExitCode())
}

// tellLeft prints what became of the machines that a run made which then ended with
// an error: nobody sees its report.
func tellLeft(w io.Writer, report *contract.Report) {
	for _, result := range report.Results {
		if result.ID == "write.cleanup" {
			for _, note := range result.Notes {
				fmt.Fprintln(w, note)
			}
		}
	}
}

func (o *contractOptions) options(cmd *cobra.Command) ([]contract.Option, error) {
	options := []contract.Option{
		contract.WithProfile(o.profile.profile()),
		contract.WithMaxRequests(o.maxRequests),
		contract.WithTimeout(o.requestTimeout),
		contract.WithSeed(o.seed),
		contract.WithOnly(o.only...),
		contract.WithSkip(o.skip...),
		contract.WithFuzz(o.fuzz),
	}
	given := cmd.Flags().Changed
	add := func(option contract.Option, when bool) {
		if when {
			options = append(options, option)
		}
	}
	add(contract.WithRate(o.rate), given("rate"))
	add(contract.WithEnumUnknownWarn(), o.enumUnknown.value == "warn")
	add(contract.WithProbeMethods(), o.probeMethods)
	add(contract.WithWrite(o.write), given("write"))
	add(contract.WithMaxLatency(o.maxLatency), given("max-latency"))
	add(contract.WithMaxFlaky(float64(o.maxFlaky)), given("max-flaky"))
	add(contract.WithRequireExercised(float64(o.requireExercise)), given("require-exercised"))
	if o.knownFailures != "" {
		known, err := readKnownFailures(o.knownFailures)
		if err != nil {
			return nil, err
		}
		add(contract.WithKnownFailures(known...), true)
	}
	return options, nil
}

// target reads what the flags lead to.
func (o *contractOptions) target(cmd *cobra.Command) (contract.Target, error) {
	forbidden, err := tokenOf("forbidden-token", o.forbidden, o.forbiddenFile)
	if err != nil {
		return contract.Target{}, err
	}
	to, err := o.connection.reach(cmd.Context(), cmd)
	if err != nil {
		return contract.Target{}, err
	}
	t := contract.Target{
		URL: to.url, Token: to.token, ForbiddenToken: forbidden, Namespace: o.namespace,
		HTTPClient: to.client,
	}
	if !to.anonymous {
		t.Bare = to.bare
	}
	if t.Namespace == "" && o.profile.profile() == openapi.ProfileDocument {
		t.Namespace = to.namespace
	}
	if len(o.seedDirs) > 0 {
		t.Fixtures = contract.FixturesIn(o.seedDirs...)
	}
	return t, nil
}

func readKnownFailures(path string) ([]contract.KnownFailure, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("--known-failures: %w", err)
	}
	defer f.Close()
	known, err := contract.ParseKnownFailures(f)
	if err != nil {
		return nil, fmt.Errorf("--known-failures %s: %w", path, err)
	}
	return known, nil
}
