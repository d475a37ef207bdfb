package contract_test

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

// named finds objects by a wrong comparison of their names where the right one
// finds nothing.
func named(same func(object, asked string) bool) func(*server) {
	return func(s *server) {
		find := s.find
		s.find = func(namespace, name string) (object, bool) {
			if o, ok := find(namespace, name); ok {
				return o, true
			}
			for _, o := range s.objects {
				if o.namespace == namespace && same(o.name, name) {
					return o, true
				}
			}
			return object{}, false
		}
	}
}

// asking changes how a name is read.
func asking(read func(string) string) func(*server) {
	return named(func(object, asked string) bool { return object == read(asked) })
}

// queries changes the query of every list.
func queries(change func(url.Values)) func(*server) {
	return func(s *server) { s.query = func(_ string, q url.Values) { change(q) } }
}

// breaks answers requests with 500.
func breaks(at func(*http.Request) bool) func(*server) {
	return func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if at(r) {
				code, body = s.status(http.StatusInternalServerError, "InternalError")
			}
			send(w, r, code, body)
		}
	}
}

func nothing(q url.Values) { q.Set("labelSelector", "no-object-has-this") }

func narrow(c rune) rune {
	if '！' <= c && c <= '～' {
		return c - '！' + '!'
	}
	return c
}

// lenientUTF8 decodes characters of two bytes that one would do for.
func lenientUTF8(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i]&0xfe == 0xc0 && i+1 < len(s) {
			b.WriteByte(s[i]<<6 | s[i+1]&0x3f)
			i++
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

var edgeMutants = []mutant{
	{name: "percent-encoded letters are not decoded", fault: func(s *server) {
		s.path = func(p string) string { return strings.ReplaceAll(p, "%", "%25") }
	}, fails: []string{"edge.encoded-name"}},
	{name: "a percent-encoded name is another object", fault: func(s *server) {
		s.path = func(p string) string {
			if i := strings.LastIndex(p, "/%"); i > 0 && p[i+2:i+4] == "76" {
				return p[:i] + "/vm11"
			}
			return p
		}
	}, fails: []string{"edge.encoded-name"}},
	{name: "names compared without case", fault: named(strings.EqualFold), fails: []string{"edge.near-name"}},
	{name: "names compared by prefix", fault: named(strings.HasPrefix), fails: []string{"edge.near-name"}},
	{name: "names compared by suffix", fault: named(strings.HasSuffix), fails: []string{"edge.near-name"}},
	{name: "dots behind a name are cut", fault: asking(func(n string) string { return strings.TrimRight(n, ".") }), fails: []string{"edge.near-name"}},
	{name: "spaces around a name are cut", fault: asking(strings.TrimSpace), fails: []string{"edge.near-name"}},
	{name: "names with wildcards", fault: named(func(object, asked string) bool {
		ok, _ := path.Match(asked, object)
		return ok
	}), fails: []string{"edge.near-name"}},
	{name: "a name with a dot behind it is an empty list", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if strings.HasSuffix(r.URL.Path, ".") {
				code, body = http.StatusOK, s.envelope("", `{}`)
			}
			send(w, r, code, body)
		}
	}, fails: []string{"edge.near-name"}},
	{name: "names decoded twice", fault: asking(func(n string) string {
		twice, _ := url.PathUnescape(n)
		return twice
	}), fails: []string{"edge.decoding"}},
	{name: "names end at a NUL", fault: asking(func(n string) string {
		before, _, _ := strings.Cut(n, "\x00")
		return before
	}), fails: []string{"edge.decoding"}},
	{name: "overlong UTF-8 decoded", fault: asking(lenientUTF8), fails: []string{"edge.decoding"}},
	{name: "names normalised as Unicode", fault: asking(func(n string) string { return strings.Map(narrow, n) }), fails: []string{"edge.decoding"}},
	{name: "500 for a NUL", fault: breaks(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "\x00") }), fails: []string{"edge.decoding"}},
	{name: "500 for what is no ASCII", fault: breaks(func(r *http.Request) bool {
		return strings.ContainsFunc(r.URL.Path, func(c rune) bool { return c > 0x7f })
	}), fails: []string{"edge.decoding"}},
	{name: "decoded paths tidied up", fault: func(s *server) {
		s.path = func(p string) string {
			decoded, _ := url.PathUnescape(p)
			return (&url.URL{Path: path.Clean(decoded)}).EscapedPath()
		}
	}, fails: []string{"edge.traversal"}},
	{name: "dots in paths resolved", fault: func(s *server) { s.path = path.Clean }, fails: []string{"edge.traversal"}},
	{name: "encoded dots in paths resolved", fault: func(s *server) {
		s.path = func(p string) string { return path.Clean(strings.ReplaceAll(p, "%2e", ".")) }
	}, fails: []string{"edge.traversal"}},
	{name: "a name is what stands behind the last slash", fault: asking(path.Base), fails: []string{"edge.traversal"}},
	{name: "a name ends at a slash", fault: asking(func(n string) string {
		before, _, _ := strings.Cut(n, "/")
		return before
	}), fails: []string{"edge.traversal"}},
	{name: "an empty name is a list", fault: func(s *server) {
		s.path = func(p string) string {
			before, _, _ := strings.Cut(p, "//")
			return before
		}
	}, fails: []string{"edge.traversal"}},
	{name: "500 for a long name", fault: breaks(func(r *http.Request) bool { return len(r.URL.Path) > 3000 }), fails: []string{"edge.long-name"}},
	{name: "a name too long for a file is 500", fault: breaks(func(r *http.Request) bool { return len(path.Base(r.URL.Path)) > 255 }), fails: []string{"edge.long-name"}},
	{name: "namespaces compared without case", fault: func(s *server) {
		s.inNamespace = func(namespace string, o object) bool {
			return namespace == "" || strings.EqualFold(namespace, o.namespace)
		}
	}, fails: []string{"edge.namespace"}},
	{name: "namespaces cut", fault: func(s *server) {
		s.inNamespace = func(namespace string, o object) bool {
			return namespace == "" || o.namespace == namespace || o.namespace[:len(o.namespace)-1] == namespace
		}
	}, fails: []string{"edge.namespace"}},
	{name: "namespaces with wildcards", fault: func(s *server) {
		s.inNamespace = func(namespace string, o object) bool {
			return namespace == "" || o.namespace == namespace || namespace == "*"
		}
	}, fails: []string{"edge.namespace"}},
	{name: "a page of an error shows the selector", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if code != http.StatusBadRequest {
				send(w, r, code, body)
				return
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(code)
			fmt.Fprintf(w, "<p>cannot read %s</p>", r.URL.Query().Get("labelSelector"))
		}
	}, fails: []string{"edge.html"}},
	{name: "an error without a type shows the name", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if !strings.Contains(r.URL.Path, "<") {
				send(w, r, code, body)
				return
			}
			w.Header()["Content-Type"] = nil
			w.WriteHeader(code)
			fmt.Fprintf(w, "<html><p>no %s</p>", path.Base(r.URL.Path))
		}
	}, fails: []string{"edge.html"}},
	{name: "a limit that is no number ignored", fault: queries(func(q url.Values) {
		if _, err := strconv.Atoi(q.Get("limit")); err != nil {
			q.Del("limit")
		}
	}), fails: []string{"edge.limit"}},
	{name: "a limit with a fraction cut", fault: queries(func(q url.Values) {
		if q.Has("limit") {
			whole, _, _ := strings.Cut(q.Get("limit"), ".")
			q.Set("limit", whole)
		}
	}), fails: []string{"edge.limit"}},
	{name: "a limit beyond 64 bits leaves nothing", fault: queries(func(q url.Values) {
		if len(q.Get("limit")) > 18 {
			q.Del("limit")
			nothing(q)
		}
	}), fails: []string{"edge.limit"}},
	{name: "500 for a limit beyond 64 bits", fault: breaks(func(r *http.Request) bool { return len(r.URL.Query().Get("limit")) > 18 }),
		fails: []string{"edge.limit"}},
	{name: "a limit of -1 leaves nothing", fault: queries(func(q url.Values) {
		if q.Get("limit") == "-1" {
			q.Del("limit")
			nothing(q)
		}
	}), fails: []string{"edge.limit"}},
	{name: "an empty limit leaves nothing", fault: queries(func(q url.Values) {
		if q.Has("limit") && q.Get("limit") == "" {
			q.Del("limit")
			nothing(q)
		}
	}), fails: []string{"edge.limit"}},
	{name: "the last limit counts", fault: queries(func(q url.Values) {
		if n := len(q["limit"]); n > 1 {
			q["limit"] = q["limit"][n-1:]
		}
	}), fails: []string{"edge.repeated-parameter"}},
	{name: "the last labelSelector counts", fault: queries(func(q url.Values) {
		if n := len(q["labelSelector"]); n > 1 {
			q["labelSelector"] = q["labelSelector"][n-1:]
		}
	}), fails: []string{"edge.repeated-parameter"}},
	{name: "labelSelectors joined", fault: queries(func(q url.Values) {
		if q.Has("labelSelector") {
			q.Set("labelSelector", strings.Join(q["labelSelector"], ","))
		}
	}), fails: []string{"edge.repeated-parameter"}},
	{name: "parameters in any case", fault: queries(func(q url.Values) {
		for name, values := range q {
			if strings.EqualFold(name, "labelSelector") {
				q["labelSelector"] = values
			}
		}
	}), fails: []string{"edge.unknown-parameter"}},
	{name: "unknown parameters refused", fault: queries(func(q url.Values) {
		for name := range q {
			if !slices.Contains([]string{"limit", "continue", "labelSelector", "fieldSelector"}, name) {
				q.Set("limit", "refused")
			}
		}
	}), fails: []string{"edge.unknown-parameter"}},
	{name: "an unknown parameter of a get is 404", fault: func(s *server) {
		send := s.send
		s.send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if !isList(r) && r.URL.Query().Has("vmikitContract") {
				code, body = s.status(http.StatusNotFound, "NotFound")
			}
			send(w, r, code, body)
		}
	}, fails: []string{"edge.unknown-parameter"}},
	{name: "an empty labelSelector selects nothing", fault: queries(func(q url.Values) {
		if q.Has("labelSelector") && q.Get("labelSelector") == "" {
			nothing(q)
		}
	}), fails: []string{"edge.empty-parameter"}},
	{name: "an empty continue refused", fault: queries(func(q url.Values) {
		if q.Has("continue") && q.Get("continue") == "" {
			q.Set("continue", "refused")
		}
	}), fails: []string{"edge.empty-parameter"}},
	{name: "a labelSelector that cannot be read ignored", fault: queries(func(q url.Values) {
		if _, ok := parseSelector(q.Get("labelSelector")); !ok {
			q.Del("labelSelector")
		}
	}), fails: []string{"edge.selector-syntax"}},
	{name: "a labelSelector that cannot be read selects nothing", fault: queries(func(q url.Values) {
		if _, ok := parseSelector(q.Get("labelSelector")); !ok {
			nothing(q)
		}
	}), fails: []string{"edge.selector-syntax"}},
	{name: "a comma at the end ignored", fault: queries(func(q url.Values) {
		if text, ok := strings.CutSuffix(q.Get("labelSelector"), ","); ok {
			q.Set("labelSelector", text)
		}
	}), fails: []string{"edge.selector-syntax"}},
	{name: "a fieldSelector of unknown fields ignored", fault: queries(func(q url.Values) {
		if strings.HasPrefix(q.Get("fieldSelector"), "spec.") {
			q.Del("fieldSelector")
		}
	}), fails: []string{"edge.selector-syntax"}},
	{name: "long selectors cut", fault: queries(func(q url.Values) {
		if text := q.Get("labelSelector"); len(text) > 4096 {
			q.Set("labelSelector", text[:strings.LastIndex(text[:4096], ",")])
		}
	}), fails: []string{"edge.long-selector"}},
	{name: "many values cut", fault: labels(func(t term, l map[string]string) (bool, bool) {
		return slices.Contains(t.values[:min(100, len(t.values))], l[t.key]), t.op == "in" && len(t.values) > 100
	}), fails: []string{"edge.long-selector"}},
	{name: "500 for a long selector", fault: breaks(func(r *http.Request) bool { return len(r.URL.RawQuery) > 5000 }), fails: []string{"edge.long-selector"}},
	{name: "a continue token of nobody ignored", fault: queries(func(q url.Values) {
		if _, err := strconv.Atoi(q.Get("continue")); err != nil {
			q.Del("continue")
		}
	}), fails: []string{"edge.continue"}},
	{name: "a continue token of nobody is the end", fault: queries(func(q url.Values) {
		if _, err := strconv.Atoi(q.Get("continue")); q.Has("continue") && q.Get("continue") != "" && err != nil {
			q.Set("continue", "1000000")
		}
	}), fails: []string{"edge.continue"}},
	{name: "document: names compared without case", fault: named(strings.EqualFold), fails: []string{"edge.near-name"}, under: openapi.ProfileDocument},
	{name: "document: decoded paths tidied up", fault: func(s *server) {
		s.path = func(p string) string {
			decoded, _ := url.PathUnescape(p)
			return (&url.URL{Path: path.Clean(decoded)}).EscapedPath()
		}
	}, fails: []string{"edge.traversal"}, under: openapi.ProfileDocument},
	{name: "document: names end at a NUL", fault: asking(func(n string) string {
		before, _, _ := strings.Cut(n, "\x00")
		return before
	}), fails: []string{"edge.decoding"}, under: openapi.ProfileDocument},
	{name: "document: a limit that is no number ignored", fault: queries(func(q url.Values) {
		if _, err := strconv.Atoi(q.Get("limit")); err != nil {
			q.Del("limit")
		}
	}), fails: []string{"edge.limit"}, under: openapi.ProfileDocument},
	{name: "document: long selectors cut", fault: queries(func(q url.Values) {
		if text := q.Get("labelSelector"); len(text) > 4096 {
			q.Set("labelSelector", text[:strings.LastIndex(text[:4096], ",")])
		}
	}), fails: []string{"edge.long-selector"}, under: openapi.ProfileDocument},
}
