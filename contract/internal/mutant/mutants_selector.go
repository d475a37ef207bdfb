package mutant

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// match replaces how one operator, or several, is decided.
func match(operators string, decide func(t Term, value string, has bool) bool) func(*Server) {
	return func(s *Server) {
		s.MatchLabel = func(t Term, labels map[string]string) bool {
			if !slices.Contains(strings.Split(operators, " "), t.Op) {
				return t.MatchLabel(labels)
			}
			value, has := labels[t.Key]
			return decide(t, value, has)
		}
	}
}

// anyValue says whether a value meets one of the term's by a looser measure.
func anyValue(t Term, same func(want string) bool) bool { return slices.ContainsFunc(t.Values, same) }

// labelMutants get label selectors wrong.
func labelMutants() []Mutant {
	yes := func(Term, string, bool) bool { return true }
	no := func(Term, string, bool) bool { return false }
	terms := func(change func([]Term) []Term) func(*Server) {
		return func(s *Server) {
			s.ParseLabels = func(text string) ([]Term, error) {
				terms, err := ParseLabels(text)
				return change(terms), err
			}
		}
	}
	refused := func(is func(Term) bool) func(*Server) {
		return func(s *Server) {
			s.ParseLabels = func(text string) ([]Term, error) {
				terms, err := ParseLabels(text)
				if i := slices.IndexFunc(terms, is); i >= 0 {
					return nil, fmt.Errorf("unable to parse requirement: %q", text)
				}
				return terms, err
			}
		}
	}
	parsed := func(change func(text string) string) func(*Server) {
		return func(s *Server) {
			s.ParseLabels = func(text string) ([]Term, error) { return ParseLabels(change(text)) }
		}
	}
	query := func(change func(namespace string, q url.Values)) func(*Server) {
		return func(s *Server) { s.Query = change }
	}
	key := func(change func(t Term, labels map[string]string) bool) func(*Server) {
		return func(s *Server) { s.MatchLabel = change }
	}
	return of(Selector,
		// = and ==
		Mutant{Name: "equals-any-case", Fault: match("= ==", func(t Term, v string, has bool) bool { return has && strings.EqualFold(v, t.Values[0]) })},
		Mutant{Name: "equals-prefix", Fault: match("= ==", func(t Term, v string, has bool) bool { return has && strings.HasPrefix(v, t.Values[0]) })},
		Mutant{Name: "equals-prefix-unless-empty", Fault: match("= ==", func(t Term, v string, has bool) bool {
			return has && (v == t.Values[0] || t.Values[0] != "" && strings.HasPrefix(v, t.Values[0]))
		})},
		Mutant{Name: "equals-substring", Fault: match("= ==", func(t Term, v string, has bool) bool { return has && strings.Contains(v, t.Values[0]) })},
		Mutant{Name: "equals-longer-value", Fault: match("= ==", func(t Term, v string, has bool) bool { return has && v != "" && strings.HasPrefix(t.Values[0], v) })},
		Mutant{Name: "equals-key-only", Fault: match("= ==", func(_ Term, _ string, has bool) bool { return has })},
		Mutant{Name: "equals-value-under-any-key", Fault: key(func(t Term, labels map[string]string) bool {
			if t.Op != "=" && t.Op != "==" {
				return t.MatchLabel(labels)
			}
			for _, v := range labels {
				if v == t.Values[0] {
					return true
				}
			}
			return false
		})},
		Mutant{Name: "equals-empty-without-key", Fault: match("= ==", func(t Term, v string, _ bool) bool { return v == t.Values[0] })},
		Mutant{Name: "equals-empty-is-everything", Fault: match("= ==", func(t Term, v string, has bool) bool { return t.Values[0] == "" || has && v == t.Values[0] })},
		Mutant{Name: "equals-empty-is-nothing", Fault: match("= ==", func(t Term, v string, has bool) bool { return has && v != "" && v == t.Values[0] })},
		Mutant{Name: "equals-everything", Fault: match("= ==", yes)},
		Mutant{Name: "equals-nothing", Fault: match("= ==", no)},
		Mutant{Name: "double-equals-refused", Fault: refused(func(t Term) bool { return t.Op == "==" })},
		Mutant{Name: "double-equals-nothing", Fault: match("==", no)},
		Mutant{Name: "double-equals-everything", Fault: match("==", yes)},

		// !=
		Mutant{Name: "not-equals-needs-key", Fault: match("!=", func(t Term, v string, has bool) bool { return has && v != t.Values[0] })},
		Mutant{Name: "not-equals-as-equals", Fault: match("!=", func(t Term, v string, has bool) bool { return has && v == t.Values[0] })},
		Mutant{Name: "not-equals-everything", Fault: match("!=", yes)},
		Mutant{Name: "not-equals-without-key-only", Fault: match("!=", func(_ Term, _ string, has bool) bool { return !has })},
		Mutant{Name: "not-equals-any-case", Fault: match("!=", func(t Term, v string, has bool) bool { return !has || !strings.EqualFold(v, t.Values[0]) })},
		Mutant{Name: "not-equals-prefix", Fault: match("!=", func(t Term, v string, has bool) bool { return !has || !strings.HasPrefix(v, t.Values[0]) })},
		Mutant{Name: "not-equals-refused", Fault: refused(func(t Term) bool { return t.Op == "!=" })},
		Mutant{Name: "not-equals-unknown-key-is-nothing", Fault: func(s *Server) {
			s.MatchLabel = func(t Term, labels map[string]string) bool {
				known := slices.ContainsFunc(s.Objects, func(o Object) bool { _, has := o.Labels[t.Key]; return has })
				return (known || t.Op != "!=") && t.MatchLabel(labels)
			}
		}},

		// in
		Mutant{Name: "in-first-value-only", Fault: match("in", func(t Term, v string, has bool) bool { return has && v == t.Values[0] })},
		Mutant{Name: "in-last-value-only", Fault: match("in", func(t Term, v string, has bool) bool { return has && v == t.Values[len(t.Values)-1] })},
		Mutant{Name: "in-all-values", Fault: match("in", func(t Term, v string, has bool) bool {
			return has && !slices.ContainsFunc(t.Values, func(want string) bool { return want != v })
		})},
		Mutant{Name: "in-any-case", Fault: match("in", func(t Term, v string, has bool) bool {
			return has && anyValue(t, func(want string) bool { return strings.EqualFold(want, v) })
		})},
		Mutant{Name: "in-prefix", Fault: match("in", func(t Term, v string, has bool) bool {
			return has && anyValue(t, func(want string) bool { return strings.HasPrefix(v, want) })
		})},
		Mutant{Name: "in-substring-of-the-set", Fault: match("in", func(t Term, v string, has bool) bool { return has && strings.Contains(strings.Join(t.Values, ","), v) })},
		Mutant{Name: "in-includes-absent", Fault: match("in", func(t Term, v string, has bool) bool { return !has || slices.Contains(t.Values, v) })},
		Mutant{Name: "in-as-notin", Fault: match("in", func(t Term, v string, has bool) bool { return !has || !slices.Contains(t.Values, v) })},
		Mutant{Name: "in-everything", Fault: match("in", yes)},
		Mutant{Name: "in-refused", Fault: refused(func(t Term) bool { return t.Op == "in" })},
		Mutant{Name: "in-third-value-lost", Fault: match("in", func(t Term, v string, has bool) bool {
			return has && slices.Contains(t.Values[:min(2, len(t.Values))], v)
		})},

		// notin
		Mutant{Name: "notin-needs-key", Fault: match("notin", func(t Term, v string, has bool) bool { return has && !slices.Contains(t.Values, v) })},
		Mutant{Name: "notin-first-value-only", Fault: match("notin", func(t Term, v string, has bool) bool { return !has || v != t.Values[0] })},
		Mutant{Name: "notin-last-value-only", Fault: match("notin", func(t Term, v string, has bool) bool { return !has || v != t.Values[len(t.Values)-1] })},
		Mutant{Name: "notin-as-in", Fault: match("notin", func(t Term, v string, has bool) bool { return has && slices.Contains(t.Values, v) })},
		Mutant{Name: "notin-everything", Fault: match("notin", yes)},
		Mutant{Name: "notin-any-case", Fault: match("notin", func(t Term, v string, has bool) bool {
			return !has || !anyValue(t, func(want string) bool { return strings.EqualFold(want, v) })
		})},
		Mutant{Name: "notin-refused", Fault: refused(func(t Term) bool { return t.Op == "notin" })},

		// key and !key
		Mutant{Name: "exists-everything", Fault: match("", yes)},
		Mutant{Name: "exists-nothing", Fault: match("", no)},
		Mutant{Name: "exists-needs-value", Fault: match("", func(_ Term, v string, _ bool) bool { return v != "" })},
		Mutant{Name: "exists-as-not-exists", Fault: match("", func(_ Term, _ string, has bool) bool { return !has })},
		Mutant{Name: "exists-means-true", Fault: match("", func(_ Term, v string, _ bool) bool { return v == "true" })},
		Mutant{Name: "exists-key-prefix", Fault: key(func(t Term, labels map[string]string) bool {
			if t.Op != "" {
				return t.MatchLabel(labels)
			}
			for k := range labels {
				if strings.HasPrefix(k, t.Key) {
					return true
				}
			}
			return false
		})},
		Mutant{Name: "not-exists-as-exists", Fault: match("!", func(_ Term, _ string, has bool) bool { return has })},
		Mutant{Name: "not-exists-everything", Fault: match("!", yes)},
		Mutant{Name: "not-exists-nothing", Fault: match("!", no)},
		Mutant{Name: "not-exists-includes-empty-value", Fault: match("!", func(_ Term, v string, _ bool) bool { return v == "" })},
		Mutant{Name: "not-exists-refused", Fault: refused(func(t Term) bool { return t.Op == "!" })},

		// keys
		Mutant{Name: "key-any-case", Fault: key(func(t Term, labels map[string]string) bool {
			for k := range labels {
				if strings.EqualFold(k, t.Key) {
					t.Key = k
				}
			}
			return t.MatchLabel(labels)
		})},
		Mutant{Name: "key-without-its-prefix", Fault: key(func(t Term, labels map[string]string) bool {
			bare := map[string]string{}
			for k, v := range labels {
				bare[k[strings.LastIndexByte(k, '/')+1:]] = v
			}
			t.Key = t.Key[strings.LastIndexByte(t.Key, '/')+1:]
			return t.MatchLabel(bare)
		})},
		Mutant{Name: "key-with-prefix-refused", Fault: refused(func(t Term) bool { return strings.Contains(t.Key, "/") })},
		Mutant{Name: "key-with-prefix-never-there", Fault: key(func(t Term, labels map[string]string) bool {
			if strings.Contains(t.Key, "/") {
				labels = nil
			}
			return t.MatchLabel(labels)
		})},
		Mutant{Name: "key-with-prefix-ignored", Fault: key(func(t Term, labels map[string]string) bool {
			return strings.Contains(t.Key, "/") || t.MatchLabel(labels)
		})},
		Mutant{Name: "unknown-key-ignored", Fault: func(s *Server) {
			s.MatchLabel = func(t Term, labels map[string]string) bool {
				known := slices.ContainsFunc(s.Objects, func(o Object) bool { _, has := o.Labels[t.Key]; return has })
				return !known || t.MatchLabel(labels)
			}
		}},
		Mutant{Name: "annotations-selected-too", Fault: both(add("prod/vm05", `"metadata":{`, `"annotations":{"app":"web"}`), change("prod/vm05", func(o Object) Object {
			o.Labels = map[string]string{"app": "web"}
			return o
		}))},

		// several terms
		Mutant{Name: "terms-first-only", Fault: func(s *Server) { s.All = func(met []bool) bool { return met[0] } }},
		Mutant{Name: "terms-last-only", Fault: func(s *Server) { s.All = func(met []bool) bool { return met[len(met)-1] } }},
		Mutant{Name: "terms-any", Fault: func(s *Server) { s.All = func(met []bool) bool { return slices.Contains(met, true) } }},
		Mutant{Name: "terms-third-ignored", Fault: func(s *Server) {
			s.All = func(met []bool) bool { return !slices.Contains(met[:min(2, len(met))], false) }
		}},
		Mutant{Name: "terms-of-one-key-last-wins", Fault: terms(func(terms []Term) []Term {
			return slices.DeleteFunc(slices.Clone(terms), func(t Term) bool {
				last := t
				for _, u := range terms {
					if u.Key == t.Key {
						last = u
					}
				}
				return last.Op != t.Op || !slices.Equal(last.Values, t.Values)
			})
		})},
		Mutant{Name: "terms-refused", Fault: func(s *Server) {
			s.ParseLabels = func(text string) ([]Term, error) {
				terms, err := ParseLabels(text)
				if len(terms) > 1 {
					return nil, fmt.Errorf("unable to parse requirement: %q", text)
				}
				return terms, err
			}
		}},
		Mutant{Name: "terms-negative-first-ignored", Fault: terms(func(terms []Term) []Term {
			if len(terms) > 1 && (terms[0].Op == "!=" || terms[0].Op == "!" || terms[0].Op == "notin") {
				return terms[1:]
			}
			return terms
		})},
		Mutant{Name: "set-behind-a-term-lost", Fault: parsed(func(text string) string {
			if i := strings.Index(text, ","); i > 0 && !strings.Contains(text[:i], "(") && strings.Contains(text[i:], "(") {
				return text[:i]
			}
			return text
		})},

		// how it is written
		Mutant{Name: "space-in-a-set-kept", Fault: func(s *Server) {
			s.ParseLabels = func(text string) ([]Term, error) {
				terms, err := ParseLabels(text)
				if strings.Contains(text, ", ") {
					for i := range terms {
						for j := 1; j < len(terms[i].Values); j++ {
							terms[i].Values[j] = " " + terms[i].Values[j]
						}
					}
				}
				return terms, err
			}
		}},
		Mutant{Name: "plus-is-no-space", Fault: rewritten(func(r *http.Request) { r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, "+", "%2B") })},
		Mutant{Name: "selector-decoded-twice", Fault: query(func(_ string, q url.Values) {
			if text, err := url.QueryUnescape(q.Get("labelSelector")); err == nil && q.Has("labelSelector") {
				q.Set("labelSelector", text)
			}
		})},

		// where it counts
		Mutant{Name: "selector-ignored", Fault: query(func(_ string, q url.Values) { q.Del("labelSelector") })},
		Mutant{Name: "selector-ignored-for-all-namespaces", Fault: query(func(namespace string, q url.Values) {
			if namespace == "" {
				q.Del("labelSelector")
			}
		})},
		Mutant{Name: "selector-ignored-in-a-namespace", Fault: query(func(namespace string, q url.Values) {
			if namespace != "" {
				q.Del("labelSelector")
			}
		})},
		Mutant{Name: "selector-ignored-with-limit", Fault: query(func(_ string, q url.Values) {
			if q.Has("limit") {
				q.Del("labelSelector")
			}
		})},
		Mutant{Name: "selector-ignored-with-field-selector", Fault: query(func(_ string, q url.Values) {
			if q.Has("fieldSelector") {
				q.Del("labelSelector")
			}
		})},
		Mutant{Name: "one-object-indexed-by-old-labels", Fault: change("stage/vm14", func(o Object) Object {
			o.Labels = map[string]string{"app": "cache", "tier": "gold", "kubevirt.io/os": "Fedora"}
			return o
		})},
		Mutant{Name: "one-object-not-indexed", Fault: change("prod/vm09", func(o Object) Object {
			o.Labels = nil
			return o
		})},
	)
}

// fieldMutants get field selectors wrong.
func fieldMutants() []Mutant {
	field := func(decide func(t Term, o Object) bool) func(*Server) {
		return func(s *Server) { s.MatchField = decide }
	}
	unknown := regexp.MustCompile(`(^|,)(spec|status)\.`)
	return of(Selector,
		Mutant{Name: "field-ignored", Fault: field(func(Term, Object) bool { return true })},
		Mutant{Name: "field-name-ignored", Fault: field(func(t Term, o Object) bool { return t.Key == "metadata.name" || t.MatchField(o) })},
		Mutant{Name: "field-namespace-ignored", Fault: field(func(t Term, o Object) bool { return t.Key == "metadata.namespace" || t.MatchField(o) })},
		Mutant{Name: "field-name-prefix", Fault: field(func(t Term, o Object) bool {
			if t.Key != "metadata.name" {
				return t.MatchField(o)
			}
			return strings.HasPrefix(o.Name, t.Values[0]) == (t.Op != "!=")
		})},
		Mutant{Name: "field-name-any-case", Fault: field(func(t Term, o Object) bool {
			if t.Key != "metadata.name" {
				return t.MatchField(o)
			}
			return strings.EqualFold(o.Name, t.Values[0]) == (t.Op != "!=")
		})},
		Mutant{Name: "field-not-equals-as-equals", Fault: field(func(t Term, o Object) bool { t.Op = "="; return t.MatchField(o) })},
		Mutant{Name: "field-not-equals-ignored", Fault: field(func(t Term, o Object) bool { return t.Op == "!=" || t.MatchField(o) })},
		Mutant{Name: "field-double-equals-ignored", Fault: field(func(t Term, o Object) bool { return t.Op == "==" || t.MatchField(o) })},
		Mutant{Name: "field-terms-first-only", Fault: func(s *Server) {
			s.ParseFields = func(text string) ([]Term, error) {
				terms, err := ParseFields(text)
				return terms[:min(1, len(terms))], err
			}
		}},
		Mutant{Name: "field-unknown-ignored", Fault: func(s *Server) {
			s.ParseFields = func(text string) ([]Term, error) {
				terms, err := ParseFields(text)
				if err != nil {
					return nil, nil
				}
				return terms, nil
			}
		}},
		Mutant{Name: "field-unknown-500", Fault: answer(isList, func(code int, b string) (int, string) {
			if code != 400 || !strings.Contains(b, "field label not supported") {
				return code, b
			}
			return Failure{Code: 500, Reason: "InternalError", Message: "no such column"}.status()
		})},
		Mutant{Name: "field-phase-taken-but-ignored", Fault: func(s *Server) {
			s.ParseFields = func(text string) ([]Term, error) {
				if unknown.MatchString(text) {
					return nil, nil
				}
				return ParseFields(text)
			}
		}},
		Mutant{Name: "field-ignored-for-all-namespaces", Fault: func(s *Server) {
			s.Query = func(namespace string, q url.Values) {
				if namespace == "" {
					q.Del("fieldSelector")
				}
			}
		}},
		Mutant{Name: "field-ignored-with-label-selector", Fault: func(s *Server) {
			s.Query = func(_ string, q url.Values) {
				if q.Has("labelSelector") {
					q.Del("fieldSelector")
				}
			}
		}},
		Mutant{Name: "field-name-finds-one-only", Fault: func(s *Server) { // two namespaces have a vm10
			seen := map[string]bool{}
			s.Before = func(*Server) { clear(seen) }
			s.MatchField = func(t Term, o Object) bool {
				if !t.MatchField(o) || t.Key == "metadata.name" && t.Op != "!=" && seen[o.Name] {
					return false
				}
				seen[o.Name] = true
				return true
			}
		}},
	)
}
