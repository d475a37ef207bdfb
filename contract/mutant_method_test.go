package contract_test

import (
	"net/http"
	"slices"
)

// methods answers requests with some methods as it should not.
func methods(code int, body string, which ...string) func(*server) {
	return func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, was int, text string) {
			if was == http.StatusMethodNotAllowed && slices.Contains(which, r.Method) {
				was, text = code, body
			}
			send(w, r, was, text)
		}
	}
}

const success = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`

var methodMutants = []mutant{
	{name: "DELETE of nothing succeeds", fault: methods(http.StatusOK, success, "DELETE"), fails: []string{"method.write"}},
	{name: "PUT of nothing succeeds", fault: methods(http.StatusOK, success, "PUT"), fails: []string{"method.write"}},
	{name: "PATCH of nothing is accepted", fault: methods(http.StatusAccepted, success, "PATCH"), fails: []string{"method.write"}},
	{name: "POST without a body creates", fault: methods(http.StatusCreated, success, "POST"), fails: []string{"method.write"}},
	{name: "PATCH breaks the server", fault: methods(http.StatusInternalServerError, "", "PATCH"), fails: []string{"method.write"}},
	{name: "an unknown method succeeds", fault: methods(http.StatusOK, success, "FOO"), fails: []string{"method.unknown"}},
	{name: "an unknown method breaks the server", fault: methods(http.StatusInternalServerError, "", "FOO"), fails: []string{"method.unknown"}},
	{name: "OPTIONS breaks the server", fault: methods(http.StatusInternalServerError, "", "OPTIONS"), fails: []string{"method.unknown"}},
	{name: "TRACE repeats the token", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if r.Method == http.MethodTrace {
				w.Header().Set("Content-Type", "message/http")
				r.Write(w)
				return
			}
			send(w, r, code, body)
		}
	}, fails: []string{"method.trace"}},
	{name: "TRACE breaks the server", fault: methods(http.StatusInternalServerError, "", "TRACE"), fails: []string{"method.trace"}},
}
