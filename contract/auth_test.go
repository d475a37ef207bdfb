package contract_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// certificate stands for a client that presents a certificate.
type certificate struct{ http.RoundTripper }

func (c certificate) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-Certificate", "yes")
	return c.RoundTripper.RoundTrip(r)
}

// With a client certificate and no token the checks that need no token run, with
// the bare client.
func TestClientCertificate(t *testing.T) {
	for _, anybody := range []bool{false, true} {
		s := mutant.New(mutant.Fleet())
		s.Open = func(r *http.Request) bool { return r.Header.Get("X-Certificate") != "" || anybody }
		target := targetOf(t, s)
		target.Token, target.ForbiddenToken = "", ""
		target.HTTPClient, target.Bare = &http.Client{Transport: certificate{http.DefaultTransport}}, &http.Client{}
		report := run(t, target, contract.WithOnly("auth"))
		told := contract.Pass
		if anybody {
			told = contract.Fail
		}
		assert.Subset(t, with(report, told), []string{"auth.no-token", "auth.wrong-token"}, text(t, report))
		assert.Equal(t, contract.Pass, result(t, report, "auth.oracle").Outcome)
		for _, id := range []string{"auth.wrong-scheme", "auth.forbidden", "auth.query-token"} {
			assert.Equal(t, contract.Skipped, result(t, report, id).Outcome, id)
		}
	}
}

func TestWithoutCredentials(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	s.Authenticate = func(string) int { return 0 }
	target := targetOf(t, s)
	target.Token, target.ForbiddenToken = "", ""
	report := run(t, target, contract.WithOnly("auth"))
	for _, r := range report.Results {
		if r.Subject() == "auth" {
			assert.Equal(t, contract.Skipped, r.Outcome, r.ID)
		}
	}
}

// A redirect and a page are named for what they are.
func TestLoginPages(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	send := s.Send
	s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
		switch code {
		case http.StatusUnauthorized:
			w.Header().Set("Location", "https://sso.example/login?next="+url.QueryEscape(r.URL.Path))
			w.WriteHeader(http.StatusFound)
		case http.StatusForbidden:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>Log in</title>")
		default:
			send(w, r, code, body)
		}
	}
	report := run(t, targetOf(t, s), contract.WithOnly("auth"))
	for _, id := range []string{"auth.no-token", "auth.wrong-token", "auth.wrong-scheme"} {
		found := result(t, report, id).Findings[0]
		assert.Equal(t, contract.Fail, found.Outcome)
		assert.Equal(t, "redirects to a login page instead of refusing", found.Message)
		assert.Equal(t, "status 302 to https://sso.example/login", found.Got)
	}
	assert.Equal(t, "shows a page, as for a login, instead of refusing", result(t, report, "auth.forbidden").Findings[0].Message)
	assert.Equal(t, contract.Pass, result(t, report, "auth.query-token").Outcome, "it is answered like a request without a token")
}

// A token that a URL must escape is in no output either.
func TestQueryTokenIsNotShown(t *testing.T) {
	const token = "a+b/c==&d"
	s := mutant.New(mutant.Fleet())
	s.Authenticate = func(a string) int {
		if a == "Bearer "+token {
			return 0
		}
		return http.StatusUnauthorized
	}
	s.Open = func(r *http.Request) bool { return r.URL.Query().Get("access_token") == token }
	send := s.Send
	s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
		w.Header().Set("X-Request", r.URL.String())
		send(w, r, code, body)
	}
	target := targetOf(t, s)
	target.Token = token
	report := run(t, target, contract.WithOnly("auth"))
	assert.Equal(t, contract.Fail, result(t, report, "auth.query-token").Outcome, text(t, report))
	for _, out := range []string{text(t, report), fmt.Sprintf("%+v", report), fmt.Sprintf("%+v", result(t, report, "auth.query-token").Findings[0].Exchange)} {
		assert.NotContains(t, out, token)
		assert.NotContains(t, out, url.QueryEscape(token))
	}
	assert.Contains(t, text(t, report), `access_token='"$TOKEN"'&token='"$TOKEN"''`)
}

// A target that refuses parameters that it does not know lets nobody in by that.
func TestQueryTokenRefused(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	hs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("access_token") {
			code, body := s.Status(mutant.Failure{Code: http.StatusBadRequest, Reason: "BadRequest", Message: "no such parameter"})
			s.Send(w, r, code, body)
			return
		}
		s.ServeHTTP(w, r)
	}))
	t.Cleanup(hs.Close)
	report := run(t, contract.Target{URL: hs.URL, Token: mutant.GoodToken}, contract.WithOnly("auth.query-token"))
	assert.Equal(t, []string{"auth.query-token"}, with(report, contract.Pass), text(t, report))
}

// refusing changes the refusal of somebody who asks for an object, by whether it
// exists.
func refusing(change func(exists bool, r *http.Request, code int, body string) (int, string)) func(*mutant.Server) {
	return func(s *mutant.Server) {
		send := s.Send
		s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			namespace, name, _ := s.Route(r.URL.EscapedPath())
			if (code == http.StatusUnauthorized || code == http.StatusForbidden) && name != "" {
				_, exists := s.FindObject(namespace, name)
				code, body = change(exists, r, code, body)
			}
			send(w, r, code, body)
		}
	}
}

// Texts, numbers and lengths of refusals may differ; which there are may not.
func TestOracle(t *testing.T) {
	n := 0
	for name, c := range map[string]struct {
		change  func(exists bool, r *http.Request, code int, body string) (int, string)
		outcome contract.Outcome
	}{
		"the name in the message": {func(_ bool, r *http.Request, code int, body string) (int, string) {
			return code, strings.Replace(body, `"message":"`, fmt.Sprintf(`"message":"no %s: `, r.URL.Path), 1)
		}, contract.Pass},
		"a number for each request": {func(_ bool, _ *http.Request, code int, body string) (int, string) {
			n++
			return code, strings.Replace(body, `"message"`, fmt.Sprintf(`"details":{"uid":"%d"},"message"`, n), 1)
		}, contract.Pass},
		"no bodies": {func(_ bool, _ *http.Request, code int, _ string) (int, string) { return code, "" }, contract.Pass},
		"texts":     {func(_ bool, r *http.Request, code int, _ string) (int, string) { return code, "no " + r.URL.Path }, contract.Pass},
		"no 404 for anybody, but another code": {func(exists bool, _ *http.Request, code int, body string) (int, string) {
			if !exists {
				code = http.StatusNotFound
			}
			return code, body
		}, contract.Fail},
		"a body for what exists": {func(exists bool, _ *http.Request, code int, body string) (int, string) {
			if !exists {
				body = ""
			}
			return code, body
		}, contract.Fail},
		"another reason": {func(exists bool, _ *http.Request, code int, body string) (int, string) {
			if !exists {
				body = strings.NewReplacer("Unauthorized", "NotFound", "Forbidden", "NotFound").Replace(body)
			}
			return code, body
		}, contract.Fail},
	} {
		s := mutant.New(mutant.Fleet())
		refusing(c.change)(s)
		report := run(t, targetOf(t, s), contract.WithOnly("auth.oracle"))
		assert.Equal(t, c.outcome, result(t, report, "auth.oracle").Outcome, name+text(t, report))
	}
}
