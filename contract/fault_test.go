package contract_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// targetOf starts a server of a test.
func targetOf(t *testing.T, s *mutant.Server) contract.Target {
	t.Helper()
	hs := httptest.NewUnstartedServer(s)
	hs.Config.ErrorLog = quiet
	hs.Start()
	t.Cleanup(hs.Close)
	target := contract.Target{URL: hs.URL, Token: mutant.GoodToken, ForbiddenToken: mutant.ForbiddenToken}
	if s.Minimal {
		target.Namespace = "prod"
	}
	return target
}

// everywhere edits an object wherever it is shown.
func everywhere(name, from, to string) func(*mutant.Server) {
	return func(s *mutant.Server) {
		for i, o := range s.Objects {
			if o.Name == name {
				s.Objects[i] = o.Edited(from, to)
				return
			}
		}
	}
}

// body changes the text of answers with a status code.
func body(code int, change func(string) string) func(*mutant.Server) {
	return func(s *mutant.Server) {
		send := s.Send
		s.Send = func(w http.ResponseWriter, r *http.Request, c int, body string) {
			if c == code {
				body = change(body)
			}
			send(w, r, c, body)
		}
	}
}

// labels replaces how requirements are matched, where the replacement says so.
func labels(wrong func(t mutant.Term, labels map[string]string) (match, applies bool)) func(*mutant.Server) {
	return func(s *mutant.Server) {
		s.MatchLabel = func(t mutant.Term, labels map[string]string) bool {
			if match, applies := wrong(t, labels); applies {
				return match
			}
			return t.MatchLabel(labels)
		}
	}
}

// queries changes the query of every list.
func queries(change func(url.Values)) func(*mutant.Server) {
	return func(s *mutant.Server) { s.Query = func(_ string, q url.Values) { change(q) } }
}

// refuse answers some requests with another failure.
func refuse(at func(*http.Request) bool, code int, reason string) func(*mutant.Server) {
	return func(s *mutant.Server) {
		send := s.Send
		s.Send = func(w http.ResponseWriter, r *http.Request, was int, body string) {
			if at(r) {
				was, body = s.Status(mutant.Failure{Code: code, Reason: reason, Message: "no"})
			}
			send(w, r, was, body)
		}
	}
}

// breaks answers requests with 500.
func breaks(at func(*http.Request) bool) func(*mutant.Server) {
	return refuse(at, http.StatusInternalServerError, "InternalError")
}

// paths changes an escaped path before it is read.
func paths(change func(string) string) func(*mutant.Server) {
	return func(s *mutant.Server) {
		route := s.Route
		s.Route = func(escaped string) (string, string, bool) { return route(change(escaped)) }
	}
}

func isList(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/virtualmachineinstances") }
