package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/proxy"
)

// proxyOptions are the flags of proxy.
type proxyOptions struct {
	connection
	// serving has the flags that are those of serve.
	serving serveOptions

	profile        choice
	enumUnknown    choice
	enforce        bool
	requestTimeout time.Duration
	maxBodyBytes   byteSize
	skip           []string
	knownFailures  string
	quiet          bool

	reports
}

func newProxy() *cobra.Command {
	o := &proxyOptions{maxBodyBytes: 64 << 20}
	cmd := &cobra.Command{
		Use:   "proxy [--upstream URL | --context NAME]",
		Short: "Stand between clients and a server and check what passes by",
		Long: `Pass requests on to a server of VirtualMachineInstances and check what passes by:
every answer and every event of a watch by the OpenAPI document, and by what was asked
for and answered before. Nothing is asked that no client asks for. Requests for other
things than machines pass as well and are not checked.

Each new fault is told on standard error as it is found; the report comes at the end,
after SIGINT or SIGTERM. With --enforce answers that break the contract do not reach
the client, which gets status 502 and what is wrong instead.

Without credentials of its own the proxy passes on those of the clients. With --token,
a kubeconfig and the like everybody who reaches it acts as that user, so it listens on
loopback then, or with --insecure-no-authentication. kubectl sends no token over plain
http; add --tls where it has to.

Exit codes: 0 nothing was wrong, 1 something was, 2 wrong usage or an error of the
proxy, 3 the server was unreachable at the start, 4 no machine passed by.`,
		Example: `  # kubectl through it, with the user of the current context
  vmikit proxy --listen 127.0.0.1:6444
  kubectl --server http://127.0.0.1:6444 get vmi -A

  # A server that asks for no token, a report for people at the end
  vmikit proxy --upstream http://127.0.0.1:6443 --report html=proxy.html

  # Tests of a client against a server, neither of which may be wrong
  vmikit proxy --upstream https://gateway.example.com --enforce -o junit > proxy.xml`,
		Args: noArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error { return o.run(cmd) }),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *proxyOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	o.connection.addFlags(cmd, "upstream", "u", "the base URL of the server to pass requests on to, what stands before /apis")

	addProfile(cmd, &o.profile, "the profile that the server is held to")
	addChoice(cmd, &o.enumUnknown, "enum-unknown", "", "fail", "what a value that a closed list of the profile does not have is: fail or warn", "fail", "warn")
	f.BoolVar(&o.enforce, "enforce", false, "answer 502 with what is wrong in place of an answer that breaks the contract")
	f.StringSliceVar(&o.skip, "skip", nil, "leave these checks out: an ID, or its first part for all of a subject")
	f.StringVar(&o.knownFailures, "known-failures", "", "a file of failures that are known, as for contract; --enforce lets them pass")

	s := &o.serving
	f.StringVar(&s.listen, "listen", "127.0.0.1:6444", "the address to listen on, HOST:PORT; port 0 is any free one")
	f.StringSliceVar(&s.allowedHosts, "allowed-hosts", nil, "more names and addresses that the Host header of requests may have, beside loopback and those of --listen")
	f.BoolVar(&s.plainHTTP, "insecure-plain-http", false, "listen without TLS beyond loopback: everybody on the way can read and change requests, tokens and answers")
	f.BoolVar(&s.anonymous, "insecure-no-authentication", false, "listen beyond loopback with credentials of the proxy's own: whoever reaches the address acts as that user")
	f.BoolVar(&s.tls, "tls", false, "listen for https, with a CA and a certificate made under --tls-dir where there are none")
	f.StringVar(&s.tlsDir, "tls-dir", filepath.Join(".vmikit", "tls"), "the directory of the CA and certificate of --tls")
	f.StringVar(&s.tlsCertFile, "tls-cert-file", "", "listen for https with this PEM certificate, intermediates behind it; needs --tls-private-key-file")
	f.StringVar(&s.tlsKeyFile, "tls-private-key-file", "", "the PEM private key of --tls-cert-file")

	f.DurationVar(&o.requestTimeout, "request-timeout", time.Minute, "how long the server may take to begin an answer")
	f.Var(&o.maxBodyBytes, "max-body-bytes", "the largest answer or event to check; larger ones pass unchecked")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "do not tell faults as they are found, only in the report")
	o.reports.addFlags(cmd)

	complete(cmd, "skip", observerCheckIDs())
	for _, name := range []string{"known-failures", "tls-cert-file", "tls-private-key-file"} {
		cobra.CheckErr(cmd.MarkFlagFilename(name))
	}
	cobra.CheckErr(cmd.MarkFlagDirname("tls-dir"))
}

func observerCheckIDs() []string {
	var ids []string
	for _, c := range contract.ObserverChecks() {
		ids = append(ids, c.ID)
	}
	return ids
}

// observerOptions are those of what is checked.
func (o *proxyOptions) observerOptions(c *console) ([]contract.Option, error) {
	options := []contract.Option{contract.WithProfile(o.profile.profile()), contract.WithSkip(o.skip...)}
	if o.enumUnknown.value == "warn" {
		options = append(options, contract.WithEnumUnknownWarn())
	}
	if o.knownFailures != "" {
		known, err := readKnownFailures(o.knownFailures)
		if err != nil {
			return nil, err
		}
		options = append(options, contract.WithKnownFailures(known...))
	}
	if !o.quiet {
		options = append(options, contract.WithViolations(func(v contract.Violation) {
			if v.New {
				fmt.Fprint(c.out, v.String())
			}
		}))
	}
	return options, nil
}

func (o *proxyOptions) proxyOptions(to *upstream, hosts []string, c *console) []proxy.Option {
	options := []proxy.Option{
		proxy.WithClient(to.client),
		proxy.WithHosts(hosts...),
		proxy.WithTimeout(o.requestTimeout),
		proxy.WithMaxBody(int64(o.maxBodyBytes)),
		proxy.WithErrorLog(slogLines(c)),
	}
	if to.credential {
		options = append(options, proxy.WithCredential())
	}
	if o.enforce {
		options = append(options, proxy.Enforce())
	}
	return options
}

// check looks at where to listen, the protecting defaults among it.
func (o *proxyOptions) check(to *upstream) (*endpoint, error) {
	s := &o.serving
	if (s.tlsCertFile == "") != (s.tlsKeyFile == "") {
		return nil, usagef("--tls-cert-file and --tls-private-key-file must be given together")
	}
	if o.requestTimeout <= 0 {
		return nil, usagef("--request-timeout %s: must be above zero", o.requestTimeout)
	}
	if i := slices.IndexFunc(s.allowedHosts, func(h string) bool { return !isHost(h) }); i >= 0 {
		return nil, usagef("--allowed-hosts: %q is neither a name nor an address; a port does not belong to it", s.allowedHosts[i])
	}
	at, err := resolve("--listen", s.listen)
	if err != nil || at.loopback() {
		return at, err
	}
	if !s.secure() && !s.plainHTTP {
		return nil, usagef("--listen %s is beyond loopback: add --tls, or --insecure-plain-http to let everybody on the way read and change what is sent", s.listen)
	}
	if to.credential && !s.anonymous {
		return nil, usagef("--listen %s is beyond loopback and the proxy has credentials of its own: add --insecure-no-authentication to let whoever reaches it act as their user", s.listen)
	}
	return at, nil
}
