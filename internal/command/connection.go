package command

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

// connection is how to reach a server as somebody, with kubectl's flags for it.
type connection struct {
	// urlFlag is the name of the flag of the server.
	urlFlag string
	server  string

	kubeconfig, context string
	token, tokenFile    string
	certFile, keyFile   string
	caFile              string
	skipTLSVerify       bool
	tlsServerName       string
	proxyURL            string
}

func (c *connection) addFlags(cmd *cobra.Command, urlFlag, shorthand, usage string) {
	c.urlFlag = urlFlag
	f := cmd.Flags()
	f.StringVarP(&c.server, urlFlag, shorthand, "", usage)
	f.StringVar(&c.kubeconfig, "kubeconfig", "", "the file to take server and credentials from, where --"+urlFlag+" is not given; by default kubectl's: $KUBECONFIG or ~/.kube/config")
	f.StringVar(&c.context, "context", "", "the context of the kubeconfig, by default the current one")
	f.StringVar(&c.token, "token", "", "the bearer token to ask with")
	f.StringVar(&c.tokenFile, "token-file", "", "a file with the bearer token to ask with")
	f.StringVar(&c.certFile, "client-certificate", "", "a PEM file with the client certificate to ask with")
	f.StringVar(&c.keyFile, "client-key", "", "a PEM file with the key of the client certificate")
	f.StringVar(&c.caFile, "certificate-authority", "", "a PEM file with the CA of the server's certificate")
	f.BoolVar(&c.skipTLSVerify, "insecure-skip-tls-verify", false, "take any certificate: whoever is on the way can read the token")
	f.StringVar(&c.tlsServerName, "tls-server-name", "", "the name that the server's certificate must have, where it is not that of the URL")
	f.StringVar(&c.proxyURL, "proxy-url", "", "the HTTP or SOCKS5 proxy to go through, by default that of the environment")
	for _, name := range []string{"kubeconfig", "token-file", "client-certificate", "client-key", "certificate-authority"} {
		cobra.CheckErr(cmd.MarkFlagFilename(name))
	}
}

// reached is a server with what is needed to ask it.
type reached struct {
	url string
	// namespace is that of the context, "" where there is no kubeconfig.
	namespace string
	token     string
	// client presents what identifies the user besides the token; bare nothing.
	client, bare *http.Client
	// anonymous says that client presents nothing either.
	anonymous bool
}

// reach reads what the flags lead to. An exec plugin may run.
func (c *connection) reach(ctx context.Context, cmd *cobra.Command) (*reached, error) {
	if c.kubeconfig != "" && c.server != "" && c.context == "" {
		return nil, usagef("--kubeconfig is for where --%s is not given; with --context both count, as for kubectl", c.urlFlag)
	}
	token, err := tokenOf("token", c.token, c.tokenFile)
	if err != nil {
		return nil, err
	}
	if (c.certFile == "") != (c.keyFile == "") {
		return nil, usagef("--client-certificate and --client-key need each other")
	}
	if c.caFile != "" && c.skipTLSVerify {
		return nil, usagef("--certificate-authority and --insecure-skip-tls-verify exclude each other")
	}
	if err := c.checkURL(); err != nil {
		return nil, err
	}
	if err := c.readable(); err != nil {
		return nil, err
	}
	options := []kubeconfig.Option{
		kubeconfig.WithOverrides(kubeconfig.Overrides{
			Server: c.server, CAFile: c.caFile, Insecure: c.skipTLSVerify, TLSServerName: c.tlsServerName, ProxyURL: c.proxyURL,
			CertFile: c.certFile, KeyFile: c.keyFile,
		}),
		kubeconfig.WithPluginStderr(cmd.ErrOrStderr()),
	}
	if c.server != "" && c.context == "" {
		// The credentials of another server are not for this one.
		options = append(options, kubeconfig.WithoutFiles())
	} else {
		options = append(options, kubeconfig.WithFile(c.kubeconfig), kubeconfig.WithContext(c.context))
	}
	access, err := kubeconfig.Load(options...)
	switch {
	case errors.Is(err, kubeconfig.ErrNotConfigured):
		why := "there is no kubeconfig to take a server from"
		if c.kubeconfig != "" || os.Getenv("KUBECONFIG") != "" {
			_, why, _ = strings.Cut(err.Error(), kubeconfig.ErrNotConfigured.Error()+": ")
		}
		return nil, usagef("--%s is needed: %s", c.urlFlag, why)
	case err != nil:
		return nil, err
	}
	return c.reachedBy(ctx, access, token)
}

func (c *connection) reachedBy(ctx context.Context, access *kubeconfig.Config, token string) (*reached, error) {
	to := &reached{url: access.URL, token: token}
	if c.server == "" || c.context != "" {
		to.namespace = access.Namespace
	}
	transport, err := access.Transport()
	if err != nil {
		return nil, err
	}
	anonymous, err := access.AnonymousTransport()
	if err != nil {
		return nil, err
	}
	if to.token == "" {
		if to.token, err = access.Token(ctx); err != nil {
			return nil, err
		}
	}
	to.client = &http.Client{Transport: access.Authorize(transport)}
	to.bare = &http.Client{Transport: anonymous}
	to.anonymous = access.Anonymous()
	return to, nil
}

// checkURL refuses what is no base URL of a server, nothing of which is repeated: it
// may have a password in it. A host alone means http, as for kubectl.
func (c *connection) checkURL() error {
	if c.server == "" {
		return nil
	}
	text := c.server
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return usagef("--%s is no URL", c.urlFlag)
	case u.Scheme != "http" && u.Scheme != "https":
		return usagef("--%s has the scheme %q, not https or http", c.urlFlag, u.Scheme)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return usagef("--%s must have no user, query or fragment", c.urlFlag)
	}
	return nil
}

// readable names the flag of a file that cannot be read, or is of another kind.
func (c *connection) readable() error {
	for _, file := range []struct{ flag, path string }{
		{"client-certificate", c.certFile}, {"client-key", c.keyFile}, {"certificate-authority", c.caFile},
	} {
		if file.path == "" {
			continue
		}
		data, err := os.ReadFile(file.path)
		if err != nil {
			return fmt.Errorf("--%s: %w", file.flag, err)
		}
		if block, _ := pem.Decode(data); block == nil {
			return fmt.Errorf("--%s %s: there is no PEM in it", file.flag, file.path)
		}
	}
	return nil
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
