package mutant

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Writing is what a server that is written to and watched decides beyond one that is
// read only. Like those of [Server] its functions need no locks. What no check of
// writes asks for is not here: apply, finalizers, the deletion of a collection,
// bookmarks, tables.
type Writing struct {
	// events are all changes, oldest first; changed is closed at the next one.
	events  []Event
	changed chan struct{}
	// oldest is the resourceVersion before which everything is forgotten, made how many
	// machines have been created.
	oldest int64
	made   int

	// Dry says whether a write is answered and not done.
	Dry func(r *http.Request) bool
	// Sent sees the machine that a POST or a PUT sends.
	Sent    func(r *http.Request, machine Tree)
	NewName func(generateName string) string
	NewUID  func(name string) string
	// Taken says whether a create meets what is there.
	Taken func(namespace, name string) bool
	// Next is the resourceVersion of the next change.
	Next func() int64
	// Current says whether a write with one resourceVersion may change an object that
	// has another.
	Current func(r *http.Request, sent, now string) bool
	// Merge does a merge patch, and Patch a JSON patch, whose error says that it does
	// not fit.
	Merge func(machine, patch Tree)
	Patch func(machine Tree, patch []Operation) error
	// Keep restores what a write cannot change.
	Keep func(before, after Tree)
	// Same says whether a write changes nothing.
	Same func(before, after Tree) bool
	// Hit says whether a machine is the one that a deletion is about.
	Hit func(machine Tree, preconditions map[string]string) bool
	// Store does a change.
	Store func(r *http.Request, e Event)
	// Answered is the body of a good answer to a write, of the machine as it is then.
	Answered func(r *http.Request, o Object) string
	// Deleted is the body of the answer to a deletion.
	Deleted func(o Object) string

	watching
}

// Tree is a JSON object. Its numbers are json.Number.
type Tree = map[string]any

// Event is one change. Before is empty at a creation; at a deletion After is the
// last state, with the resourceVersion of the deletion.
type Event struct {
	Type          string // ADDED, MODIFIED, DELETED
	Revision      int64
	Before, After Object
}

// NewWriting makes a server that has, besides what [New] has, writes and watches.
func NewWriting(objects []Object) *Server {
	s := New(objects)
	w := &Writing{changed: make(chan struct{}), oldest: s.Revision}
	s.Writing = w
	w.Dry = func(r *http.Request) bool { return r.URL.Query().Get("dryRun") == "All" }
	w.Sent = func(*http.Request, Tree) {}
	w.NewName = func(generateName string) string { return fmt.Sprintf("%s%05d", generateName, w.made) }
	w.NewUID = func(string) string { return fmt.Sprintf("00000000-0000-4000-a000-%012d", w.made) }
	w.Taken = func(namespace, name string) bool {
		_, taken := s.FindObject(namespace, name)
		return taken
	}
	w.Next = func() int64 { return s.Revision + 1 }
	w.Current = func(_ *http.Request, sent, now string) bool { return sent == "" || sent == now }
	w.Merge, w.Patch = merge, patch
	w.Keep = keep
	w.Same = func(before, after Tree) bool { return reflect.DeepEqual(before, after) }
	w.Hit = func(machine Tree, preconditions map[string]string) bool {
		meta := metadata(machine)
		for key, want := range preconditions {
			if meta[key] != want {
				return false
			}
		}
		return true
	}
	w.Store = func(_ *http.Request, e Event) { s.store(e) }
	w.Answered = func(_ *http.Request, o Object) string { return o.Body + "\n" }
	w.Deleted = func(o Object) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{"name":%q,"group":"kubevirt.io","kind":%q,"uid":%q}}`+"\n",
			o.Name, resource, metadata(o.tree())["uid"])
	}
	w.watching = s.newWatching()
	return s
}

// tree reads the JSON of an object anew.
func (o Object) tree() Tree {
	t, err := readTree(strings.NewReader(o.Body))
	if err != nil {
		panic(err)
	}
	return t
}

func readTree(r io.Reader) (t Tree, err error) {
	if err = read(r, &t); err == nil && t == nil {
		err = errors.New("the body is no object")
	}
	return t, err
}

func read(r io.Reader, v any) error {
	dec := json.NewDecoder(r)
	dec.UseNumber()
	return dec.Decode(v)
}

// object is a tree as it is stored.
func object(t Tree) Object {
	body, err := json.Marshal(t)
	if err != nil {
		panic(err)
	}
	meta := metadata(t)
	o := Object{Namespace: str(meta["namespace"]), Name: str(meta["name"]), Labels: make(map[string]string), Body: string(body)}
	labels, _ := meta["labels"].(Tree)
	for k, v := range labels {
		o.Labels[k] = str(v)
	}
	return o
}

// metadata returns that of a tree to edit, made if it is not there.
func metadata(t Tree) Tree { return part(t, "metadata") }

// part returns an object in a tree to edit, made if it is not there.
func part(t Tree, key string) Tree {
	p, ok := t[key].(Tree)
	if !ok {
		p = make(Tree)
		t[key] = p
	}
	return p
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

// refusal is a write that is answered with a failure.
type refusal struct{ Failure }

func (r *refusal) Error() string { return r.Message }

func refuse(code int, reason, name, format string, args ...any) error {
	return &refusal{Failure{Code: code, Reason: reason, Name: name, Message: fmt.Sprintf(format, args...), resource: true}}
}

func conflict(name string) error {
	return refuse(http.StatusConflict, "Conflict", name,
		"Operation cannot be fulfilled on %s.kubevirt.io %q: the object has been modified; please apply your changes to the latest version and try again", resource, name)
}

// writes answers writes and watches. It returns false for what is neither.
func (s *Server) writes(w http.ResponseWriter, r *http.Request, namespace, name string) bool {
	var do func(r *http.Request, namespace, name string) (code int, body string, err error)
	switch {
	case r.Method == http.MethodGet && name == "" && r.URL.Query().Has("watch"):
		s.watch(w, r, namespace)
		return true
	case r.Method == http.MethodPost && name == "" && namespace != "":
		do = s.create
	case r.Method == http.MethodPut && name != "", r.Method == http.MethodPatch && name != "":
		do = s.update
	case r.Method == http.MethodDelete && name != "":
		do = s.delete
	default:
		return false
	}
	code, body, err := do(r, namespace, name)
	if refused, is := err.(*refusal); is {
		s.fail(w, r, refused.Failure)
		return true
	}
	if err != nil {
		s.fail(w, r, Failure{Code: http.StatusBadRequest, Reason: "BadRequest", Message: err.Error()})
		return true
	}
	s.Send(w, r, code, body)
	return true
}

func (s *Server) create(r *http.Request, namespace, _ string) (int, string, error) {
	t, err := readTree(r.Body)
	if err != nil {
		return 0, "", err
	}
	s.Writing.Sent(r, t)
	s.Writing.made++
	meta := metadata(t)
	name := str(meta["name"])
	if prefix := str(meta["generateName"]); name == "" && prefix != "" {
		name = s.Writing.NewName(prefix)
	}
	if s.Writing.Taken(namespace, name) {
		return 0, "", refuse(http.StatusConflict, "AlreadyExists", name, "%s.kubevirt.io %q already exists", resource, name)
	}
	meta["name"], meta["namespace"], meta["uid"] = name, namespace, s.Writing.NewUID(name)
	meta["creationTimestamp"] = time.Now().UTC().Format(time.RFC3339)
	meta["generation"] = json.Number("1")
	delete(meta, "resourceVersion")
	if s.Writing.Dry(r) {
		return http.StatusCreated, s.Writing.Answered(r, object(t)), nil
	}
	event := Event{Type: "ADDED", Revision: s.Writing.Next()}
	meta["resourceVersion"] = strconv.FormatInt(event.Revision, 10)
	event.After = object(t)
	s.Writing.Store(r, event)
	return http.StatusCreated, s.Writing.Answered(r, event.After), nil
}

func (s *Server) update(r *http.Request, namespace, name string) (int, string, error) {
	o, ok := s.Find(namespace, name)
	if !ok {
		return 0, "", refuse(http.StatusNotFound, "NotFound", name, "%s.kubevirt.io %q not found", resource, name)
	}
	before, after := o.tree(), o.tree()
	now := str(metadata(before)["resourceVersion"])
	if err := s.changed(r, name, &after); err != nil {
		return 0, "", err
	}
	if !s.Writing.Current(r, str(metadata(after)["resourceVersion"]), now) {
		return 0, "", conflict(name)
	}
	metadata(after)["resourceVersion"] = now
	s.Writing.Keep(before, after)
	if s.Writing.Same(before, after) {
		return http.StatusOK, s.Writing.Answered(r, o), nil
	}
	if s.Writing.Dry(r) {
		return http.StatusOK, s.Writing.Answered(r, object(after)), nil
	}
	event := Event{Type: "MODIFIED", Revision: s.Writing.Next(), Before: o}
	metadata(after)["resourceVersion"] = strconv.FormatInt(event.Revision, 10)
	event.After = object(after)
	s.Writing.Store(r, event)
	return http.StatusOK, s.Writing.Answered(r, event.After), nil
}

// changed makes of a machine what the body of a PUT or PATCH makes of it.
func (s *Server) changed(r *http.Request, name string, machine *Tree) (err error) {
	mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.Method == http.MethodPut:
		if *machine, err = readTree(r.Body); err == nil {
			s.Writing.Sent(r, *machine)
		}
	case mediaType == "application/merge-patch+json":
		var patch Tree
		if patch, err = readTree(r.Body); err == nil {
			s.Writing.Merge(*machine, patch)
		}
	case mediaType == "application/json-patch+json":
		var patch []Operation
		if err = read(r.Body, &patch); err == nil && s.Writing.Patch(*machine, patch) != nil {
			err = refuse(http.StatusUnprocessableEntity, "Invalid", name, "the server rejected our request due to an error in our request")
		}
	default:
		err = refuse(http.StatusUnsupportedMediaType, "UnsupportedMediaType", name, "the body of the request was in an unknown format")
	}
	return err
}

func (s *Server) delete(r *http.Request, namespace, name string) (int, string, error) {
	o, ok := s.Find(namespace, name)
	if !ok {
		return 0, "", refuse(http.StatusNotFound, "NotFound", name, "%s.kubevirt.io %q not found", resource, name)
	}
	var options struct{ Preconditions map[string]string }
	if body, err := io.ReadAll(r.Body); err != nil || len(bytes.TrimSpace(body)) > 0 && json.Unmarshal(body, &options) != nil {
		return 0, "", refuse(http.StatusBadRequest, "BadRequest", name, "the body is no DeleteOptions")
	}
	last := o.tree()
	if !s.Writing.Hit(last, options.Preconditions) {
		return 0, "", conflict(name)
	}
	if !s.Writing.Dry(r) {
		event := Event{Type: "DELETED", Revision: s.Writing.Next(), Before: o}
		metadata(last)["resourceVersion"] = strconv.FormatInt(event.Revision, 10)
		event.After = object(last)
		s.Writing.Store(r, event)
	}
	return http.StatusOK, s.Writing.Deleted(o), nil
}

// store does a change and lets every watch know.
func (s *Server) store(e Event) {
	at, there := slices.BinarySearchFunc(s.Objects, e.After, func(a, b Object) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	objects := slices.Clone(s.Objects)
	switch {
	case e.Type == "DELETED":
		objects = slices.Delete(objects, at, at+1)
	case there:
		objects[at] = e.After
	default:
		objects = slices.Insert(objects, at, e.After)
	}
	s.Objects, s.Revision = objects, max(s.Revision, e.Revision)
	s.Writing.events = append(s.Writing.events, e)
	close(s.Writing.changed)
	s.Writing.changed = make(chan struct{})
}

// Touch changes a label of an object, as somebody else would who writes to it too.
func (s *Server) Touch(namespace, name, key, value string) {
	o, ok := s.FindObject(namespace, name)
	if !ok {
		return
	}
	t := o.tree()
	revision := s.Revision + 1
	part(metadata(t), "labels")[key] = value
	metadata(t)["resourceVersion"] = strconv.FormatInt(revision, 10)
	s.store(Event{Type: "MODIFIED", Revision: revision, Before: o, After: object(t)})
}
