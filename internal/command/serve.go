package command

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	load       []string
	strictLoad bool

	profile           choice
	enumUnknown       choice
	admission         choice
	validateResponses choice

	listen       string
	allowedHosts []string
	corsOrigins  []string
	pathPrefix   string
	plainHTTP    bool
	anonymous    bool

	tls         bool
	tlsDir      string
	tlsCertFile string
	tlsKeyFile  string

	tokenFile     string
	clientCAFile  string
	anonymousAuth switched
	rbac          []string
	kubeconfigOut string

	strictNamespaces    bool
	maxInFlight         int
	maxMutatingInFlight int

	requestTimeout time.Duration
	maxBodyBytes   byteSize
	historyBytes   byteSize

	adminListen    string
	adminTokenFile string
	adminAt        *endpoint // of adminListen, nil for none

	logFormat choice
	quiet     bool
}

func newServe() *cobra.Command {
	o := &serveOptions{maxBodyBytes: 3 << 20, historyBytes: 128 << 20}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve VirtualMachineInstances as a Kubernetes API server does",
		Long: `Serve VirtualMachineInstances from memory: reads, watches, writes and discovery as a
Kubernetes API server answers them, so that kubectl and clients of the API work. Without --load there is a built-in sample of machines. Of what
--load finds, objects of other kinds are skipped and wrong ones refused, each named
on a line; a path that is not there always keeps the server from starting.

Plain HTTP without credentials is for loopback addresses. Beyond loopback TLS and
--token-auth-file or --client-ca-file are required, unless a flag gives that up by its
name. Without --rbac everybody who gets in may do everything, also impersonate
anybody (kubectl --as); with it both take a rule.

Each request is a line of the log on standard error; --quiet leaves these out.
SIGINT and SIGTERM end watches, and let requests in flight finish, for at most 10
seconds; a second one ends the server at once.

Exit codes: 0 stopped by a signal, 1 failed, 2 wrong usage.`,
		Example: `  # The sample, for kubectl
  vmikit serve --tls --kubeconfig-out .vmikit/kubeconfig

  # Machines dumped from a cluster, on any free port
  kubectl get vmi -A -o yaml > vmis.yaml
  vmikit serve --load vmis.yaml --strict-load --listen 127.0.0.1:0

  # For a network, with users and what they may do
  vmikit serve --listen 0.0.0.0:6443 --tls --token-auth-file tokens.csv --rbac roles.yaml`,
		Args: noArgs,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr())
		}),
	}
	o.addFlags(cmd)
	return cmd
}

func (o *serveOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	f.StringArrayVarP(&o.load, "load", "f", nil, "a file, a directory or - (standard input) with manifests to serve; may be repeated")
	f.BoolVar(&o.strictLoad, "strict-load", false, "do not start when something of --load is refused or cannot be read")

	addProfile(cmd, &o.profile, "the profile that objects and parameters are judged by")
	addChoice(cmd, &o.enumUnknown, "enum-unknown", "", "fail", "what to do with a value that a closed list of the profile does not have: fail or warn", "fail", "warn")
	addChoice(cmd, &o.admission, "admission", "", "none",
		"what becomes of machines that clients write: none (stored as they are, as by the bare CRD: anybody may write a status) or kubevirt (as by KubeVirt's "+
			"webhooks: defaults, refusals, and specs and statuses that only users like system:serviceaccount:kubevirt:kubevirt-controller change; "+
			"nothing here removes the finalizer that machines get, so a deleted one stays until a client does)", "none", "kubevirt")
	addChoice(cmd, &o.validateResponses, "validate-responses", "", "envelope",
		"how much of each answer is checked: envelope (objects were checked when they came in), full (every byte, slow) or off", "envelope", "full", "off")

	f.BoolVar(&o.strictNamespaces, "strict-namespaces", false, "let nothing be made in a namespace that nobody has made; those of --load are there")

	f.StringVar(&o.listen, "listen", "127.0.0.1:6443", "the address to listen on, HOST:PORT; port 0 is any free one")
	f.StringSliceVar(&o.allowedHosts, "allowed-hosts", nil, "more names and addresses that the Host header of requests may have, beside loopback and those of --listen")
	f.StringArrayVar(&o.corsOrigins, "cors-origin", nil, "an origin whose pages may use the server from a browser, SCHEME://HOST[:PORT] and no pattern; may be repeated")
	f.StringVar(&o.pathPrefix, "path-prefix", "", "serve everything under this path, such as /k8s, and nothing beside it")
	f.BoolVar(&o.plainHTTP, "insecure-plain-http", false, "serve without TLS beyond loopback: everybody on the way can read and change requests, tokens and answers")
	f.BoolVar(&o.anonymous, "insecure-no-authentication", false, "serve without --token-auth-file and --client-ca-file beyond loopback: whoever reaches the address is let in")

	f.BoolVar(&o.tls, "tls", false, "serve https, with a CA and a certificate made under --tls-dir where there are none")
	f.StringVar(&o.tlsDir, "tls-dir", filepath.Join(".vmikit", "tls"), "the directory of the CA and certificate of --tls")
	f.StringVar(&o.tlsCertFile, "tls-cert-file", "", "serve https with this PEM certificate, intermediates behind it; needs --tls-private-key-file")
	f.StringVar(&o.tlsKeyFile, "tls-private-key-file", "", "the PEM private key of --tls-cert-file; both are read again when they change")

	f.StringVar(&o.tokenFile, "token-auth-file", "", `a CSV file of who may come in, as of kube-apiserver: token,user,uid,"group1,group2"`)
	f.StringVar(&o.clientCAFile, "client-ca-file", "", "PEM certificates of the CAs whose client certificates let in, as of kube-apiserver: the common name is the user, organizations are groups; needs TLS; read again when it changes")
	addSwitched(cmd, &o.anonymousAuth, "anonymous-auth", "let in requests without credentials as system:anonymous, though there are tokens or client CAs: --rbac says what they may do (default: true without either)")
	f.StringArrayVar(&o.rbac, "rbac", nil, "a file or directory with Roles, ClusterRoles and their bindings that say who may do what; may be repeated")
	f.StringVar(&o.kubeconfigOut, "kubeconfig-out", "", "write a kubeconfig for this server, mode 0600, with the first token of --token-auth-file in it")

	f.DurationVar(&o.requestTimeout, "request-timeout", time.Minute, "how long a request may take before it is answered with 504")
	f.IntVar(&o.maxInFlight, "max-requests-inflight", 400, "how many requests that change nothing may be answered at once, watches aside; more get 429; 0 is no limit")
	f.IntVar(&o.maxMutatingInFlight, "max-mutating-requests-inflight", 200, "the same for requests that change something")
	f.Var(&o.maxBodyBytes, "max-body-bytes", "the largest request body")
	f.Var(&o.historyBytes, "history-bytes", "what the past of machines may hold in memory, which watches and paged lists still read; what is evicted is answered with 410 (each of the kinds around machines has 8 MiB)")

	f.StringVar(&o.adminListen, "admin-listen", "", "serve /metrics (Prometheus: the requests of every kind, and how much the store of the machines holds) and /debug/pprof/ on this address, HOST:PORT; off by default")
	f.StringVar(&o.adminTokenFile, "admin-token-file", "", "a file with the one bearer token that --admin-listen asks for; required beyond loopback, and none of --token-auth-file")

	addChoice(cmd, &o.logFormat, "log-format", "", "text", "text or json; with json start lines are records too", "text", "json")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "log warnings and errors only, not each request")

	for _, name := range []string{"load", "rbac", "tls-cert-file", "tls-private-key-file", "token-auth-file", "client-ca-file", "admin-token-file", "kubeconfig-out"} {
		cobra.CheckErr(cmd.MarkFlagFilename(name))
	}
	cobra.CheckErr(cmd.MarkFlagDirname("tls-dir"))
}
