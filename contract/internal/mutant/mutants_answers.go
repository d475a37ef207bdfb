package mutant

import (
	"net/http"
	"strings"
)

// contentTypeMutants say that JSON is something else, or answer with something
// else.
func contentTypeMutants() []Mutant {
	const ct = "Content-Type"
	ok := http.StatusOK
	return of(ContentType,
		Mutant{Name: "list-text-plain", Fault: header(isList, ok, ct, "text/plain; charset=utf-8")},
		Mutant{Name: "get-text-plain", Fault: header(isGet, ok, ct, "text/plain")},
		Mutant{Name: "get-text-html", Fault: header(isGet, ok, ct, "text/html; charset=utf-8")},
		Mutant{Name: "list-octet-stream", Fault: header(isList, ok, ct, "application/octet-stream")},
		Mutant{Name: "text-json", Fault: header(anything, ok, ct, "text/json")},
		Mutant{Name: "vendor-json", Fault: header(isList, ok, ct, "application/vnd.api+json")},
		Mutant{Name: "yaml-named", Fault: header(isGet, ok, ct, "application/yaml")},
		Mutant{Name: "javascript", Fault: header(isList, ok, ct, "application/javascript")},
		Mutant{Name: "json-without-application", Fault: header(anything, ok, ct, "json")},
		Mutant{Name: "content-type-missing", Fault: func(s *Server) {
			headers := s.Headers
			s.Headers = func(h http.Header, r *http.Request, code int) {
				headers(h, r, code)
				if code == ok {
					h[ct] = nil // keeps net/http from guessing
				}
			}
		}},
		Mutant{Name: "content-type-missing-for-all-namespaces", Fault: func(s *Server) {
			headers := s.Headers
			s.Headers = func(h http.Header, r *http.Request, code int) {
				headers(h, r, code)
				if code == ok && isAll(r) {
					h[ct] = nil
				}
			}
		}},
		Mutant{Name: "second-page-text-plain", Fault: header(isPage, ok, ct, "text/plain")},
		Mutant{Name: "empty-list-text-plain", Fault: func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if !strings.Contains(body, `"items":[]`) {
					send(w, r, code, body)
					return
				}
				text(code, "text/plain", body)(w, r)
			}
		}},
		Mutant{Name: "selected-list-text-plain", Fault: header(func(r *http.Request) bool { return r.URL.Query().Has("labelSelector") }, ok, ct, "text/plain")},
		Mutant{Name: "not-found-as-text-plain", Fault: header(anything, http.StatusNotFound, ct, "text/plain; charset=utf-8")},
		Mutant{Name: "unauthorized-as-text-html", Fault: header(anything, http.StatusUnauthorized, ct, "text/html")},
		Mutant{Name: "get-as-yaml", Fault: func(s *Server) {
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if isGet(r) && code == ok {
					text(code, "application/yaml", "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata:\n  name: "+ask(r).name+"\n")(w, r)
					return
				}
				s.Headers(w.Header(), r, code)
				w.WriteHeader(code)
				_, _ = w.Write([]byte(body))
			}
		}},
	)
}

// errorMutants answer with the wrong status code, or with a body that does not
// agree with it.
func errorMutants() []Mutant {
	const missing = http.StatusNotFound
	in404 := func(from, to string) func(*Server) {
		return failed(missing, func(b string) (int, string) { return missing, strings.Replace(b, from, to, 1) })
	}
	badSelector := func(code int) func(*Server) {
		return answer(isList, func(c int, b string) (int, string) {
			if c != http.StatusBadRequest || !strings.Contains(b, "unable to parse requirement") {
				return c, b
			}
			return Failure{Code: code, Reason: reasons[code], Message: "no"}.status()
		})
	}
	return of(Error,
		// an object that is not there
		Mutant{Name: "missing-object-200-empty-object", Fault: failed(missing, func(string) (int, string) { return 200, "{}" })},
		Mutant{Name: "missing-object-200-null", Fault: failed(missing, func(string) (int, string) { return 200, "null" })},
		Mutant{Name: "missing-object-200-status", Fault: code(anything, missing, http.StatusOK)},
		Mutant{Name: "missing-object-200-skeleton", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				if o, ok := s.FindObject(namespace, name); ok {
					return o, true
				}
				return Machine(99, namespace, name, nil), true
			}
		}},
		Mutant{Name: "missing-object-204", Fault: failed(missing, func(string) (int, string) { return http.StatusNoContent, "" })},
		Mutant{Name: "missing-object-410", Fault: failed(missing, func(string) (int, string) {
			return Failure{Code: http.StatusGone, Reason: "Gone", Message: "no"}.status()
		})},
		Mutant{Name: "missing-object-500", Fault: failed(missing, func(string) (int, string) {
			return Failure{Code: http.StatusInternalServerError, Reason: "InternalError", Message: "no rows in result set"}.status()
		})},
		Mutant{Name: "missing-object-400", Fault: failed(missing, func(string) (int, string) {
			return Failure{Code: http.StatusBadRequest, Reason: "BadRequest", Message: "no"}.status()
		})},
		Mutant{Name: "missing-object-other-object", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				for _, o := range s.Objects { // the first that is not before it, as in a search tree
					if o.Namespace == namespace && o.Name >= name {
						return o, true
					}
				}
				return Object{}, false
			}
		}},
		Mutant{Name: "missing-namespace-500", Fault: func(s *Server) {
			answer(func(r *http.Request) bool { a := ask(r); return a.get() && !s.hasNamespace(a.namespace) }, func(code int, b string) (int, string) {
				if code != missing {
					return code, b
				}
				return Failure{Code: http.StatusInternalServerError, Reason: "InternalError", Message: "no"}.status()
			})(s)
		}},

		// bodies of 404
		Mutant{Name: "not-found-without-body", Fault: failed(missing, func(string) (int, string) { return missing, "" })},
		Mutant{Name: "not-found-as-text", Fault: failed(missing, func(string) (int, string) { return missing, "not found\n" })},
		Mutant{Name: "not-found-as-html", Fault: func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if code == missing {
					text(code, "text/html", "<html><body><h1>404 Not Found</h1><hr>nginx</body></html>")(w, r)
					return
				}
				send(w, r, code, body)
			}
		}},
		Mutant{Name: "not-found-as-problem", Fault: both(header(anything, missing, "Content-Type", "application/problem+json"),
			failed(missing, func(string) (int, string) { return missing, `{"type":"about:blank","title":"Not Found","status":404}` }))},
		Mutant{Name: "not-found-truncated", Fault: failed(missing, func(b string) (int, string) { return missing, b[:len(b)/2] })},
		Mutant{Name: "not-found-empty-object", Fault: failed(missing, func(string) (int, string) { return missing, "{}" })},
		Mutant{Name: "not-found-code-500", Fault: in404(`"code":404`, `"code":500`)},
		Mutant{Name: "not-found-code-string", Fault: in404(`"code":404`, `"code":"404"`)},
		Mutant{Name: "not-found-reason-forbidden", Fault: in404(`"reason":"NotFound"`, `"reason":"Forbidden"`)},
		Mutant{Name: "not-found-reason-already-exists", Fault: in404(`"reason":"NotFound"`, `"reason":"AlreadyExists"`)},
		Mutant{Name: "not-found-reason-object", Fault: in404(`"reason":"NotFound"`, `"reason":{"code":"NotFound"}`)},
		Mutant{Name: "not-found-success", Fault: in404(`"status":"Failure"`, `"status":"Success"`)},
		Mutant{Name: "not-found-without-status", Fault: in404(`"status":"Failure",`, ``)},
		Mutant{Name: "not-found-kind-error", Fault: in404(`"kind":"Status"`, `"kind":"Error"`)},
		Mutant{Name: "not-found-without-kind", Fault: in404(`"kind":"Status",`, ``)},
		Mutant{Name: "not-found-api-version-of-kubevirt", Fault: in404(`"apiVersion":"v1"`, `"apiVersion":"kubevirt.io/v1"`)},
		Mutant{Name: "not-found-message-array", Fault: failed(missing, func(string) (int, string) {
			return missing, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":["no"],"reason":"NotFound","code":404}`
		})},
		Mutant{Name: "not-found-with-an-object", Fault: failed(missing, func(string) (int, string) { return missing, Machine(99, "prod", "none", nil).Body })},

		// bodies of 401
		Mutant{Name: "unauthorized-code-403", Fault: failed(401, func(b string) (int, string) {
			return 401, strings.Replace(b, `"code":401`, `"code":403`, 1)
		})},
		Mutant{Name: "unauthorized-reason-forbidden", Fault: failed(401, func(b string) (int, string) {
			return 401, strings.Replace(b, `"reason":"Unauthorized"`, `"reason":"Forbidden"`, 1)
		})},
		Mutant{Name: "unauthorized-as-oauth-error", Fault: failed(401, func(string) (int, string) { return 401, `{"error":"invalid_token"}` })},
		Mutant{Name: "unauthorized-without-body", Fault: failed(401, func(string) (int, string) { return 401, "" })},
		Mutant{Name: "forbidden-code-401", Needs: NeedsForbiddenToken, Fault: failed(403, func(b string) (int, string) {
			return 403, strings.Replace(b, `"code":403`, `"code":401`, 1)
		})},
		Mutant{Name: "forbidden-as-text", Needs: NeedsForbiddenToken, Fault: failed(403, func(string) (int, string) { return 403, "RBAC: access denied" })},

		// bad requests
		Mutant{Name: "bad-selector-500", Fault: badSelector(http.StatusInternalServerError)},
		Mutant{Name: "bad-selector-404", Fault: badSelector(http.StatusNotFound)},
		Mutant{Name: "bad-selector-everything", Fault: func(s *Server) {
			parse := s.ParseLabels
			s.ParseLabels = func(text string) ([]Term, error) {
				if terms, err := parse(text); err == nil {
					return terms, nil
				}
				return nil, nil
			}
		}},
		Mutant{Name: "bad-selector-nothing", Fault: func(s *Server) {
			parse := s.ParseLabels
			s.ParseLabels = func(text string) ([]Term, error) {
				if terms, err := parse(text); err == nil {
					return terms, nil
				}
				return []Term{{Key: "\x00", Values: []string{""}}}, nil
			}
		}},
		Mutant{Name: "bad-selector-code-422-in-body", Fault: failed(400, func(b string) (int, string) {
			return 400, strings.Replace(b, `"code":400`, `"code":422`, 1)
		})},
		Mutant{Name: "bad-request-with-stack-trace", Fault: answer(isList, func(c int, b string) (int, string) {
			if c != http.StatusBadRequest {
				return c, b
			}
			return http.StatusInternalServerError, "panic: runtime error: index out of range [1] with length 1\n\ngoroutine 12 [running]:\nmain.(*gateway).list(0xc0000b4000)\n\t/src/gateway.go:112 +0x1d\n"
		})},

		// good answers with a code that nobody declares
		Mutant{Name: "list-201", Fault: code(isList, 200, http.StatusCreated)},
		Mutant{Name: "get-203", Fault: code(isGet, 200, http.StatusNonAuthoritativeInfo)},
		Mutant{Name: "get-202", Fault: code(isGet, 200, http.StatusAccepted)},
		Mutant{Name: "page-206", Fault: code(func(r *http.Request) bool { return isList(r) && r.URL.Query().Has("limit") }, 200, http.StatusPartialContent)},
		Mutant{Name: "empty-list-404", Fault: answer(isList, func(c int, b string) (int, string) {
			if c != 200 || !strings.Contains(b, `"items":[]`) || strings.Contains(b, `"remainingItemCount"`) {
				return c, b
			}
			return Failure{Code: missing, Reason: "NotFound", Message: "no"}.status()
		})},
		Mutant{Name: "empty-list-204", Fault: answer(isList, func(c int, b string) (int, string) {
			if c != 200 || !strings.Contains(b, `"items":[]`) {
				return c, b
			}
			return http.StatusNoContent, ""
		})},
		Mutant{Name: "all-namespaces-500", Fault: answer(isAll, func(c int, b string) (int, string) {
			if c != 200 {
				return c, b
			}
			return Failure{Code: http.StatusInternalServerError, Reason: "InternalError", Message: "no"}.status()
		})},
		Mutant{Name: "one-object-always-500", Fault: answer(func(r *http.Request) bool { return ask(r) == asked{"prod", "vm08", true} }, func(c int, b string) (int, string) {
			if c != 200 {
				return c, b
			}
			return Failure{Code: http.StatusInternalServerError, Reason: "InternalError", Message: "unexpected end of JSON input"}.status()
		})},

		// paths that nobody serves
		Mutant{Name: "resource-by-prefix", Fault: func(s *Server) {
			s.Route = func(path string) (string, string, bool) {
				before, after, has := strings.Cut(path, resource)
				if has && after != "" && after[0] != '/' {
					_, rest, more := strings.Cut(after, "/")
					if after = ""; more {
						after = "/" + rest
					}
				}
				if has {
					path = before + resource + after
				}
				return route(path)
			}
		}},
		Mutant{Name: "any-version", Fault: func(s *Server) {
			s.Route = func(path string) (string, string, bool) {
				parts := strings.Split(path, "/")
				if len(parts) > 3 && strings.HasPrefix(parts[3], "v") {
					parts[3] = "v1"
				}
				return route(strings.Join(parts, "/"))
			}
		}},
		Mutant{Name: "subresource-is-the-object", Fault: func(s *Server) {
			s.Route = func(path string) (string, string, bool) {
				parts := strings.Split(path, "/")
				return route(strings.Join(parts[:min(len(parts), 8)], "/"))
			}
		}},
	)
}

var reasons = map[int]string{404: "NotFound", 500: "InternalError"}
