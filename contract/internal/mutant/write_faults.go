package mutant

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

// What requests write, dry runs aside.
var (
	isCreate    = done(http.MethodPost, "")
	isPut       = done(http.MethodPut, "")
	isMerge     = done(http.MethodPatch, "application/merge-patch+json")
	isJSONPatch = done(http.MethodPatch, "application/json-patch+json")
	isDelete    = done(http.MethodDelete, "")
)

func done(method, contentType string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return r.Method == method && !r.URL.Query().Has("dryRun") && strings.HasPrefix(r.Header.Get("Content-Type"), contentType)
	}
}

// dryOf is the dry run of a method.
func dryOf(method string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && r.URL.Query().Has("dryRun") }
}

// selects says that a request lists by a label with this value.
func selects(value string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		q := r.URL.Query()
		return r.Method == http.MethodGet && !q.Has("watch") && strings.HasSuffix(q.Get("labelSelector"), "="+value)
	}
}

// isMade says that an object was created and not there from the beginning.
func isMade(o Object) bool { return strings.Contains(o.Body, `"generation":`) }

// undone answers some writes as if they were done.
func undone(which func(*http.Request) bool) func(*Server) {
	return func(s *Server) {
		store := s.Writing.Store
		s.Writing.Store = func(r *http.Request, e Event) {
			if !which(r) {
				store(r, e)
			}
		}
	}
}

// wet does the dry runs of a method.
func wet(method string) func(*Server) {
	return func(s *Server) {
		dry := s.Writing.Dry
		s.Writing.Dry = func(r *http.Request) bool { return r.Method != method && dry(r) }
	}
}

// sent edits what POST and PUT send.
func sent(which func(*http.Request) bool, edit func(Tree)) func(*Server) {
	return func(s *Server) {
		s.Writing.Sent = func(r *http.Request, machine Tree) {
			if which(r) {
				edit(machine)
			}
		}
	}
}

// told edits the machines that some writes are answered with.
func told(which func(*http.Request) bool, edit func(Tree)) func(*Server) {
	return func(s *Server) {
		answered := s.Writing.Answered
		s.Writing.Answered = func(r *http.Request, o Object) string {
			if which(r) {
				t := o.tree()
				edit(t)
				o = object(t)
			}
			return answered(r, o)
		}
	}
}

// patched edits what merge patches make.
func patched(edit func(Tree)) func(*Server) {
	return func(s *Server) {
		merge := s.Writing.Merge
		s.Writing.Merge = func(machine, patch Tree) {
			merge(machine, patch)
			edit(machine)
		}
	}
}

// kept edits what updates make of a machine when all else is done.
func kept(edit func(before, after Tree)) func(*Server) {
	return func(s *Server) {
		keep := s.Writing.Keep
		s.Writing.Keep = func(before, after Tree) {
			keep(before, after)
			edit(before, after)
		}
	}
}

// storing does something beside what is stored.
func storing(beside func(s *Server, e Event)) func(*Server) {
	return func(s *Server) {
		store := s.Writing.Store
		s.Writing.Store = func(r *http.Request, e Event) {
			store(r, e)
			beside(s, e)
		}
	}
}

// within edits the metadata of a machine.
func within(edit func(meta Tree)) func(Tree) { return func(t Tree) { edit(metadata(t)) } }

func labels(t Tree) Tree      { return part(metadata(t), "labels") }
func annotations(t Tree) Tree { return part(metadata(t), "annotations") }

// lose removes a key, at the end of the keys of objects that lead there.
func lose(keys ...string) func(Tree) {
	return func(t Tree) {
		for _, key := range keys[:len(keys)-1] {
			t = part(t, key)
		}
		delete(t, keys[len(keys)-1])
	}
}

// rounds is what a double makes of a machine's numbers.
func rounds(t Tree) {
	var doubles map[string]any
	body, err := json.Marshal(t)
	if err == nil {
		err = json.Unmarshal(body, &doubles)
	}
	if err != nil {
		panic(err)
	}
	maps.Copy(t, object(doubles).tree())
}

// losesItems empties a list.
func losesItems(t Tree) { part(t, "spec")["tolerations"] = []any{} }

const otherUID = "11111111-2222-4333-8444-555555555555"

func isDone(int, string) (int, string) {
	return http.StatusOK, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}` + "\n"
}

// shows answers with the machine as it is where a write is refused.
func shows(which func(*http.Request) bool, from int) func(*Server) {
	return func(s *Server) {
		send := s.Send
		s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if which(r) && code == from {
				var status struct{ Details struct{ Name string } }
				_ = json.Unmarshal([]byte(body), &status)
				o, _ := s.FindObject(ask(r).namespace, status.Details.Name)
				code, body = http.StatusOK, o.Body
			}
			send(w, r, code, body)
		}
	}
}

// refused changes the failure that some writes are answered with.
func refused(which func(*http.Request) bool, from, to int, reason string) func(*Server) {
	return answer(which, func(code int, body string) (int, string) {
		if code != from {
			return code, body
		}
		return Failure{Code: to, Reason: reason, Message: "no"}.status()
	})
}

// bodyOf changes that of the answers with one status code.
func bodyOf(which func(*http.Request) bool, status int, change func(string) string) func(*Server) {
	return answer(which, func(code int, body string) (int, string) {
		if code == status {
			body = change(body)
		}
		return code, body
	})
}

// stale lets what a request reads be as it was before the first of the others.
func stale(which, after func(*http.Request) bool) func(*Server) {
	return func(s *Server) {
		kept, begun := make(map[string]string), false
		send := s.Send
		s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			begun = begun || after(r)
			if which(r) && (code == http.StatusOK || begun) {
				if old, has := kept[r.URL.Path]; begun && has {
					code, body = http.StatusOK, old
				}
				kept[r.URL.Path] = body
			}
			send(w, r, code, body)
		}
	}
}

// What the tester gives its machines.
const stepLabel, reasonAnnotation, noteAnnotation = "vmikit-contract-step", "vmikit.io/contract", "vmikit.io/contract-note"

// needing says of mutants what a tester must be given to notice them.
func needing(needs string, mutants []Mutant) []Mutant {
	for i := range mutants {
		mutants[i].Needs = needs
	}
	return mutants
}
