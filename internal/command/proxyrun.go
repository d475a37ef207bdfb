package command

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/proxy"
)

// watchGrace is how long watches may go on when the proxy is told to stop, so that
// what else is in flight can end well.
const watchGrace = time.Second

// run starts the proxy and returns when it has ended and its report is written.
func (o *proxyOptions) run(cmd *cobra.Command) error {
	if err := o.reports.check(); err != nil {
		return &exitError{contract.ExitError, err}
	}
	report, err := o.pass(cmd)
	if err != nil {
		return &exitError{contract.ErrorExitCode(err), err}
	}
	if err := o.reports.write(cmd.OutOrStdout(), report, nil); err != nil {
		return &exitError{contract.ExitError, err}
	}
	return exitWith(report.ExitCode())
}

// pass passes requests on until the command is told to end.
func (o *proxyOptions) pass(cmd *cobra.Command) (*contract.Report, error) {
	ctx := cmd.Context()
	to, err := o.upstream(ctx, cmd)
	if err != nil {
		return nil, err
	}
	at, err := o.check(to)
	if err != nil {
		return nil, err
	}
	c := newConsole(cmd.ErrOrStderr(), "text", false)
	options, err := o.observerOptions(c)
	if err != nil {
		return nil, err
	}
	if to.token != "" {
		options = append(options, contract.WithSecrets(to.token))
	}
	observer, err := contract.NewObserver(to.url.String(), options...)
	if err != nil {
		return nil, err
	}
	hosts := slices.Concat(at.hosts(), o.serving.allowedHosts)
	p, err := proxy.New(to.url, observer, o.proxyOptions(to, hosts, c)...)
	if err != nil {
		return nil, err
	}
	certificate, err := o.serving.certificate(at, hosts, c)
	if err != nil {
		return nil, err
	}
	if err := to.reached(ctx); err != nil {
		return nil, err
	}
	l, err := at.listen()
	if err != nil {
		return nil, err
	}
	defer l.Close()
	c.say("passing requests on %s to %s", at.url(certificate != nil, l), to.url)
	if to.credential {
		c.say("  whoever reaches it acts with the credentials of the proxy")
	}
	if err := serveUntil(ctx, proxyServer(ctx, p, certificate, c), l); err != nil {
		c.warn("%v", err)
	}
	p.Wait()
	return observer.Report(), nil
}

// proxyServer is the server of a proxy. Watches last as long as they last, so
// nothing bounds the time of a request but its client and the upstream.
func proxyServer(ctx context.Context, p http.Handler, certificate *servingCertificate, c *console) *http.Server {
	s := newHTTPServer(p, certificate, 0, c.log)
	s.ReadTimeout, s.WriteTimeout = 0, 0
	requests, end := context.WithCancel(context.WithoutCancel(ctx))
	s.BaseContext = func(net.Listener) context.Context { return requests }
	context.AfterFunc(ctx, func() { time.AfterFunc(watchGrace, end) })
	return s
}

// upstream is the server that requests are passed on to.
type upstream struct {
	url *url.URL
	// client adds the credentials that the flags or the kubeconfig have.
	client *http.Client
	// token is that of the client, "" for none.
	token string
	// credential says that there are any.
	credential bool
}

// upstream reads what the flags lead to.
func (o *proxyOptions) upstream(ctx context.Context, cmd *cobra.Command) (*upstream, error) {
	to, err := o.connection.reach(ctx, cmd)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(to.url)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, usagef("--upstream: must be http://HOST or https://HOST without user, query or fragment")
	}
	// A kubeconfig is somebody's; a server alone is nobody's.
	own := to.token != "" || o.server == "" || o.context != "" || o.certFile != ""
	client := to.client
	if o.token != "" || o.tokenFile != "" {
		client = &http.Client{Transport: &withToken{to.token, client.Transport}}
	}
	if !own {
		client = to.bare
	}
	return &upstream{url: u, client: client, token: to.token, credential: own}, nil
}

// withToken adds a bearer token.
type withToken struct {
	token string
	next  http.RoundTripper
}

func (t *withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+t.token)
	return t.next.RoundTrip(r)
}

// reachTimeout is how long the upstream may take at the start.
const reachTimeout = 10 * time.Second

// reached looks whether the upstream answers, whatever it says.
func (u *upstream) reached(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, u.url.JoinPath("version").String(), nil)
	if err != nil {
		return err
	}
	resp, err := u.client.Transport.RoundTrip(req)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("no answer within %s", reachTimeout)
		}
		return fmt.Errorf("%w: %w", contract.ErrUnreachable, err)
	}
	return resp.Body.Close()
}

// slogLines are the lines of the log for what wants a log.Logger.
func slogLines(c *console) *log.Logger { return slog.NewLogLogger(c.log.Handler(), slog.LevelWarn) }
