package contract_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
	"github.com/vmikit/vmikit/openapi"
)

// Other methods are sent when they are asked for only, with no body, and to nobody.
func TestProbeMethods(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	var methods []string
	target := far(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			methods = append(methods, r.Method)
			assert.Regexp(t, `/namespaces/prod/virtualmachineinstances/vmikit-contract-nosuch-1$`, r.URL.Path)
			if r.Body != nil {
				body, err := io.ReadAll(r.Body)
				require.NoError(t, err)
				assert.Empty(t, body)
			}
		}
		s.ServeHTTP(w, r)
	}))
	report := run(t, target, contract.WithOnly("method"), contract.WithRate(0))
	assert.Empty(t, methods)
	assert.Contains(t, text(t, report), "not asked for (--probe-methods)")

	report = run(t, target, contract.WithOnly("method"), contract.WithRate(0), contract.WithProbeMethods())
	assert.Equal(t, []string{"PUT", "PATCH", "DELETE", "POST", "DELETE", "FOO", "OPTIONS", "TRACE"}, methods)
	assert.Equal(t, []string{"method.write", "method.unknown", "method.trace"}, with(report, contract.Pass), text(t, report))

	methods = nil
	target.Namespace = "prod"
	run(t, target, contract.WithRate(0), contract.WithProbeMethods(), contract.WithProfile(openapi.ProfileDocument))
	assert.Empty(t, methods, "the document has no other methods")
}

// Every refusal is right: a server that has no method but GET may say so with 501,
// and OPTIONS may be answered.
func TestMethodsMayBeRefusedInAnyWay(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		only string
	}{
		{"400", http.StatusBadRequest, ""},
		{"401", http.StatusUnauthorized, ""},
		{"404", http.StatusNotFound, ""},
		{"405", http.StatusMethodNotAllowed, ""},
		{"415", http.StatusUnsupportedMediaType, ""},
		{"422", http.StatusUnprocessableEntity, ""},
		{"501", http.StatusNotImplemented, ""},
		{"OPTIONS 204", http.StatusNoContent, "OPTIONS"},
		{"OPTIONS 200", http.StatusOK, "OPTIONS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mutant.New(mutant.Fleet())
			which := []string{"PUT", "PATCH", "DELETE", "POST", "FOO", "OPTIONS", "TRACE"}
			if c.only != "" {
				which = []string{c.only}
			}
			methods(c.code, "", which...)(s)
			report := run(t, targetOf(t, s), contract.WithOnly("method"), contract.WithProbeMethods())
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			if c.code != http.StatusNotFound { // which FOO may have got for being taken for GET
				assert.Empty(t, with(report, contract.Warning), text(t, report))
			}
			assert.Empty(t, report.Stopped)
		})
	}
}

// methods answers requests with some methods as it should not.
func methods(code int, body string, which ...string) func(*mutant.Server) {
	return func(s *mutant.Server) {
		send := s.Send
		s.Send = func(w http.ResponseWriter, r *http.Request, was int, text string) {
			if was == http.StatusMethodNotAllowed && slices.Contains(which, r.Method) {
				was, text = code, body
			}
			send(w, r, was, text)
		}
	}
}

// A web server that knows few methods has a page for the others.
func TestMethodsAsAPage(t *testing.T) {
	for code, want := range map[int]contract.Outcome{http.StatusNotImplemented: contract.Warning, http.StatusMethodNotAllowed: contract.Fail} {
		s := mutant.New(mutant.Fleet())
		send := s.Send
		s.Send = func(w http.ResponseWriter, r *http.Request, was int, body string) {
			if was != http.StatusMethodNotAllowed {
				send(w, r, was, body)
				return
			}
			w.Header().Set("Content-Type", "text/html;charset=utf-8")
			w.WriteHeader(code)
			io.WriteString(w, "<!DOCTYPE HTML><html><body>Unsupported method</body></html>")
		}
		report := run(t, targetOf(t, s), contract.WithOnly("method.unknown"), contract.WithProbeMethods())
		assert.Equal(t, want, result(t, report, "method.unknown").Outcome, text(t, report))
	}
}

// TRACE that shows no credentials is a warning, and so is a redirect.
func TestMethodWarnings(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	methods(http.StatusOK, "TRACE / HTTP/1.1\r\n", "TRACE")(s)
	methods(http.StatusTemporaryRedirect, "", "PUT")(s)
	report := run(t, targetOf(t, s), contract.WithOnly("method"), contract.WithProbeMethods())
	assert.Equal(t, []string{"method.write", "method.trace"}, with(report, contract.Warning), text(t, report))
}

// TRACE is looked at without a token too, and what it repeats is not shown.
func TestTraceWithoutAToken(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	s.Authenticate = func(string) int { return 0 }
	send := s.Send
	s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
		if r.Method == http.MethodTrace {
			w.Header().Set("Content-Type", "message/http")
			r.Write(w)
			return
		}
		send(w, r, code, body)
	}
	target := targetOf(t, s)
	for _, token := range []string{"", mutant.GoodToken} {
		target.Token = token
		report := run(t, target, contract.WithOnly("method"), contract.WithProbeMethods())
		assert.Equal(t, []string{"method.trace"}, with(report, contract.Fail), text(t, report))
		found := result(t, report, "method.trace").Findings[0]
		require.NotNil(t, found.Exchange)
		assert.Contains(t, strings.ToLower(found.Exchange.Body), "authorization")
		assert.NotContains(t, found.Exchange.Body, mutant.GoodToken)
	}
}
