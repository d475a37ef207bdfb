package mutant

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
)

// writeMutants do something else than they are asked to write, or say so.
func writeMutants() []Mutant {
	return needing(NeedsWrite, of(Write, slices.Concat(createMutants(), nameMutants(), updateMutants(), patchMutants(), deleteMutants())...))
}

// createMutants create something else, or say so; a dry run is one that is not done.
func createMutants() []Mutant {
	return []Mutant{
		// dry runs
		{Name: "dry-run-creates", Fault: wet(http.MethodPost)},
		{Name: "dry-run-of-a-create-is-a-status", Fault: answer(dryOf(http.MethodPost), isDone)},
		{Name: "dry-run-of-a-create-has-another-name", Fault: told(dryOf(http.MethodPost), within(func(m Tree) { m["name"] = "dry-run" }))},
		{Name: "dry-run-of-a-create-500", Fault: refused(dryOf(http.MethodPost), 201, 500, "InternalError")},
		{Name: "dry-run-deletes-nothing-with-200", Fault: answer(dryOf(http.MethodDelete), isDone)},
		{Name: "dry-run-deletes", Fault: wet(http.MethodDelete)},
		{Name: "dry-run-patches", Fault: wet(http.MethodPatch)},
		{Name: "dry-run-of-a-patch-shows-what-is", Fault: func(s *Server) {
			answered := s.Writing.Answered
			s.Writing.Answered = func(r *http.Request, o Object) string {
				if dryOf(http.MethodPatch)(r) {
					o, _ = s.FindObject(o.Namespace, o.Name)
				}
				return answered(r, o)
			}
		}},

		// creates
		{Name: "create-not-done", Fault: undone(isCreate)},
		{Name: "create-200", Warns: true, Fault: code(isCreate, 201, 200)},
		{Name: "create-202-and-a-status", Fault: answer(isCreate, func(int, string) (int, string) { _, b := isDone(0, ""); return http.StatusAccepted, b })},
		{Name: "create-half-a-body", Fault: bodyOf(isCreate, 201, func(b string) string { return b[:len(b)/2] })},
		{Name: "create-loses-labels", Fault: sent(isCreate, lose("metadata", "labels"))},
		{Name: "create-loses-one-label", Fault: sent(isCreate, lose("metadata", "labels", stepLabel))},
		{Name: "create-loses-annotations", Fault: sent(isCreate, lose("metadata", "annotations"))},
		{Name: "create-cuts-annotations", Fault: sent(isCreate, func(t Tree) { annotations(t)[reasonAnnotation] = str(annotations(t)[reasonAnnotation])[:20] })},
		{Name: "create-loses-the-node-selector", Fault: sent(isCreate, lose("spec", "nodeSelector"))},
		{Name: "create-loses-tolerations", Fault: sent(isCreate, lose("spec", "tolerations"))},
		{Name: "create-loses-items", Fault: sent(isCreate, losesItems)},
		{Name: "create-rounds-large-numbers", Fault: sent(isCreate, rounds)},
		{Name: "create-loses-zeros", Fault: sent(isCreate, lose("spec", "terminationGracePeriodSeconds"))},
		{Name: "create-loses-false", Fault: sent(isCreate, lose("spec", "domain", "devices", "autoattachPodInterface"))},
		{Name: "create-tells-no-uid", Fault: told(isCreate, lose("metadata", "uid"))},
		{Name: "create-tells-another-uid", Fault: told(isCreate, within(func(m Tree) { m["uid"] = otherUID }))},
		{Name: "create-tells-no-creation-timestamp", Fault: told(isCreate, lose("metadata", "creationTimestamp"))},
		{Name: "create-tells-another-time", Fault: told(isCreate, within(func(m Tree) { m["creationTimestamp"] = "1970-01-01T00:00:00Z" }))},
		{Name: "create-tells-no-resource-version", Fault: told(isCreate, lose("metadata", "resourceVersion"))},
		{Name: "create-tells-what-is-not-stored", Fault: told(isCreate, func(t Tree) { part(t, "status")["phase"] = "Pending" })},
		{Name: "create-not-listed", Fault: rewritten(func(r *http.Request) {
			if selects("created")(r) {
				r.URL.RawQuery = "labelSelector=nothing%3Dhas-it"
			}
		})},
		{Name: "create-listed-twice", Fault: func(s *Server) {
			many := s.SelectThenLimit
			s.SelectThenLimit = func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
				page, next := many(items, selected, start, limit)
				if len(page) == 1 && isMade(page[0]) {
					page = append(page, page[0])
				}
				return page, next
			}
		}},
		{Name: "created-in-another-year", Warns: true, Fault: func(s *Server) {
			store := s.Writing.Store
			back := func(o Object) Object {
				t := o.tree()
				metadata(t)["creationTimestamp"] = "1970-01-01T00:00:00Z"
				return object(t)
			}
			s.Writing.Store = func(r *http.Request, e Event) {
				if e.Type == "ADDED" {
					e.After = back(e.After)
				}
				store(r, e)
			}
			told(isCreate, within(func(m Tree) { m["creationTimestamp"] = "1970-01-01T00:00:00Z" }))(s)
		}},
		{Name: "list-stays-at-an-old-resource-version", Fault: func(s *Server) {
			s.Meta = func(_ string, _ url.Values, meta map[string]any) { meta["resourceVersion"] = "1000" }
		}},
	}
}

// nameMutants confuse machines with others.
func nameMutants() []Mutant {
	return []Mutant{
		// names that are taken
		{Name: "taken-name-200", Fault: shows(isCreate, 409)},
		{Name: "taken-name-made-anew", Fault: func(s *Server) { s.Writing.Taken = func(string, string) bool { return false } }},
		{Name: "taken-name-is-a-conflict", Fault: refused(isCreate, 409, 409, "Conflict")},
		{Name: "taken-name-422", Fault: refused(isCreate, 409, 422, "Invalid")},
		{Name: "taken-name-400", Fault: refused(isCreate, 409, 400, "BadRequest")},
		{Name: "taken-name-500", Fault: refused(isCreate, 409, 500, "InternalError")},
		{Name: "taken-name-refused-and-overwritten", Fault: func(s *Server) {
			s.Writing.Sent = func(r *http.Request, t Tree) {
				if name := str(metadata(t)["name"]); isCreate(r) && s.Writing.Taken(ask(r).namespace, name) {
					s.Touch(ask(r).namespace, name, stepLabel, str(labels(t)[stepLabel]))
				}
			}
		}},

		// generated names
		{Name: "generated-name-twice", Fault: func(s *Server) {
			s.Writing.NewName = func(generateName string) string { return generateName + "00000" }
		}},
		{Name: "generated-name-twice-with-201", Fault: func(s *Server) {
			s.Writing.NewName = func(generateName string) string { return generateName + "00000" }
			taken := s.Writing.Taken
			s.Writing.Taken = func(namespace, name string) bool { return !strings.HasSuffix(name, "-00000") && taken(namespace, name) }
		}},
		{Name: "generated-name-begins-otherwise", Fault: func(s *Server) {
			s.Writing.NewName = func(string) string { return fmt.Sprintf("machine-%05d", s.Writing.made) }
		}},
		{Name: "generated-name-is-its-beginning", Fault: func(s *Server) {
			s.Writing.NewName = func(generateName string) string { return strings.TrimSuffix(generateName, "-") }
		}},
		{Name: "generated-name-not-told", Fault: told(isCreate, within(func(m Tree) {
			if _, has := m["generateName"]; has {
				m["name"] = m["generateName"]
			}
		}))},
		{Name: "generated-machine-not-made", Fault: func(s *Server) {
			store := s.Writing.Store
			s.Writing.Store = func(r *http.Request, e Event) {
				if !strings.Contains(e.After.Body, `"generateName"`) {
					store(r, e)
				}
			}
		}},
		{Name: "generate-name-refused", Fault: func(s *Server) {
			send := s.Send
			generates := false
			s.Writing.Sent = func(_ *http.Request, t Tree) { generates = metadata(t)["generateName"] != nil }
			store := s.Writing.Store
			s.Writing.Store = func(r *http.Request, e Event) {
				if !generates {
					store(r, e)
				}
			}
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if isCreate(r) && generates {
					code, body = Failure{Code: 422, Reason: "Invalid", Message: "a name is required"}.status()
				}
				generates = false
				send(w, r, code, body)
			}
		}},

		// namespaces
		{Name: "made-in-every-namespace", Fault: func(s *Server) {
			s.Find = func(namespace, name string) (Object, bool) {
				i := slices.IndexFunc(s.Objects, func(o Object) bool { return o.Name == name && (o.Namespace == namespace || isMade(o)) })
				if i < 0 {
					return Object{}, false
				}
				return s.Objects[i], true
			}
		}},
		{Name: "made-listed-in-every-namespace", Fault: func(s *Server) {
			s.InNamespace = func(namespace string, o Object) bool { return namespace == "" || o.Namespace == namespace || isMade(o) }
		}},
		{Name: "made-listed-in-one-other-namespace", Fault: func(s *Server) {
			s.InNamespace = func(namespace string, o Object) bool {
				return namespace == "" || o.Namespace == namespace || namespace == "stage" && isMade(o)
			}
		}},
		{Name: "made-not-among-all", Fault: func(s *Server) {
			s.InNamespace = func(namespace string, o Object) bool {
				return namespace == "" && !isMade(o) || o.Namespace == namespace
			}
		}},
	}
}

// updateMutants take a PUT for something else.
func updateMutants() []Mutant {
	return []Mutant{
		// updates
		{Name: "update-not-done", Fault: undone(isPut)},
		{Name: "update-405", Fault: refused(isPut, 200, 405, "MethodNotAllowed")},
		{Name: "update-404", Fault: refused(isPut, 200, 404, "NotFound")},
		{Name: "update-tells-a-status", Fault: answer(isPut, isDone)},
		{Name: "update-tells-another-uid", Fault: told(isPut, within(func(m Tree) { m["uid"] = otherUID }))},
		{Name: "update-makes-another-object", Fault: kept(func(_, after Tree) { metadata(after)["uid"] = otherUID })},
		{Name: "update-moves-the-creation-timestamp", Fault: kept(func(_, after Tree) { metadata(after)["creationTimestamp"] = "2026-05-01T08:00:00Z" })},
		{Name: "update-tells-the-old-resource-version", Fault: func(s *Server) {
			was := ""
			s.Writing.Sent = func(_ *http.Request, t Tree) { was = str(metadata(t)["resourceVersion"]) }
			told(isPut, within(func(m Tree) { m["resourceVersion"] = was }))(s)
		}},
		{Name: "update-keeps-the-resource-version", Fault: func(s *Server) {
			next := s.Writing.Next
			was := int64(0)
			s.Writing.Sent = func(r *http.Request, t Tree) {
				if was = 0; isPut(r) {
					_, _ = fmt.Sscan(str(metadata(t)["resourceVersion"]), &was)
				}
			}
			s.Writing.Next = func() int64 {
				if now := was; now != 0 {
					was = 0
					return now
				}
				return next()
			}
		}},
		{Name: "update-moves-the-resource-version-back", Fault: told(isPut, within(func(m Tree) { m["resourceVersion"] = "1" }))},
		{Name: "update-loses-labels", Fault: sent(isPut, lose("metadata", "labels"))},
		{Name: "update-loses-annotations", Fault: sent(isPut, lose("metadata", "annotations"))},
		{Name: "update-ignores-annotations", Fault: kept(func(before, after Tree) { metadata(after)["annotations"] = metadata(before)["annotations"] })},
		{Name: "update-loses-tolerations", Fault: sent(isPut, lose("spec", "tolerations"))},
		{Name: "update-rounds-large-numbers", Fault: sent(isPut, rounds)},
		{Name: "update-loses-zeros", Fault: sent(isPut, lose("spec", "terminationGracePeriodSeconds"))},
		{Name: "update-raises-the-generation-for-metadata", Fault: kept(func(before, after Tree) {
			if now := metadata(after); !reflect.DeepEqual(metadata(before)["annotations"], now["annotations"]) {
				now["generation"] = json.Number(fmt.Sprint(now["generation"]) + "0")
			}
		})},
		{Name: "update-not-read-at-once", Fault: stale(func(r *http.Request) bool { return isGet(r) && r.Method == http.MethodGet }, isPut)},

		// what changes nothing
		{Name: "no-op-moves-the-resource-version", Warns: true, Fault: func(s *Server) { s.Writing.Same = func(_, _ Tree) bool { return false } }},
		{Name: "no-op-304", Fault: func(s *Server) {
			same := s.Writing.Same
			nothing := false
			s.Writing.Same = func(before, after Tree) bool { nothing = same(before, after); return nothing }
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if isPut(r) && nothing {
					code, body = http.StatusNotModified, ""
				}
				nothing = false
				send(w, r, code, body)
			}
		}},

		// conflicts
		{Name: "stale-update-taken", Fault: func(s *Server) {
			s.Writing.Current = func(r *http.Request, sent, now string) bool { return isPut(r) || sent == "" || sent == now }
		}},
		{Name: "stale-merge-patch-taken", Fault: func(s *Server) {
			s.Writing.Current = func(r *http.Request, sent, now string) bool { return isMerge(r) || sent == "" || sent == now }
		}},
		{Name: "conflict-200", Fault: shows(isPut, 409)},
		{Name: "conflict-of-a-patch-200", Fault: shows(isMerge, 409)},
		{Name: "conflict-is-already-exists", Fault: refused(isPut, 409, 409, "AlreadyExists")},
		{Name: "conflict-412", Fault: refused(isPut, 409, 412, "Conflict")},
		{Name: "conflict-of-a-patch-422", Fault: refused(isMerge, 409, 422, "Invalid")},
		{Name: "conflict-told-and-overwritten", Fault: func(s *Server) {
			current := s.Writing.Current
			overwritten := false
			s.Writing.Current = func(r *http.Request, sent, now string) bool { overwritten = !current(r, sent, now); return true }
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if overwritten {
					code, body = conflict("vm").(*refusal).status()
				}
				overwritten = false
				send(w, r, code, body)
			}
		}},
		{Name: "conflict-has-another-code-inside", Fault: bodyOf(isPut, 409, func(b string) string { return strings.Replace(b, `"code":409`, `"code":412`, 1) })},
		{Name: "conflict-is-no-status", Fault: bodyOf(isPut, 409, func(string) string { return `{"error":"conflict"}` })},
		{Name: "conflict-is-a-page", Fault: header(isPut, 409, "Content-Type", "text/html")},
	}
}

// patchMutants take a patch for something else.
func patchMutants() []Mutant {
	return []Mutant{
		// merge patches
		{Name: "merge-patch-415", Fault: refused(isMerge, 200, 415, "UnsupportedMediaType")},
		{Name: "merge-patch-not-done", Fault: undone(isMerge)},
		{Name: "merge-patch-ignores-labels", Fault: func(s *Server) {
			s.Writing.Merge = func(machine, patch Tree) { lose("metadata", "labels")(patch); merge(machine, patch) }
		}},
		{Name: "merge-patch-replaces-labels", Fault: func(s *Server) {
			s.Writing.Merge = func(machine, patch Tree) {
				if now, has := metadata(patch)["labels"]; has {
					metadata(machine)["labels"] = now
				}
				merge(machine, patch)
			}
		}},
		{Name: "merge-patch-replaces-metadata", Fault: func(s *Server) {
			s.Writing.Merge = func(machine, patch Tree) { machine["metadata"] = metadata(patch) }
		}},
		{Name: "merge-patch-keeps-what-is-null", Fault: func(s *Server) {
			s.Writing.Merge = func(machine, patch Tree) {
				maps.DeleteFunc(annotations(patch), func(_ string, v any) bool { return v == nil })
				merge(machine, patch)
			}
		}},
		{Name: "merge-patch-empties-what-is-null", Fault: func(s *Server) {
			s.Writing.Merge = func(machine, patch Tree) {
				if v, has := annotations(patch)[noteAnnotation]; has && v == nil {
					annotations(patch)[noteAnnotation] = ""
				}
				merge(machine, patch)
			}
		}},
		{Name: "merge-patch-loses-tolerations", Fault: patched(lose("spec", "tolerations"))},
		{Name: "merge-patch-loses-items", Fault: patched(losesItems)},
		{Name: "merge-patch-rounds-large-numbers", Fault: patched(rounds)},
		{Name: "merge-patch-keeps-the-resource-version", Fault: func(s *Server) {
			was := ""
			s.Writing.Merge = func(machine, patch Tree) { was = str(metadata(machine)["resourceVersion"]); merge(machine, patch) }
			told(isMerge, within(func(m Tree) { m["resourceVersion"] = was }))(s)
		}},
		{Name: "list-does-not-know-a-new-label", Fault: rewritten(func(r *http.Request) {
			if selects("patched")(r) {
				r.URL.RawQuery = "labelSelector=nothing%3Dhas-it"
			}
		})},
		{Name: "list-knows-an-old-label", Fault: rewritten(func(r *http.Request) {
			if selects("created")(r) {
				r.URL.RawQuery = strings.Replace(r.URL.RawQuery, stepLabel+"%3Dcreated", stepLabel+"+in+%28created%2Cpatched%29", 1)
			}
		})},

		// JSON patches
		{Name: "json-patch-415", Fault: refused(isJSONPatch, 200, 415, "UnsupportedMediaType")},
		{Name: "json-patch-not-done", Fault: undone(isJSONPatch)},
		{Name: "json-patch-ignores-tests", Fault: func(s *Server) {
			s.Writing.Patch = func(machine Tree, ops []Operation) error { return patch(machine, ops[1:]) }
		}},
		{Name: "json-patch-stops-and-stays", Fault: func(s *Server) {
			s.Writing.Patch = func(machine Tree, ops []Operation) error {
				if err := patch(machine, ops[:1]); err == nil {
					return patch(machine, ops[1:])
				}
				s.Touch(str(metadata(machine)["namespace"]), str(metadata(machine)["name"]), stepLabel, str(ops[1].Value))
				return fmt.Errorf("too late")
			}
		}},
		{Name: "json-patch-does-two-operations", Fault: func(s *Server) {
			s.Writing.Patch = func(machine Tree, ops []Operation) error { return patch(machine, ops[:2]) }
		}},
		{Name: "json-patch-leaves-paths-escaped", Fault: func(s *Server) {
			s.Writing.Patch = func(machine Tree, ops []Operation) error {
				for i := range ops {
					ops[i].Path = strings.ReplaceAll(ops[i].Path, "~1", "~01")
				}
				return patch(machine, ops)
			}
		}},
		{Name: "json-patch-that-fails-200", Fault: shows(isJSONPatch, 422)},
		{Name: "json-patch-that-fails-500", Fault: refused(isJSONPatch, 422, 500, "InternalError")},
		{Name: "json-patch-rounds-large-numbers", Fault: func(s *Server) {
			s.Writing.Patch = func(machine Tree, ops []Operation) error { rounds(machine); return patch(machine, ops) }
		}},
	}
}

// deleteMutants delete too much or too little.
func deleteMutants() []Mutant {
	return []Mutant{
		// deletions
		{Name: "delete-ignores-the-uid", Fault: func(s *Server) {
			hit := s.Writing.Hit
			s.Writing.Hit = func(machine Tree, only map[string]string) bool { delete(only, "uid"); return hit(machine, only) }
		}},
		{Name: "delete-ignores-the-resource-version", Fault: func(s *Server) {
			hit := s.Writing.Hit
			s.Writing.Hit = func(machine Tree, only map[string]string) bool {
				delete(only, "resourceVersion")
				return hit(machine, only)
			}
		}},
		{Name: "delete-of-another-uid-200", Fault: shows(isDelete, 409)},
		{Name: "delete-of-another-uid-404", Fault: refused(isDelete, 409, 404, "NotFound")},
		{Name: "delete-of-another-uid-412", Fault: refused(isDelete, 409, 412, "Conflict")},
		{Name: "delete-of-another-uid-has-another-reason", Fault: refused(isDelete, 409, 409, "AlreadyExists")},
		{Name: "delete-of-another-uid-told-and-done", Fault: func(s *Server) {
			hit := s.Writing.Hit
			missed := false
			s.Writing.Hit = func(machine Tree, only map[string]string) bool { missed = !hit(machine, only); return true }
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if missed {
					code, body = conflict("vm").(*refusal).status()
				}
				missed = false
				send(w, r, code, body)
			}
		}},
		{Name: "delete-not-done", Fault: undone(isDelete)},
		{Name: "delete-only-marks", Warns: true, Fault: func(s *Server) {
			store := s.Writing.Store
			s.Writing.Store = func(r *http.Request, e Event) {
				if e.Type == "DELETED" {
					t := e.After.tree()
					metadata(t)["deletionTimestamp"], metadata(t)["deletionGracePeriodSeconds"] = time.Now().UTC().Format(time.RFC3339), json.Number("0")
					e.Type, e.After = "MODIFIED", object(t)
				}
				store(r, e)
			}
		}},
		{Name: "delete-404", Fault: refused(isDelete, 200, 404, "NotFound")},
		{Name: "deleted-still-read", Fault: stale(func(r *http.Request) bool { return isGet(r) && r.Method == http.MethodGet }, func(r *http.Request) bool {
			return isDelete(r) && strings.HasSuffix(r.URL.Path, "-a")
		})},
		{Name: "deleted-still-listed", Fault: func(s *Server) {
			var gone []Object
			storing(func(_ *Server, e Event) {
				if e.Type == "DELETED" {
					gone = append(gone, e.Before)
				}
			})(s)
			many := s.SelectThenLimit
			s.SelectThenLimit = func(items []Object, selected func(Object) bool, start, limit int) ([]Object, int) {
				return many(append(slices.Clone(items), gone...), selected, start, limit)
			}
		}},
		{Name: "delete-takes-others-too", Fault: storing(func(s *Server, e Event) {
			if e.Type == "DELETED" {
				s.Objects = slices.DeleteFunc(slices.Clone(s.Objects), isMade)
			}
		})},
		{Name: "delete-of-nothing-again-200", Fault: answer(isDelete, func(code int, body string) (int, string) {
			if code == http.StatusNotFound {
				return isDone(code, body)
			}
			return code, body
		})},
		{Name: "update-makes-what-is-not-there", Fault: func(s *Server) {
			s.Wrap(func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					a := ask(r)
					if _, there := s.FindObject(a.namespace, a.name); !isPut(r) || there {
						next.ServeHTTP(w, r)
						return
					}
					body, err := readTree(r.Body)
					if err != nil {
						panic(err)
					}
					e := Event{Type: "ADDED", Revision: s.Writing.Next()}
					metadata(body)["resourceVersion"] = fmt.Sprint(e.Revision)
					e.After = object(body)
					s.Writing.Store(r, e)
					s.Send(w, r, http.StatusCreated, e.After.Body)
				})
			})
		}},

		// what is left behind
		{Name: "generated-machine-not-deleted", Fault: undone(func(r *http.Request) bool { return isDelete(r) && strings.Contains(r.URL.Path, "-g-") })},
		{Name: "generated-machine-delete-405", Fault: rewritten(func(r *http.Request) {
			if isDelete(r) && strings.Contains(r.URL.Path, "-g-") {
				r.Method = "REMOVE"
			}
		})},
	}
}
