package contract_test

import (
	"net/http"
	"path"
	"strings"
)

// exists reports whether a request is for an object that there is.
func (s *server) exists(r *http.Request) bool {
	m := route.FindStringSubmatch(r.URL.Path)
	if m == nil {
		return false
	}
	_, ok := s.findObject(m[1], m[2])
	return ok
}

// refusing changes the refusal of somebody who asks for an object, by whether it
// exists.
func refusing(change func(exists bool, r *http.Request, code int, body string) (int, string)) func(*server) {
	return func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if (code == http.StatusUnauthorized || code == http.StatusForbidden) && path.Base(r.URL.Path) != "virtualmachineinstances" {
				code, body = change(s.exists(r), r, code, body)
			}
			send(w, r, code, body)
		}
	}
}

var moreAuthMutants = []mutant{
	{name: "a token in the query accepted", fault: func(s *server) {
		s.open = func(r *http.Request) bool { return r.URL.Query().Get("access_token") == goodToken }
	}, fails: []string{"auth.query-token"}},
	{name: "a token in the query accepted by another name, for lists", fault: func(s *server) {
		s.open = func(r *http.Request) bool { return isList(r) && r.URL.Query().Get("token") == goodToken }
	}, fails: []string{"auth.query-token"}},
	{name: "404 to anybody for what does not exist", fault: func(s *server) {
		refusing(func(exists bool, _ *http.Request, code int, body string) (int, string) {
			if !exists {
				return s.status(http.StatusNotFound, "NotFound")
			}
			return code, body
		})(s)
	}, fails: []string{"auth.oracle"}},
	{name: "404 without rights for what does not exist", fault: func(s *server) {
		refusing(func(exists bool, r *http.Request, code int, body string) (int, string) {
			if !exists && strings.HasSuffix(r.Header.Get("Authorization"), forbiddenToken) {
				return s.status(http.StatusNotFound, "NotFound")
			}
			return code, body
		})(s)
	}, fails: []string{"auth.oracle"}},
	{name: "a refusal has the uid of what exists", fault: refusing(func(exists bool, _ *http.Request, code int, body string) (int, string) {
		if exists {
			body = strings.Replace(body, `"message"`, `"details":{"uid":"00000000-0000-4000-8000-000000000001"},"message"`, 1)
		}
		return code, body
	}), fails: []string{"auth.oracle"}},
	{name: "a login page for whoever is not known", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if code != http.StatusUnauthorized {
				send(w, r, code, body)
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Write([]byte("<!DOCTYPE html><title>Log in</title>"))
		}
	}, fails: []string{"auth.no-token", "auth.wrong-token", "auth.wrong-scheme"}},
	{name: "a redirect to a login page without rights", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if code == http.StatusForbidden {
				w.Header().Set("Location", "https://sso.example/login?next=x")
				code, body = http.StatusFound, ""
			}
			send(w, r, code, body)
		}
	}, fails: []string{"auth.forbidden", "schema.status-code"}},
}
