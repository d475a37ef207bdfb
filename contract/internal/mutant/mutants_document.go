package mutant

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// documentMutants are wrong by the document as it was given, in a server that has
// nothing but its two operations. The first ones are right by the wider profiles.
func documentMutants() []Mutant {
	denied := func(code int) func(*Server) {
		return func(s *Server) { s.Status = func(Failure) (int, string) { return code, "" } }
	}
	low := func(limit string) func(*Server) {
		return func(s *Server) {
			s.Query = func(_ string, q url.Values) {
				if q.Get("limit") == limit {
					q.Del("limit")
				}
			}
		}
	}
	const cpu = `"domain":{`
	mutants := []Mutant{
		// what KubeVirt has widened
		{Subject: Schema, Name: "document-eviction-strategy-of-kubevirt", Fault: edit("prod/vm04", `"evictionStrategy":"LiveMigrate"`, `"evictionStrategy":"LiveMigrateIfPossible"`)},
		{Subject: Schema, Name: "document-eviction-strategy-external", Fault: edit("prod/vm11", `"evictionStrategy":"LiveMigrate"`, `"evictionStrategy":"External"`)},
		{Subject: Schema, Name: "document-mac-with-dashes", Fault: edit("prod/vm00", `"02:00:00:00:00:01"`, `"02-00-00-00-00-01"`)},
		{Subject: Schema, Name: "document-mac-with-dots", Fault: edit("prod/vm06", `"02:00:00:00:00:07"`, `"0200.0000.0007"`)},
		{Subject: Schema, Name: "document-model-igb", Fault: edit("prod/vm02", `"model":"virtio"`, `"model":"igb"`)},
		{Subject: Schema, Name: "document-bus-usb", Fault: edit("prod/vm09", `"bus":"virtio"`, `"bus":"usb"`)},
		{Subject: Schema, Name: "document-cdrom-usb", Fault: edit("prod/vm08", `"bus":"sata"`, `"bus":"usb"`)},
		{Subject: Schema, Name: "document-phase-waiting-for-sync", Fault: change("prod/vm05", func(o Object) Object {
			o.Body = strings.ReplaceAll(o.Body, `"phase":"Running"`, `"phase":"WaitingForSync"`)
			return o
		})},
		{Subject: Schema, Name: "document-created-null", Fault: edit("prod/vm10", `"2026-05-01T08:00:11Z"`, `null`)},
		{Subject: Schema, Name: "document-phase-time-null", Fault: edit("prod/vm03", `"phaseTransitionTimestamp":"2026-05-01T08:00:00Z"`, `"phaseTransitionTimestamp":null`)},
		{Subject: Schema, Name: "document-uuid-free-form", Fault: add("prod/vm01", cpu, `"firmware":{"uuid":"asset-4711"}`)},

		// what every profile says
		{Subject: Schema, Name: "document-phase-not-in-enum", Fault: change("prod/vm07", func(o Object) Object {
			o.Body = strings.ReplaceAll(o.Body, `"phase":"Running"`, `"phase":"Active"`)
			return o
		})},
		{Subject: Schema, Name: "document-cores-string", Fault: edit("prod/vm02", `"cores":2`, `"cores":"2"`)},
		{Subject: Schema, Name: "document-metadata-without-name", Fault: replace(isGet, `"name":"vm`, `"title":"vm`)},
		{Subject: Schema, Name: "document-items-as-object", Fault: func(s *Server) {
			s.Envelope = func(items, _ string) string {
				return `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","items":{"item":[` + items + `]}}`
			}
		}},
		{Subject: JSON, Name: "document-key-twice", Fault: edit("prod/vm06", `"cores":2`, `"cores":1,"cores":2`)},
		{Subject: JSON, Name: "document-list-truncated", Fault: body(isList, func(b string) string { return b[:len(b)-30] })},
		{Subject: ContentType, Name: "document-list-text-plain", Fault: header(isList, 200, "Content-Type", "text/plain")},
		{Subject: Error, Name: "document-list-206", Fault: code(isList, 200, http.StatusPartialContent)},
		{Subject: Error, Name: "document-missing-object-200", Fault: failed(404, func(string) (int, string) { return 200, "{}" })},
		{Subject: Error, Name: "document-missing-object-410", Fault: code(anything, 404, http.StatusGone)},
		{Subject: Auth, Name: "document-401-is-500", Fault: func(s *Server) {
			s.Status = func(f Failure) (int, string) {
				if f.Code == http.StatusUnauthorized {
					return http.StatusInternalServerError, ""
				}
				return f.Code, ""
			}
		}},
		{Subject: Error, Name: "document-every-failure-500", Fault: denied(500)},
		{Subject: Auth, Name: "document-anonymous-gets", Fault: open(func(r *http.Request) bool { return anonymous(r) && isGet(r) })},
		{Subject: Auth, Name: "document-wrong-token-lists", Fault: open(func(r *http.Request) bool { return unknownToken(r) && isList(r) })},
		{Subject: Selector, Name: "document-selector-ignored", Fault: func(s *Server) {
			s.Query = func(_ string, q url.Values) { q.Del("labelSelector") }
		}},
		{Subject: Selector, Name: "document-not-equals-needs-key", Fault: match("!=", func(t Term, v string, has bool) bool { return has && v != t.Values[0] })},
		{Subject: Selector, Name: "document-field-ignored", Fault: func(s *Server) {
			s.Query = func(_ string, q url.Values) { q.Del("fieldSelector") }
		}},
		{Subject: Paging, Name: "document-limit-ignored", Fault: func(s *Server) {
			s.Query = func(_ string, q url.Values) { q.Del("limit") }
		}},
		{Subject: Paging, Name: "document-limit-one-more", Fault: func(s *Server) {
			s.Page = func(items []Object, start, limit int) ([]Object, int) {
				if limit > 0 {
					limit++
				}
				return page(items, start, limit)
			}
		}},
		{Subject: Paging, Name: "document-limit-before-selector", Fault: func(s *Server) {
			s.SelectThenLimit = func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
				kept, next := s.Page(items, start, limit)
				return slices.DeleteFunc(slices.Clone(kept), func(o Object) bool { return !selected(o) }), next
			}
		}},
		{Subject: Edge, Name: "document-name-any-case", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) { return s.FindObject(namespace, strings.ToLower(name)) }
		}},
		{Subject: Edge, Name: "document-nul-ends-the-name", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				before, _, _ := strings.Cut(name, "\x00")
				return s.FindObject(namespace, before)
			}
		}},
		{Subject: Edge, Name: "document-decoded-path-cleaned", Fault: func(s *Server) {
			s.Route = func(escaped string) (string, string, bool) {
				decoded, err := url.PathUnescape(escaped)
				if err != nil {
					return "", "", false
				}
				return route((&url.URL{Path: path.Clean(decoded)}).EscapedPath())
			}
		}},
		{Subject: Edge, Name: "document-long-selector-cut", Fault: func(s *Server) { s.Query = cutLongSelector }},
		{Subject: Edge, Name: "document-limit-zero-taken", Fault: low("0")},
		{Subject: Edge, Name: "document-limit-negative-taken", Fault: low("-1")},
		{Subject: Edge, Name: "document-limit-text-taken", Fault: func(s *Server) {
			parse := s.ParseLimit
			s.ParseLimit = func(text string) (int64, error) {
				n, err := parse(text)
				if err != nil {
					return 1 << 30, nil
				}
				return n, nil
			}
		}},
		{Subject: Namespace, Name: "document-namespace-ignored", Fault: func(s *Server) {
			s.InNamespace = func(string, Object) bool { return true }
		}},
		{Subject: Consistency, Name: "document-one-listed-not-gettable", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				o, ok := s.FindObject(namespace, name)
				return o, ok && name != "vm07"
			}
		}},
		{Subject: Consistency, Name: "document-one-get-stale", Fault: func(s *Server) {
			s.InGet = only("prod/vm08", `"nodeName":"node-1"`, `"nodeName":"node-2"`)
		}},
	}
	for i := range mutants {
		mutants[i].Profile = "document"
	}
	return mutants
}
