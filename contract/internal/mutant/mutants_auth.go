package mutant

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// open lets some requests in whatever the rights are.
func open(when func(*http.Request) bool) func(*Server) { return func(s *Server) { s.Open = when } }

func authorization(r *http.Request) string { return r.Header.Get("Authorization") }

// bearer is the token of a request, if the scheme is right.
func bearer(r *http.Request) (string, bool) {
	scheme, token, _ := strings.Cut(authorization(r), " ")
	return token, strings.EqualFold(scheme, "Bearer")
}

func anonymous(r *http.Request) bool { return authorization(r) == "" }

func unknownToken(r *http.Request) bool {
	token, ok := bearer(r)
	return ok && token != "" && token != GoodToken && token != ForbiddenToken
}

func withoutRights(r *http.Request) bool {
	token, ok := bearer(r)
	return ok && token == ForbiddenToken
}

// authMutants let somebody read who may not.
func authMutants() []Mutant {
	tricks := []struct {
		name, needs string
		is          func(*http.Request) bool
	}{
		{"anonymous", "", anonymous},
		{"wrong-token", "", unknownToken},
		{"basic", "", func(r *http.Request) bool { return strings.HasPrefix(authorization(r), "Basic ") }},
		{"bare-token", "", func(r *http.Request) bool { return authorization(r) == GoodToken }},
		{"query-token", "", func(r *http.Request) bool {
			for _, values := range r.URL.Query() {
				if values[0] == GoodToken {
					return true
				}
			}
			return false
		}},
		{"forbidden-token", NeedsForbiddenToken, withoutRights},
	}
	get := func(r *http.Request) bool { return r.Method == http.MethodGet }
	operations := []struct {
		name string
		is   func(*http.Request) bool
	}{
		{"lists", func(r *http.Request) bool { return get(r) && isList(r) && !isAll(r) }},
		{"gets", func(r *http.Request) bool { return get(r) && isGet(r) }},
		{"lists-all-namespaces", func(r *http.Request) bool { return get(r) && isAll(r) }},
		{"heads", isHead},
	}
	var mutants []Mutant
	for _, trick := range tricks {
		for _, op := range operations {
			mutants = append(mutants, Mutant{Name: trick.name + "-" + op.name, Needs: trick.needs,
				Fault: open(func(r *http.Request) bool { return trick.is(r) && op.is(r) })})
		}
	}
	mutants = append(mutants,
		Mutant{Name: "query-token-by-another-name-lists", Fault: open(func(r *http.Request) bool { return isList(r) && r.URL.Query().Get("token") == GoodToken })},
		Mutant{Name: "token-begins-right", Fault: open(func(r *http.Request) bool {
			token, ok := bearer(r)
			return ok && strings.HasPrefix(token, GoodToken)
		})},
		Mutant{Name: "token-begins-wrong", Fault: open(func(r *http.Request) bool {
			token, ok := bearer(r)
			return ok && token != "" && strings.HasPrefix(GoodToken, token)
		})},
		Mutant{Name: "token-any-case", Fault: open(func(r *http.Request) bool {
			token, ok := bearer(r)
			return ok && strings.EqualFold(token, GoodToken)
		})},
		Mutant{Name: "empty-bearer-welcome", Fault: open(func(r *http.Request) bool {
			token, ok := bearer(r)
			return ok && strings.TrimSpace(token) == ""
		})},
		Mutant{Name: "any-scheme", Fault: open(func(r *http.Request) bool {
			_, token, _ := strings.Cut(authorization(r), " ")
			return token == GoodToken
		})},
		Mutant{Name: "anonymous-with-limit", Fault: open(func(r *http.Request) bool { return anonymous(r) && r.URL.Query().Has("limit") })},
		Mutant{Name: "anonymous-follows-pages", Fault: open(func(r *http.Request) bool { return anonymous(r) && isPage(r) })},
		Mutant{Name: "anonymous-selects", Fault: open(func(r *http.Request) bool { return anonymous(r) && r.URL.Query().Has("labelSelector") })},
		Mutant{Name: "anonymous-reads-one-namespace", Fault: open(func(r *http.Request) bool { return anonymous(r) && ask(r).namespace == "test" })},
		Mutant{Name: "anonymous-empty-list", Fault: denials(anonymous, isList, text(200, "application/json",
			`{"apiVersion":"kubevirt.io/v1","items":[],"kind":"VirtualMachineInstanceList","metadata":{"resourceVersion":"1000","continue":""}}`))},
		Mutant{Name: "wrong-token-empty-list", Fault: denials(unknownToken, isList, text(200, "application/json",
			`{"apiVersion":"kubevirt.io/v1","items":[],"kind":"VirtualMachineInstanceList","metadata":{"resourceVersion":"1000","continue":""}}`))},
		Mutant{Name: "forbidden-token-reads-one-object", Needs: NeedsForbiddenToken, Fault: open(func(r *http.Request) bool {
			return withoutRights(r) && ask(r) == asked{"prod", "vm00", true}
		})},
		Mutant{Name: "forbidden-token-selects", Needs: NeedsForbiddenToken, Fault: open(func(r *http.Request) bool {
			return withoutRights(r) && r.URL.Query().Has("labelSelector")
		})},
		Mutant{Name: "cache-without-authorization", Fault: func(s *Server) {
			cache := map[string]string{}
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				old, has := cache[r.URL.String()]
				switch {
				case code == http.StatusOK && r.Method == http.MethodGet:
					cache[r.URL.String()] = body
				case has && (code == http.StatusUnauthorized || code == http.StatusForbidden):
					code, body = http.StatusOK, old
				}
				send(w, r, code, body)
			}
		}},
		Mutant{Name: "address-once-good-stays-good", Fault: func(s *Server) {
			known := map[string]bool{}
			s.Open = func(r *http.Request) bool { return known[client(r)] }
			authenticate := s.Authenticate
			var address string
			s.Wrap(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					address = client(r)
					next.ServeHTTP(w, r)
				})
			})
			s.Authenticate = func(authorization string) int {
				code := authenticate(authorization)
				if code == 0 {
					known[address] = true
				}
				return code
			}
		}},
		Mutant{Name: "token-anywhere-in-the-header", Fault: func(s *Server) {
			s.Wrap(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if _, ok := bearer(r); !ok && strings.Contains(authorization(r), GoodToken) {
						r = r.Clone(r.Context())
						r.Header.Set("Authorization", "Bearer "+GoodToken)
					}
					next.ServeHTTP(w, r)
				})
			})
		}},
	)
	return of(Auth, mutants...)
}

// client is the address of who asks, without the port.
func client(r *http.Request) string { return r.RemoteAddr[:strings.LastIndexByte(r.RemoteAddr, ':')] }

// denials answers in another way to some who ask for some things.
func denials(who, what func(*http.Request) bool, answer http.HandlerFunc) func(*Server) {
	return instead(func(r *http.Request) bool { return who(r) && what(r) }, answer)
}

// oracleMutants refuse in a way that is no refusal, or that tells whether an object
// exists.
func oracleMutants() []Mutant {
	login := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/login" {
			text(200, "text/html; charset=utf-8", "<html><body><form action=/login method=post>Sign in</form></body></html>")(w, r)
			return
		}
		http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.Path), http.StatusFound)
	}
	stranger := func(r *http.Request) bool { return authenticate(authorization(r)) == http.StatusUnauthorized }
	refusal := func(code int, reason string) http.HandlerFunc {
		_, b := Failure{Code: code, Reason: reason, Message: "no"}.status()
		return text(code, "application/json", b)
	}
	// oracle tells some clients that a missing object is missing.
	oracle := func(who func(*http.Request) bool) func(*Server) {
		return func(s *Server) {
			s.Wrap(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					a := ask(r)
					if _, exists := s.FindObject(a.namespace, a.name); a.get() && !exists && who(r) {
						refusal(http.StatusNotFound, "NotFound")(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
		}
	}
	// told changes the refusal of a get of an object that exists.
	told := func(from int, change func(b string) (int, string)) func(*Server) {
		return func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				a := ask(r)
				if _, exists := s.FindObject(a.namespace, a.name); exists && code == from {
					code, body = change(body)
				}
				send(w, r, code, body)
			}
		}
	}
	return of(Auth,
		// no refusal
		Mutant{Name: "redirect-to-login", Fault: denials(stranger, anything, login)},
		Mutant{Name: "redirect-to-login-without-token", Fault: denials(func(r *http.Request) bool { return anonymous(r) || r.URL.Path == "/login" }, anything, login)},
		Mutant{Name: "redirect-to-login-without-rights", Needs: NeedsForbiddenToken, Fault: denials(func(r *http.Request) bool {
			return withoutRights(r) || r.URL.Path == "/login"
		}, anything, login)},
		Mutant{Name: "login-page-instead-of-401", Fault: denials(stranger, anything, text(200, "text/html", "<html><body>Please sign in</body></html>"))},
		Mutant{Name: "login-page-as-json", Fault: denials(stranger, isList, text(200, "application/json", `{"login":"https://sso.example/authorize"}`))},
		Mutant{Name: "unauthorized-with-200", Fault: code(anything, http.StatusUnauthorized, http.StatusOK)},
		Mutant{Name: "forbidden-with-200", Needs: NeedsForbiddenToken, Fault: code(anything, http.StatusForbidden, http.StatusOK)},
		Mutant{Name: "anonymous-500", Fault: denials(anonymous, anything, refusal(500, "InternalError"))},
		Mutant{Name: "anonymous-400", Fault: denials(anonymous, anything, refusal(400, "BadRequest"))},
		Mutant{Name: "anonymous-404", Fault: denials(anonymous, anything, refusal(404, "NotFound"))},
		Mutant{Name: "wrong-token-500", Fault: denials(unknownToken, anything, refusal(500, "InternalError"))},
		Mutant{Name: "wrong-token-404", Fault: denials(unknownToken, anything, refusal(404, "NotFound"))},
		Mutant{Name: "unknown-scheme-500", Fault: denials(func(r *http.Request) bool {
			_, ok := bearer(r)
			return !ok && !anonymous(r)
		}, anything, refusal(500, "InternalError"))},
		Mutant{Name: "bare-token-500", Fault: denials(func(r *http.Request) bool {
			return !anonymous(r) && !strings.Contains(authorization(r), " ")
		}, anything, refusal(500, "InternalError"))},
		Mutant{Name: "forbidden-500", Needs: NeedsForbiddenToken, Fault: denials(withoutRights, anything, refusal(500, "InternalError"))},
		Mutant{Name: "forbidden-list-404", Needs: NeedsForbiddenToken, Fault: denials(withoutRights, isList, refusal(404, "NotFound"))},
		Mutant{Name: "401-with-the-list-in-it", Fault: denials(stranger, isList, text(401, "application/json",
			`{"apiVersion":"kubevirt.io/v1","items":[`+Fleet()[0].Body+`],"kind":"VirtualMachineInstanceList","metadata":{}}`))},

		// an oracle for existence
		Mutant{Name: "anonymous-learns-what-exists", Fault: oracle(anonymous)},
		Mutant{Name: "wrong-token-learns-what-exists", Fault: oracle(unknownToken)},
		Mutant{Name: "basic-learns-what-exists", Fault: oracle(func(r *http.Request) bool { return strings.HasPrefix(authorization(r), "Basic ") })},
		Mutant{Name: "forbidden-token-learns-what-exists", Needs: NeedsForbiddenToken, Fault: oracle(withoutRights)},
		Mutant{Name: "anonymous-head-learns-what-exists", Fault: oracle(func(r *http.Request) bool { return anonymous(r) && isHead(r) })},
		Mutant{Name: "401-for-what-exists-403-else", Fault: func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				a := ask(r)
				if _, exists := s.FindObject(a.namespace, a.name); a.get() && !exists && code == http.StatusUnauthorized {
					code, body = Failure{Code: 403, Reason: "Forbidden", Message: "no"}.status()
				}
				send(w, r, code, body)
			}
		}},
		Mutant{Name: "forbidden-tells-the-uid", Needs: NeedsForbiddenToken, Fault: told(http.StatusForbidden, func(b string) (int, string) {
			return 403, strings.Replace(b, `"details":{`, `"details":{"uid":"00000000-0000-4000-8000-000000000001",`, 1)
		})},
		Mutant{Name: "forbidden-other-message-for-what-exists", Needs: NeedsForbiddenToken, Fault: told(http.StatusForbidden, func(b string) (int, string) {
			return 403, strings.Replace(b, ` is forbidden: `, ` exists but is forbidden: `, 1)
		})},
		Mutant{Name: "namespace-oracle", Needs: NeedsForbiddenToken, Fault: func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if a := ask(r); code == http.StatusForbidden && a.namespace != "" && !s.hasNamespace(a.namespace) {
					code, body = Failure{Code: 404, Reason: "NotFound", Message: fmt.Sprintf("namespaces %q not found", a.namespace)}.status()
				}
				send(w, r, code, body)
			}
		}},
	)
}
