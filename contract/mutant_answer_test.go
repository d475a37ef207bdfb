package contract_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

var authMutants = []mutant{
	{name: "bad token accepted", fault: welcome(func(a string) bool {
		return strings.HasPrefix(a, "Bearer ") && a != "Bearer "+forbiddenToken
	}), fails: []string{"auth.wrong-token"}},
	{name: "anybody accepted", fault: welcome(func(a string) bool { return a == "" }), fails: []string{"auth.no-token"}},
	{name: "another scheme accepted", fault: welcome(func(a string) bool { return strings.HasSuffix(a, " "+goodToken) }), fails: []string{"auth.wrong-scheme"}},
	{name: "token without scheme accepted", fault: welcome(func(a string) bool { return a == goodToken }), fails: []string{"auth.wrong-scheme"}},
	{name: "Basic accepted", fault: welcome(func(a string) bool { return strings.HasPrefix(a, "Basic ") }), fails: []string{"auth.wrong-scheme"}},
	{name: "forbidden token accepted", fault: welcome(func(a string) bool { return a == "Bearer "+forbiddenToken }), fails: []string{"auth.forbidden"}},
	{name: "forbidden only for the list", fault: func(s *server) {
		authenticate := s.authenticate
		var get bool
		s.authenticate = func(a string) int {
			if a == "Bearer "+forbiddenToken {
				if get = !get; !get {
					return 0
				}
			}
			return authenticate(a)
		}
	}, fails: []string{"auth.forbidden"}},
	{name: "anybody lists all namespaces", fault: func(s *server) { s.open = allNamespaces },
		fails: []string{"auth.no-token", "auth.wrong-token", "auth.wrong-scheme", "auth.forbidden"}},
	{name: "a wrong token lists all namespaces", fault: func(s *server) {
		s.open = func(r *http.Request) bool {
			return allNamespaces(r) && r.Header.Get("Authorization") != "" && !strings.HasSuffix(r.Header.Get("Authorization"), forbiddenToken)
		}
	}, fails: []string{"auth.wrong-token"}},
	{name: "the forbidden token lists all namespaces", fault: func(s *server) {
		s.open = func(r *http.Request) bool {
			return allNamespaces(r) && strings.HasSuffix(r.Header.Get("Authorization"), forbiddenToken)
		}
	}, fails: []string{"auth.forbidden"}},
	{name: "the forbidden token gets every head", fault: func(s *server) {
		s.open = func(r *http.Request) bool {
			return r.Method == http.MethodHead && strings.HasSuffix(r.Header.Get("Authorization"), forbiddenToken)
		}
	}, fails: []string{"auth.forbidden"}},
	{name: "anybody gets every head", fault: func(s *server) {
		s.open = func(r *http.Request) bool { return r.Method == http.MethodHead }
	}, fails: []string{"auth.no-token", "auth.wrong-token", "auth.wrong-scheme", "auth.forbidden"}},
	{name: "redirect to a login page", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if code == http.StatusUnauthorized {
				w.Header().Set("Location", "/login")
				code = http.StatusFound
			}
			send(w, r, code, body)
		}
	}, fails: []string{"auth.no-token", "auth.wrong-token", "auth.wrong-scheme", "schema.status-code"}},
}

func allNamespaces(r *http.Request) bool { return !strings.Contains(r.URL.Path, "/namespaces/") }

var errorMutants = []mutant{
	{name: "404 as 200 with a Status", fault: func(s *server) {
		status := s.status
		s.status = func(code int, reason string) (int, string) {
			_, body := status(code, reason)
			if code == http.StatusNotFound {
				code = http.StatusOK
			}
			return code, body
		}
	}, fails: []string{"notfound.name", "schema.object"}},
	{name: "404 with another code in its Status", fault: body(404, func(b string) string { return strings.Replace(b, `"code":404`, `"code":403`, 1) }), fails: []string{"schema.error"}},
	{name: "404 with another reason", fault: body(404, func(b string) string { return strings.Replace(b, "NotFound", "Forbidden", 1) }), fails: []string{"schema.error"}},
	{name: "404 that says Success", fault: body(404, func(b string) string { return strings.Replace(b, "Failure", "Success", 1) }), fails: []string{"schema.error"}},
	{name: "403 without a body", fault: body(403, func(string) string { return "" }), fails: []string{"schema.json"}},
	{name: "an error of another API", fault: body(404, func(string) string { return `{"title":"not found","status":404}` }), fails: []string{"schema.error"}},
	{name: "HTML error", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if code != http.StatusNotFound {
				send(w, r, code, body)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(code)
			fmt.Fprintf(w, "<h1>no %s</h1>", r.URL.Path)
		}
	}, fails: []string{"schema.content-type", "edge.html"}},
	{name: "400 for an unknown name", fault: func(s *server) {
		status := s.status
		s.status = func(code int, reason string) (int, string) {
			if code == http.StatusNotFound {
				code, reason = http.StatusBadRequest, "BadRequest"
			}
			return status(code, reason)
		}
	}, fails: []string{"notfound.name"}},
}

var bodyMutants = []mutant{
	{name: "wrong content type", fault: func(s *server) {
		s.send = func(w http.ResponseWriter, _ *http.Request, code int, body string) {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(code)
			w.Write([]byte(body))
		}
	}, fails: []string{"schema.content-type"}},
	{name: "trailing garbage", fault: body(200, func(b string) string { return b + "garbage" }), fails: []string{"schema.json"}},
	{name: "a second JSON value", fault: body(200, func(b string) string { return b + "{}" }), fails: []string{"schema.json"}},
	{name: "duplicate key in an object", fault: everywhere("vm03", `"phase":"Running"`, `"phase":"Failed","phase":"Running"`), fails: []string{"schema.json"}},
	{name: "duplicate key in the list", fault: body(200, func(b string) string {
		return strings.Replace(b, `{"apiVersion"`, `{"apiVersion":"v0","apiVersion"`, 1)
	}), fails: []string{"schema.json"}},
	{name: "key in another case", fault: everywhere("vm03", `"phase":"Running"`, `"phase":"Running","Phase":"Failed"`), fails: []string{"schema.json"}},
	{name: "byte order mark", fault: body(200, func(b string) string { return "\ufeff" + b }), fails: []string{"schema.json"}},
	{name: "invalid UTF-8", fault: everywhere("vm03", `fedora:40`, "fedora\xff40"), fails: []string{"schema.json"}},
	{name: "no list ends", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if isList(r) {
				w.Header().Set("Content-Length", "1000000000")
			}
			send(w, r, code, body)
		}
	}, fails: []string{"schema.json"}},
	{name: "truncated body", fault: func(s *server) {
		s.send = func(w http.ResponseWriter, _ *http.Request, code int, body string) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.WriteHeader(code)
			w.Write([]byte(body[:len(body)/2]))
		}
	}, fails: []string{"schema.json"}},
	{name: "cut JSON", fault: body(200, func(b string) string { return b[:len(b)/2] }), fails: []string{"schema.json"}},
	{name: "gzip without being asked", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			send(w, r, code, "\x1f\x8b\x08"+body)
		}
	}, fails: []string{"schema.json"}},
}
