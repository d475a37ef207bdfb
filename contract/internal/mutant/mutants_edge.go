package mutant

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// pathMutants read names and paths in another way than as they are.
func pathMutants() []Mutant {
	named := func(change func(name string) string) func(*Server) {
		return func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) { return s.FindObject(namespace, change(name)) }
		}
	}
	found := func(same func(o Object, namespace, name string) bool) func(*Server) {
		return func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				if o, ok := s.FindObject(namespace, name); ok {
					return o, true
				}
				i := slices.IndexFunc(s.Objects, func(o Object) bool { return same(o, namespace, name) })
				if i < 0 {
					return Object{}, false
				}
				return s.Objects[i], true
			}
		}
	}
	routed := func(change func(escaped string) string) func(*Server) {
		return func(s *Server) {
			s.Route = func(escaped string) (string, string, bool) { return route(change(escaped)) }
		}
	}
	failing := func(when func(*http.Request) bool) func(*Server) {
		return answer(when, func(code int, b string) (int, string) {
			if code == 401 || code == 403 {
				return code, b
			}
			return Failure{Code: 500, Reason: "InternalError", Message: "internal error"}.status()
		})
	}
	decoded := func(p string) string {
		if q, err := url.PathUnescape(p); err == nil {
			return q
		}
		return p
	}
	// missing writes the answer for a name that nobody has without any care.
	missing := func(contentType, before, after string) func(*Server) {
		return func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if a := ask(r); code == http.StatusNotFound && a.get() {
					text(code, contentType, before+a.name+after)(w, r)
					return
				}
				send(w, r, code, body)
			}
		}
	}
	const status, end = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NotFound","code":404,"message":"`, ` not found"}`
	return of(Edge,
		// decoding
		Mutant{Name: "path-decoded-twice", Fault: routed(func(p string) string {
			parts := strings.Split(p, "/")
			for i := range parts {
				parts[i] = decoded(parts[i])
			}
			return strings.Join(parts, "/")
		})},
		Mutant{Name: "name-decoded-until-nothing-is-left", Fault: named(func(name string) string {
			for range 5 {
				name = decoded(name)
			}
			return name
		})},
		Mutant{Name: "path-not-decoded", Fault: func(s *Server) {
			s.Route = func(escaped string) (string, string, bool) {
				parts := strings.Split(escaped, "/")
				for i, p := range parts {
					parts[i] = strings.ReplaceAll(p, "%", "%25")
				}
				return route(strings.Join(parts, "/"))
			}
		}},
		Mutant{Name: "namespace-not-decoded", Fault: func(s *Server) {
			s.Route = func(escaped string) (string, string, bool) {
				parts := strings.Split(escaped, "/")
				if len(parts) > 5 {
					parts[5] = strings.ReplaceAll(parts[5], "%", "%25")
				}
				return route(strings.Join(parts, "/"))
			}
		}},
		Mutant{Name: "encoded-name-is-another-object", Fault: routed(func(p string) string {
			if before, name, ok := strings.Cut(p, "/virtualmachineinstances/%"); ok && name != "" {
				return before + "/virtualmachineinstances/vm11"
			}
			return p
		})},
		Mutant{Name: "name-with-a-dot-is-an-empty-list", Fault: func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if code == http.StatusNotFound && strings.HasSuffix(r.URL.Path, ".") {
					code, body = http.StatusOK, s.Envelope("", "{}")
				}
				send(w, r, code, body)
			}
		}},
		Mutant{Name: "percent-in-name-500", Fault: failing(func(r *http.Request) bool { return strings.Contains(ask(r).name, "%") })},

		// traversal
		Mutant{Name: "decoded-path-cleaned", Fault: routed(func(p string) string {
			return (&url.URL{Path: path.Clean(decoded(p))}).EscapedPath()
		})},
		Mutant{Name: "dots-in-name-cleaned", Fault: named(func(name string) string { return path.Base(path.Clean(name)) })},
		Mutant{Name: "dots-leave-the-namespace", Fault: func(s *Server) { // as files of a directory for each namespace
			s.Find = func(namespace, name string) (Object, bool) {
				dir, file := path.Split(path.Join("/", namespace, name))
				return s.FindObject(strings.Trim(dir, "/"), file)
			}
		}},
		Mutant{Name: "backslash-is-a-slash", Fault: named(func(name string) string {
			return path.Base(path.Clean(strings.ReplaceAll(name, `\`, "/")))
		})},
		Mutant{Name: "slash-ends-the-name", Fault: named(func(name string) string { before, _, _ := strings.Cut(name, "/"); return before })},
		Mutant{Name: "encoded-dots-resolved", Warns: true, Fault: routed(func(p string) string {
			if strings.Contains(p, "/%2e%2e/") {
				p = path.Clean(strings.ReplaceAll(p, "%2e", "."))
			}
			return p
		})},
		Mutant{Name: "empty-name-is-a-list", Fault: routed(func(p string) string { before, _, _ := strings.Cut(p, "//"); return before })},
		Mutant{Name: "slash-in-name-500", Fault: failing(func(r *http.Request) bool { return strings.Contains(ask(r).name, "/") })},

		// NUL and what lies beyond ASCII
		Mutant{Name: "nul-ends-the-name", Fault: named(func(name string) string { before, _, _ := strings.Cut(name, "\x00"); return before })},
		Mutant{Name: "nul-left-out", Fault: named(func(name string) string { return strings.ReplaceAll(name, "\x00", "") })},
		Mutant{Name: "nul-500", Fault: failing(func(r *http.Request) bool { return strings.Contains(ask(r).name, "\x00") })},
		Mutant{Name: "control-characters-left-out", Fault: named(func(name string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsControl(r) {
					return -1
				}
				return r
			}, name)
		})},
		Mutant{Name: "non-ascii-name-500", Fault: failing(func(r *http.Request) bool { return beyondASCII(ask(r).name) })},
		Mutant{Name: "non-ascii-left-out", Fault: named(func(name string) string {
			return strings.Map(func(r rune) rune {
				if r > unicode.MaxASCII {
					return -1
				}
				return r
			}, name)
		})},
		Mutant{Name: "non-ascii-selector-500", Fault: failing(func(r *http.Request) bool { return beyondASCII(r.URL.Query().Get("labelSelector")) })},
		Mutant{Name: "bad-utf-8-in-name-500", Fault: failing(func(r *http.Request) bool { return strings.ToValidUTF8(ask(r).name, "") != ask(r).name })},
		Mutant{Name: "overlong-utf-8-decoded", Fault: named(lenientUTF8)},
		Mutant{Name: "full-width-is-ascii", Fault: named(func(name string) string { // as NFKC has it
			return strings.Map(func(r rune) rune {
				if '！' <= r && r <= '～' {
					return r - '！' + '!'
				}
				return r
			}, name)
		})},

		// length
		Mutant{Name: "name-of-254-500", Fault: failing(func(r *http.Request) bool { return len(ask(r).name) > 253 })},
		Mutant{Name: "long-name-is-the-first-object", Fault: found(func(o Object, namespace, name string) bool {
			return o.Namespace == namespace && len(name) > 253
		})},
		Mutant{Name: "long-namespace-500", Fault: failing(func(r *http.Request) bool { return len(ask(r).namespace) > 63 })},
		Mutant{Name: "long-selector-500", Fault: failing(func(r *http.Request) bool { return len(r.URL.Query().Get("labelSelector")) > 1000 })},
		Mutant{Name: "long-selector-cut", Fault: func(s *Server) { s.Query = cutLongSelector }},
		Mutant{Name: "long-selector-ignored", Fault: func(s *Server) {
			s.Query = func(_ string, q url.Values) {
				if len(q.Get("labelSelector")) > 1000 {
					q.Del("labelSelector")
				}
			}
		}},

		// names that are nearly right
		Mutant{Name: "name-any-case", Fault: found(func(o Object, namespace, name string) bool {
			return o.Namespace == namespace && strings.EqualFold(o.Name, name)
		})},
		Mutant{Name: "name-prefix", Fault: found(func(o Object, namespace, name string) bool {
			return o.Namespace == namespace && strings.HasPrefix(o.Name, name)
		})},
		Mutant{Name: "name-longer", Fault: found(func(o Object, namespace, name string) bool {
			return o.Namespace == namespace && strings.HasPrefix(name, o.Name)
		})},
		Mutant{Name: "name-suffix", Fault: found(func(o Object, namespace, name string) bool {
			return o.Namespace == namespace && strings.HasSuffix(o.Name, name)
		})},
		Mutant{Name: "spaces-around-name-trimmed", Fault: named(strings.TrimSpace)},
		Mutant{Name: "extension-json-left-out", Fault: named(func(name string) string { return strings.TrimSuffix(name, ".json") })},
		Mutant{Name: "matrix-parameters-left-out", Fault: named(func(name string) string { before, _, _ := strings.Cut(name, ";"); return before })},
		Mutant{Name: "name-like-percent", Fault: found(func(o Object, namespace, name string) bool {
			pattern := strings.NewReplacer("%", ".*", "_", ".").Replace(regexp.QuoteMeta(name))
			like, err := regexp.Compile("^" + pattern + "$")
			return err == nil && o.Namespace == namespace && like.MatchString(o.Name)
		})},
		Mutant{Name: "name-star", Fault: found(func(o Object, namespace, name string) bool {
			ok, _ := path.Match(name, o.Name)
			return o.Namespace == namespace && ok
		})},

		// a name in a page
		Mutant{Name: "html-reflects-name", Fault: missing("text/html; charset=utf-8", "<html><body>No such machine: ", "</body></html>")},
		Mutant{Name: "json-named-html-reflects-name", Fault: missing("text/html", status, end)},
		Mutant{Name: "json-broken-by-name", Fault: missing("application/json", status, end)},
		Mutant{Name: "untyped-html-reflects-name", Fault: func(s *Server) { // for a browser to guess
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if a := ask(r); code == http.StatusNotFound && a.get() {
					w.Header()["Content-Type"] = nil // keeps net/http from guessing
					text(code, "", "<html><p>no "+a.name)(w, r)
					return
				}
				send(w, r, code, body)
			}
		}},
		Mutant{Name: "html-reflects-bad-selector", Fault: func(s *Server) {
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if code == http.StatusBadRequest && isList(r) {
					text(code, "text/html", "<p>bad selector: "+r.URL.Query().Get("labelSelector")+"</p>")(w, r)
					return
				}
				send(w, r, code, body)
			}
		}},
	)
}

// lenientUTF8 decodes characters of two bytes that one would do for.
func lenientUTF8(name string) string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i]&0xfe == 0xc0 && i+1 < len(name) {
			b.WriteByte(name[i]<<6 | name[i+1]&0x3f)
			i++
			continue
		}
		b.WriteByte(name[i])
	}
	return b.String()
}

func beyondASCII(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// cutLongSelector forgets the requirements of a selector beyond its first 4096
// bytes.
func cutLongSelector(_ string, q url.Values) {
	if text := q.Get("labelSelector"); len(text) > 4096 {
		q.Set("labelSelector", text[:strings.LastIndex(text[:4096], ",")])
	}
}

// parameterMutants read limits and parameters in another way than as they are.
func parameterMutants() []Mutant {
	limit := func(parse func(text string) (int64, error)) func(*Server) {
		return func(s *Server) { s.ParseLimit = parse }
	}
	limit500 := func(when func(text string) bool) func(*Server) {
		return answer(func(r *http.Request) bool {
			return isList(r) && r.URL.Query().Has("limit") && when(r.URL.Query().Get("limit"))
		}, func(code int, b string) (int, string) {
			if code == 401 || code == 403 {
				return code, b
			}
			return Failure{Code: 500, Reason: "InternalError", Message: "strconv"}.status()
		})
	}
	last := func(keys ...string) func(*Server) {
		return func(s *Server) {
			s.Query = func(_ string, q url.Values) {
				for _, key := range keys {
					if n := len(q[key]); n > 1 {
						q[key] = q[key][n-1:]
					}
				}
			}
		}
	}
	known := []string{"labelSelector", "fieldSelector", "limit", "continue", "access_token", "token"}
	unknown := func(r *http.Request) bool {
		for key := range r.URL.Query() {
			if !slices.Contains(known, key) {
				return true
			}
		}
		return false
	}
	refusing := func(code int, reason string) func(*Server) {
		return answer(unknown, func(c int, b string) (int, string) {
			if c != http.StatusOK {
				return c, b
			}
			return Failure{Code: code, Reason: reason, Message: "unknown parameter"}.status()
		})
	}
	number := regexp.MustCompile(`^\s*[-+]?\d+`)
	return of(Edge,
		Mutant{Name: "limit-text-ignored", Fault: limit(func(text string) (int64, error) {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return 1 << 40, nil
			}
			return n, nil
		})},
		Mutant{Name: "limit-text-is-one", Fault: limit(func(text string) (int64, error) {
			n, err := strconv.ParseInt(text, 10, 64)
			if errors.Is(err, strconv.ErrSyntax) {
				return 1, nil
			}
			return n, err
		})},
		Mutant{Name: "limit-up-to-the-first-letter", Fault: limit(func(text string) (int64, error) {
			return strconv.ParseInt(strings.TrimSpace(number.FindString(text)), 10, 64)
		})},
		Mutant{Name: "limit-fraction-cut", Fault: limit(func(text string) (int64, error) {
			before, _, _ := strings.Cut(text, ".")
			return strconv.ParseInt(before, 10, 64)
		})},
		Mutant{Name: "limit-text-500", Fault: limit500(func(text string) bool {
			_, err := strconv.ParseInt(text, 10, 64)
			return errors.Is(err, strconv.ErrSyntax)
		})},
		Mutant{Name: "limit-beyond-int64-wraps", Fault: limit(func(text string) (int64, error) {
			var n uint64
			for _, c := range text {
				if c < '0' || c > '9' {
					return strconv.ParseInt(text, 10, 64)
				}
				n = n*10 + uint64(c-'0')
			}
			return max(int64(n), 1), nil
		})},
		Mutant{Name: "limit-beyond-int64-is-no-limit", Warns: true, Fault: limit(func(text string) (int64, error) {
			n, err := strconv.ParseInt(text, 10, 64)
			if errors.Is(err, strconv.ErrRange) {
				err = nil
			}
			return n, err
		})},
		Mutant{Name: "limit-beyond-int64-500", Fault: limit500(func(text string) bool {
			_, err := strconv.ParseInt(text, 10, 64)
			return errors.Is(err, strconv.ErrRange)
		})},
		Mutant{Name: "limit-beyond-int32-500", Fault: limit500(func(text string) bool {
			n, err := strconv.ParseInt(text, 10, 64)
			return err == nil && n > 1<<31-1
		})},
		Mutant{Name: "limit-zero-is-nothing", Fault: lowLimit("0", func([]Object) []Object { return nil })},
		Mutant{Name: "limit-negative-is-nothing", Fault: lowLimit("-1", func([]Object) []Object { return nil })},
		Mutant{Name: "limit-negative-drops-the-last", Fault: lowLimit("-1", func(items []Object) []Object { return items[:max(len(items)-1, 0)] })},
		Mutant{Name: "limit-empty-is-nothing", Fault: lowLimit("", func([]Object) []Object { return nil })},
		Mutant{Name: "limit-zero-500", Fault: limit500(func(text string) bool { return text == "0" })},
		Mutant{Name: "limit-negative-500", Fault: limit500(func(text string) bool { return strings.HasPrefix(text, "-") })},
		Mutant{Name: "limit-zero-taken", Warns: true, Fault: func(s *Server) { s.ZeroLimit = http.StatusOK }},

		Mutant{Name: "empty-label-selector-selects-nothing", Fault: func(s *Server) {
			s.Query = func(_ string, q url.Values) {
				if q.Has("labelSelector") && q.Get("labelSelector") == "" {
					q.Set("labelSelector", "no-object-has-this")
				}
			}
		}},
		Mutant{Name: "empty-continue-refused", Fault: func(s *Server) {
			s.Query = func(_ string, q url.Values) {
				if q.Has("continue") && q.Get("continue") == "" {
					q.Set("continue", "refused")
				}
			}
		}},
		Mutant{Name: "selector-comma-at-the-end-left-out", Fault: func(s *Server) {
			s.ParseLabels = func(text string) ([]Term, error) { return ParseLabels(strings.TrimSuffix(text, ",")) }
		}},
		Mutant{Name: "parameter-names-any-case", Fault: func(s *Server) {
			s.Query = func(_ string, q url.Values) {
				for name, values := range q {
					if strings.EqualFold(name, "labelSelector") {
						q["labelSelector"] = values
					}
				}
			}
		}},
		Mutant{Name: "repeated-limit-last-wins", Fault: last("limit")},
		Mutant{Name: "repeated-selector-last-wins", Fault: last("labelSelector", "fieldSelector")},
		Mutant{Name: "repeated-selector-joined", Fault: func(s *Server) {
			s.Query = func(_ string, q url.Values) {
				if len(q["labelSelector"]) > 1 {
					q.Set("labelSelector", strings.Join(q["labelSelector"], ","))
				}
			}
		}},
		Mutant{Name: "repeated-parameter-500", Fault: answer(func(r *http.Request) bool {
			for _, values := range r.URL.Query() {
				if len(values) > 1 {
					return true
				}
			}
			return false
		}, func(code int, b string) (int, string) {
			if code != http.StatusOK {
				return code, b
			}
			return Failure{Code: 500, Reason: "InternalError", Message: "TypeError: query.split is not a function"}.status()
		})},
		Mutant{Name: "unknown-parameter-400", Fault: refusing(http.StatusBadRequest, "BadRequest")},
		Mutant{Name: "unknown-parameter-500", Fault: refusing(http.StatusInternalServerError, "InternalError")},
		Mutant{Name: "unknown-parameter-404", Fault: refusing(http.StatusNotFound, "NotFound")},
		Mutant{Name: "unknown-parameter-selects", Fault: func(s *Server) { // ?anything=x as a filter by a field of that name
			filter := false
			s.Query = func(_ string, q url.Values) {
				filter = false
				for key := range q {
					filter = filter || !slices.Contains(known, key)
				}
			}
			s.InNamespace = func(namespace string, o Object) bool {
				return !filter && (namespace == "" || o.Namespace == namespace)
			}
		}},
		Mutant{Name: "parameter-on-get-404", Fault: answer(func(r *http.Request) bool { return isGet(r) && unknown(r) }, func(code int, b string) (int, string) {
			if code != http.StatusOK {
				return code, b
			}
			return Failure{Code: 404, Reason: "NotFound", Message: fmt.Sprintf("%s.kubevirt.io not found", resource)}.status()
		})},
	)
}

// lowLimit takes one limit below 1 and answers with a list that says it is complete.
func lowLimit(limit string, kept func(items []Object) []Object) func(*Server) {
	return func(s *Server) {
		is := false
		s.Query = func(string, url.Values) { is = false }
		s.ParseLimit = func(text string) (int64, error) {
			if is = text == limit; is {
				return 1, nil
			}
			return strconv.ParseInt(text, 10, 64)
		}
		s.Page = func(items []Object, start, limit int) ([]Object, int) {
			if is {
				return kept(items), -1
			}
			return page(items, start, limit)
		}
	}
}
