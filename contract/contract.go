package contract

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

// Target is the implementation to ask.
type Target struct {
	// URL is the base URL, what stands in front of /apis. It may have a path.
	URL string
	// Token is the bearer token that every ordinary request carries. Without it
	// the checks of authentication are skipped.
	Token string
	// ForbiddenToken is the bearer token of somebody who is known to the target
	// and may read nothing. Without it the check of authorization is skipped.
	ForbiddenToken string
	// Namespace limits the run to one namespace. Empty is every namespace that
	// the list of all namespaces shows; [openapi.ProfileDocument] has no such
	// list and needs a namespace.
	Namespace string
	// HTTPClient decides about TLS and proxies; nil takes Go's defaults. Cookies,
	// redirects and its time-out are not used: redirects are never followed, and
	// see [WithTimeout]. It must not add a token; put that into Token.
	HTTPClient *http.Client
	// Bare is HTTPClient without any credential, for the requests that must be
	// refused. Where HTTPClient presents a client certificate or a password it is
	// needed, or the checks of authentication accuse the target of accepting
	// anybody. Nil is HTTPClient, which then has none.
	Bare *http.Client
	// Fixtures returns objects that are there, for the run to look for: nothing
	// else shows that a target hides one. Nil is none. Those of other namespaces
	// than that of the run are left out; one without a namespace is in that of the
	// run, or in "default". [FixturesIn] reads them from manifests. It is called
	// once, before anything is asked, so it may be what makes them.
	Fixtures func(context.Context) ([]Fixture, error)
}

var (
	// ErrUnreachable says that the target gave no answer, or none of this API.
	ErrUnreachable = errors.New("target unreachable")
	// ErrRefused says that the target did not let the run list machines.
	ErrRefused = errors.New("target refuses the list")
)

// Run asks the target everything the checks ask and reports what came of it.
//
// The error is one of usage (a URL, token, namespace or check ID that cannot be,
// fixtures that cannot be read), with no report; or it wraps [ErrUnreachable] or
// [ErrRefused] when the first list is not answered, or is that of the context.
// Beside these there is a report of what was done until then, whose last result is
// the error, with [Error] as its
// outcome: for whoever must write a report of every run. Whatever a target
// answers with status 200, broken or not, is no error, and neither is a target
// that breaks down later on.
func Run(ctx context.Context, target Target, options ...Option) (*Report, error) {
	cfg := newConfig()
	for _, option := range options {
		if err := option(cfg); err != nil {
			return nil, err
		}
	}
	if err := cfg.mayWrite(); err != nil {
		return nil, err
	}
	base, err := baseURL(target.URL)
	if err != nil {
		return nil, err
	}
	for _, token := range []string{target.Token, target.ForbiddenToken} {
		if strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
			return nil, errors.New("a token has a space, line break or control character, which no header can carry it with")
		}
	}
	if target.Namespace != "" && !namespaceName.MatchString(target.Namespace) {
		return nil, fmt.Errorf("%.80q is no name that a namespace can have", target.Namespace)
	}
	if cfg.profile == openapi.ProfileDocument && target.Namespace == "" {
		return nil, errors.New("profile document has no list of all namespaces: name a namespace")
	}
	doc, err := openapi.Load(cfg.profile)
	if err != nil {
		return nil, err
	}
	given, err := openapi.Load(openapi.ProfileDocument)
	if err != nil {
		return nil, err
	}
	if !cfg.rateGiven && loopback(base) {
		cfg.rate = 0
	}
	r := newRun(target, base, cfg, newJudge(doc, given, cfg))
	defer r.caller.hangUp()
	if err := r.readFixtures(ctx); err != nil {
		return nil, err
	}
	return r.report(ctx)
}

func baseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The error of net/url repeats the whole URL, a password in it included.
		return nil, errors.New("the URL of the target cannot be read")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the URL of the target must be http://HOST or https://HOST, got scheme %q and host %q", u.Scheme, u.Host)
	}
	if u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, errors.New("the URL of the target must have no user, query or fragment")
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	u.RawPath = strings.TrimSuffix(u.RawPath, "/")
	return u, nil
}

func loopback(u *url.URL) bool {
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
