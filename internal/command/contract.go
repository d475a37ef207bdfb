package command

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/vmikit/vmikit/contract"
)

// contractOptions are the flags of contract.
type contractOptions struct {
	server         string
	namespace      string
	profile        choice
	enumUnknown    choice
	token          string
	tokenFile      string
	forbidden      string
	forbiddenFile  string
	caFile         string
	skipTLSVerify  bool
	maxRequests    int
	rate           float64
	requestTimeout time.Duration
	seed           uint64
	only, skip     []string
	output         choice
}

func newContract() *cobra.Command {
	o := &contractOptions{}
	cmd := &cobra.Command{
		Use:   "contract --server URL",
		Short: "Tell whether a server keeps the contract of the API",
		Long: `Ask a server for its VirtualMachineInstances in every way that the OpenAPI document
has, and check the answers: every body by the document, selectors and pages against
the full list, one object against the list's item, and who is let in.

Only GET and HEAD are sent, one request at a time. Nothing is written.

A token on a command line can be read by others on the machine; --token-file and
--forbidden-token-file keep it off it.

Exit codes: 0 the server keeps it, 1 it does not, 2 wrong usage or an error of the
tester, 3 the server is unreachable, 4 too little could be told:
no object was shown, the run ended early, or fewer checks told something than could not.`,
		Example: `  vmikit contract --server http://127.0.0.1:6443

  # A cluster, with the token of a service account that may read machines
  vmikit contract --server https://cluster.example.com:6443 --certificate-authority ca.crt --token-file token

  # One namespace, the document as given, a report for CI
  vmikit contract --server http://127.0.0.1:6443 --namespace default --profile document -o junit > report.xml`,
		Args: noArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd)
		}),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *contractOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVarP(&o.server, "server", "s", "", "the base URL of the server, what stands before /apis")
	f.StringVarP(&o.namespace, "namespace", "n", "", "look into this namespace only; the profile document needs one")
	addProfile(cmd, &o.profile, "the profile that the server is held to")
	addChoice(cmd, &o.enumUnknown, "enum-unknown", "", "fail", "what a value that a closed list of the profile does not have is: fail or warn", "fail", "warn")

	f.StringVar(&o.token, "token", "", "the bearer token to ask with")
	f.StringVar(&o.tokenFile, "token-file", "", "a file with the bearer token to ask with")
	f.StringVar(&o.forbidden, "forbidden-token", "", "the bearer token of a user who may read nothing")
	f.StringVar(&o.forbiddenFile, "forbidden-token-file", "", "a file with the bearer token of a user who may read nothing")
	f.StringVar(&o.caFile, "certificate-authority", "", "a PEM file with the CA of the server's certificate")
	f.BoolVar(&o.skipTLSVerify, "insecure-skip-tls-verify", false, "take any certificate: whoever is on the way can read the token")

	f.IntVar(&o.maxRequests, "max-requests", 400, "the most requests to send; what would need more asks a sample")
	f.Float64Var(&o.rate, "rate", 5, "the most requests a second, 0 for no limit; on loopback there is none by default")
	f.DurationVar(&o.requestTimeout, "request-timeout", 30*time.Second, "how long to wait for an answer")
	f.Uint64Var(&o.seed, "seed", 1, "which sample is taken where not everything is asked")
	f.StringSliceVar(&o.only, "only", nil, "run these checks only: an ID, or its first part for all of a subject")
	f.StringSliceVar(&o.skip, "skip", nil, "leave these checks out")
	addChoice(cmd, &o.output, "output", "o", "text", "text or junit", "text", "junit")

	complete(cmd, "only", checkIDs())
	complete(cmd, "skip", checkIDs())
	for _, name := range []string{"token-file", "forbidden-token-file", "certificate-authority"} {
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
	target, err := o.target()
	if err != nil {
		return &exitError{contract.ExitError, err}
	}
	options := o.options(cmd.Flags().Changed("rate"))
	report, err := contract.Run(cmd.Context(), target, options...)
	// CI expects its file of every run. People have the error.
	if report != nil && (err == nil || o.output.value == "junit") {
		write := map[string]func(io.Writer) error{"text": report.WriteText, "junit": report.WriteJUnit}[o.output.value]
		if err := write(cmd.OutOrStdout()); err != nil {
			return &exitError{contract.ExitError, fmt.Errorf("write the report: %w", err)}
		}
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &exitError{contract.ExitError, errors.New("interrupted")}
	case err != nil:
		return &exitError{contract.ErrorExitCode(err), err}
	}
	return exitWith(report.ExitCode())
}

func (o *contractOptions) options(rateGiven bool) []contract.Option {
	options := []contract.Option{
		contract.WithProfile(o.profile.profile()),
		contract.WithMaxRequests(o.maxRequests),
		contract.WithTimeout(o.requestTimeout),
		contract.WithSeed(o.seed),
	}
	if rateGiven {
		options = append(options, contract.WithRate(o.rate))
	}
	if o.enumUnknown.value == "warn" {
		options = append(options, contract.WithEnumUnknownWarn())
	}
	if len(o.only) > 0 {
		options = append(options, contract.WithOnly(o.only...))
	}
	if len(o.skip) > 0 {
		options = append(options, contract.WithSkip(o.skip...))
	}
	return options
}

// target reads what the flags lead to.
func (o *contractOptions) target() (contract.Target, error) {
	t := contract.Target{URL: o.server, Namespace: o.namespace}
	if o.server == "" {
		return t, usagef("--server is needed")
	}
	var err error
	if t.Token, err = tokenOf("token", o.token, o.tokenFile); err != nil {
		return t, err
	}
	if t.ForbiddenToken, err = tokenOf("forbidden-token", o.forbidden, o.forbiddenFile); err != nil {
		return t, err
	}
	t.HTTPClient, err = o.client()
	return t, err
}

// tokenOf is the token of one of two flags.
func tokenOf(flag, token, file string) (string, error) {
	if file == "" {
		return token, nil
	}
	if token != "" {
		return "", usagef("--%s and --%s-file exclude each other", flag, flag)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("--%s-file: %w", flag, err)
	}
	token = strings.TrimSpace(string(data))
	if token == "" {
		return "", fmt.Errorf("--%s-file %s: the file is empty", flag, file)
	}
	return token, nil
}

// client is what decides about TLS; nil for Go's defaults.
func (o *contractOptions) client() (*http.Client, error) {
	if o.caFile == "" && !o.skipTLSVerify {
		return nil, nil
	}
	if o.caFile != "" && o.skipTLSVerify {
		return nil, usagef("--certificate-authority and --insecure-skip-tls-verify exclude each other")
	}
	config := &tls.Config{InsecureSkipVerify: o.skipTLSVerify}
	if o.caFile != "" {
		pem, err := os.ReadFile(o.caFile)
		if err != nil {
			return nil, fmt.Errorf("--certificate-authority: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--certificate-authority %s: there is no PEM certificate in it", o.caFile)
		}
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: config, ForceAttemptHTTP2: true}
	return &http.Client{Transport: transport}, nil
}
