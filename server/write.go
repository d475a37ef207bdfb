package server

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/managedfields"
	"github.com/vmikit/vmikit/server/store"
)

// maxTries is how often a write is tried that somebody else comes before (five in
// kube-apiserver), or whose generated name is taken (eight).
const (
	maxTries          = 5
	maxGeneratedTries = 8
)

// writeParams are the parameters of writes.
type writeParams struct {
	dryRun, fieldValidation, fieldManager, includeObject *string
}

// create stores a new object.
func (s *server) create(x *exchange, namespace string, p writeParams) error {
	w, err := s.beginWrite(x, "CreateOptions", p)
	if err != nil {
		return err
	}
	raw, object, err := s.readObject(x)
	if err != nil {
		return err
	}
	meta, err := newMeta(x.resource, object, namespace)
	if err != nil {
		return err
	}
	base := ""
	if text(meta, "name") == "" {
		if base = text(meta, "generateName"); base == "" {
			return x.resource.invalid("", []vmi.StatusCause{requiredField("metadata.name", "name or generateName is required")})
		}
		meta["name"] = generateName(base) // which the document wants there
		raw = canonical(object)
	}
	if err := s.judge(x, text(meta, "name"), raw, object, w.validation); err != nil {
		return err
	}
	dropRepeatedOwners(x, meta, "")
	for try := 1; ; try++ {
		key := store.Key{Namespace: namespace, Name: text(meta, "name")}
		if base != "" {
			key.Name = generateName(base)
		}
		stored, err := s.make(x, key, object, w)
		switch {
		case errors.Is(err, store.ErrExists) && base != "" && try < maxGeneratedTries:
			continue
		case errors.Is(err, store.ErrExists):
			return x.resource.alreadyExists(key.Name)
		case err != nil:
			return err
		}
		return s.answerObject(x, http.StatusCreated, stored, w.want, w.include)
	}
}

// make stores a new object under a key.
func (s *server) make(x *exchange, key store.Key, object map[string]any, w write) (*store.Object, error) {
	s.firstMeta(x.resource, asObject(object["metadata"]), key)
	// Nobody owns what the server completes.
	if err := s.own(x, nil, object, w); err != nil {
		return nil, err
	}
	if causes := x.resource.check(key, object, nil); len(causes) > 0 {
		return nil, x.resource.invalid(key.Name, causes)
	}
	return s.insert(x, key, object, w)
}

// write is a write on its way.
type write struct {
	writeOptions
	want    wanted
	include includeObject
	// patchFields is what is to be said of the fields of a patch.
	patchFields []string
	// reach is how far the change goes.
	reach *reach
	// was is the object before the change, where somebody has opened it.
	was map[string]any
	// owned says that the object has its managedFields already.
	owned bool
}

// beginWrite reads what all writes of an object have in common.
func (s *server) beginWrite(x *exchange, kind string, p writeParams) (w write, err error) {
	if w.want, err = negotiate(x.r.Header.Get("Accept"), false); err != nil {
		return w, err
	}
	if w.include, err = readIncludeObject(w.want, p.includeObject); err != nil {
		return w, err
	}
	w.writeOptions, err = readWriteOptions(kind, p.dryRun, p.fieldValidation, p.fieldManager)
	if w.manager = value(p.fieldManager); w.manager == "" {
		w.manager = managerOf(x.r.UserAgent())
	}
	return w, err
}

// managerOf is who a client is that does not say so: the first word of its
// User-Agent, as in kube-apiserver.
func managerOf(agent string) string {
	name, _, _ := strings.Cut(agent, "/")
	name = strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, name)
	if len(name) > maxManager {
		name = strings.ToValidUTF8(name[:maxManager], "")
	}
	return cmp.Or(name, "unknown")
}

// own writes into an object who owns which of its fields, after a write of the whole
// object.
func (s *server) own(x *exchange, live []byte, object map[string]any, w write) error {
	fields, err := x.resource.owners.Update(live, canonical(w.reach.within(object)), s.ownership(x, w))
	if err != nil {
		return fmt.Errorf("managed fields: %w", err)
	}
	meta := asObject(object["metadata"])
	delete(meta, "managedFields")
	if fields == nil {
		return nil
	}
	if w.reach != nil && !w.reach.owners {
		meta["managedFields"] = untouched(fields)
		return nil
	}
	owners, err := readTree(fields)
	if err != nil {
		return fmt.Errorf("managed fields: %w", err)
	}
	meta["managedFields"] = owners
	return nil
}

func (s *server) ownership(x *exchange, w write) managedfields.Write {
	return managedfields.Write{Manager: w.manager, APIVersion: x.resource.apiVersion(), Time: s.now()}
}

// newMeta is the metadata of an object that is to be made in a namespace.
func newMeta(r *resource, object map[string]any, namespace string) (map[string]any, error) {
	meta := asObject(object["metadata"])
	if meta == nil {
		meta = make(map[string]any)
	}
	object["metadata"] = meta
	if err := checkNamespace(r, meta, namespace); err != nil {
		return nil, err
	}
	if revision, err := parseRevision(text(meta, "resourceVersion")); err == nil && revision != 0 {
		return nil, badRequest("resourceVersion should not be set on objects to be created")
	}
	return meta, nil
}

// checkName holds an object to the name that the path has.
func checkName(meta map[string]any, name string) error {
	switch is := text(meta, "name"); is {
	case name:
		return nil
	case "":
		return nameUndeterminable(name)
	default:
		return badRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", shown(is), name))
	}
}

func nameUndeterminable(name string) error {
	return badRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", name))
}

func checkNamespace(r *resource, meta map[string]any, namespace string) error {
	if !r.discovered.Namespaced {
		namespace = ""
	}
	if is := text(meta, "namespace"); is != "" && is != namespace {
		return badRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	return nil
}

// create stores an object, or makes what would be stored.
func (s *server) insert(x *exchange, key store.Key, object map[string]any, w write) (*store.Object, error) {
	s.entering.RLock()
	defer s.entering.RUnlock()
	if err := s.admitNamespace(x, key.Namespace); err != nil {
		return nil, err
	}
	object, err := s.admit(x, key.Name, nil, object)
	if err != nil {
		return nil, err
	}
	warnFinalizers(x, asObject(object["metadata"]), nil)
	d, err := x.resource.draft(key, object)
	if err != nil {
		return nil, err
	}
	if !w.dryRun {
		return x.resource.store.Create(x.r.Context(), d)
	}
	if _, err := x.resource.store.Get(x.r.Context(), key); err == nil {
		return nil, store.ErrExists
	}
	o, err := store.NewObject(d, 0)
	if err != nil {
		return nil, err
	}
	// What was not stored has no version.
	meta := asObject(object["metadata"])
	delete(meta, "resourceVersion")
	o.JSON = canonical(object)
	return o, nil
}

// replace stores a new version of an object.
func (s *server) replace(x *exchange, namespace, name string, p writeParams) error {
	w, err := s.beginWrite(x, "UpdateOptions", p)
	if err != nil {
		return err
	}
	raw, object, err := s.readObject(x)
	if err != nil {
		return err
	}
	meta := asObject(object["metadata"])
	if err := checkName(meta, name); err != nil {
		return err
	}
	if err := checkNamespace(x.resource, meta, namespace); err != nil {
		return err
	}
	if err := s.judge(x, name, raw, object, w.validation); err != nil {
		return err
	}
	dropRepeatedOwners(x, meta, "")
	key := store.Key{Namespace: namespace, Name: name}
	old, err := x.resource.store.Get(x.r.Context(), key)
	switch {
	case errors.Is(err, store.ErrNotFound) && x.resource.createdByPut:
		return s.makeByPut(x, key, object, w)
	case errors.Is(err, store.ErrNotFound):
		return x.resource.notFound(name)
	case err != nil:
		return err
	}
	stored, err := s.update(x, old, object, w)
	if err != nil {
		return err
	}
	return s.answerObject(x, http.StatusOK, stored, w.want, w.include)
}

// makeByPut stores an object that is not there to be replaced. As in a cluster it may
// say what version it is of, but not which object.
func (s *server) makeByPut(x *exchange, key store.Key, object map[string]any, w write) error {
	if err := s.mayCreate(x); err != nil {
		return err
	}
	meta := asObject(object["metadata"])
	if uid := text(meta, "uid"); uid != "" {
		return x.resource.wrongUID(key.Name, uid, "")
	}
	if _, err := parseRevision(text(meta, "resourceVersion")); err != nil {
		return badRequest("invalid resource version: " + err.Error())
	}
	stored, err := s.make(x, key, object, w)
	if errors.Is(err, store.ErrExists) {
		return x.resource.modified(key.Name)
	}
	if err != nil {
		return err
	}
	return s.answerObject(x, http.StatusCreated, stored, w.want, w.include)
}

// mayCreate returns nil, or why who asks may not make what a write finds missing.
func (s *server) mayCreate(x *exchange) error {
	create := x.info
	create.Verb = "create"
	return s.allow(x.user, &create)
}

// wrongUID refuses a write that is for another object of the name.
func (r *resource) wrongUID(name, is, was string) error {
	return r.conflict(name, fmt.Sprintf("Precondition failed: UID in precondition: %s, UID in object meta: %s", shown(is), was))
}

// current returns the object as it is.
func current(x *exchange, key store.Key) (*store.Object, error) {
	o, err := x.resource.store.Get(x.r.Context(), key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, x.resource.notFound(key.Name)
	}
	return o, err
}

// update replaces an object by a valid object that is meant to follow it. It returns
// what there is afterwards: the object as it was when nothing has changed, and its
// last state when the last finalizer of one that is being deleted went.
func (s *server) update(x *exchange, old *store.Object, object map[string]any, w write) (*store.Object, error) {
	was, err := w.was, error(nil)
	if was == nil {
		was, err = w.reach.open(old.JSON)
	}
	if err != nil {
		return nil, fmt.Errorf("stored object %s: %w", old.Key, err)
	}
	name, meta, oldMeta := old.Key.Name, asObject(object["metadata"]), asObject(was["metadata"])
	if is, was := text(meta, "uid"), text(oldMeta, "uid"); is != "" && is != was {
		return nil, x.resource.wrongUID(name, is, was)
	}
	if err := x.resource.checkVersion(old, meta); err != nil {
		return nil, err
	}
	causes := checkImmutable(meta, oldMeta)
	meta["resourceVersion"] = oldMeta["resourceVersion"]
	nextMeta(meta, oldMeta)
	if !w.owned {
		live := old.JSON
		if w.reach != nil {
			live = canonical(w.reach.owned(was))
		}
		if err := s.own(x, live, object, w); err != nil {
			return nil, err
		}
	}
	object, err = s.admit(x, name, was, object)
	if err != nil {
		return nil, err
	}
	meta = asObject(object["metadata"])
	causes = append(causes, x.resource.check(old.Key, object, was)...)
	deleting := text(meta, "deletionTimestamp") != ""
	if deleting {
		causes = append(causes, newFinalizers(meta, oldMeta)...)
	}
	if len(causes) > 0 {
		return nil, x.resource.invalid(name, causes)
	}
	warnFinalizers(x, meta, oldMeta)
	if !x.resource.native && !sameBeside(object, was) {
		raiseGeneration(meta)
	}
	if sameTree(object, was) {
		return old, nil
	}
	d, err := x.resource.draft(old.Key, object)
	if err != nil {
		return nil, err
	}
	gone := deleting && len(finalizers(meta)) == 0 && x.resource != s.namespaces // which end when they are empty
	if gone && !w.dryRun {
		if _, err := x.resource.store.Delete(x.r.Context(), old.Key, old.Revision); err != nil {
			return nil, raced(x.resource, name, err)
		}
	}
	if gone || w.dryRun {
		last, err := store.NewObject(d, old.Revision)
		if err == nil && gone {
			err = s.written(x.r.Context(), x.resource, old.Key)
		}
		return last, err
	}
	stored, err := x.resource.store.Update(x.r.Context(), d, old.Revision)
	if err == nil && x.resource == s.namespaces {
		err = s.written(x.r.Context(), x.resource, old.Key)
	}
	return stored, raced(x.resource, name, err)
}

// checkVersion holds an object to the version that it is meant to follow. Some kinds may
// leave out which that is; 0 is to leave it out.
func (r *resource) checkVersion(old *store.Object, meta map[string]any) error {
	revision, err := parseRevision(text(meta, "resourceVersion"))
	switch {
	case err != nil:
		return badRequest("invalid resource version: " + err.Error())
	case revision == 0 && !r.unconditional:
		return r.versionRequired(old.Key.Name)
	case revision != 0 && revision != old.Revision:
		return r.modified(old.Key.Name)
	}
	return nil
}

// versionRequired refuses a version of an object that does not say which one it
// follows.
func (r *resource) versionRequired(name string) error {
	causes := []vmi.StatusCause{invalidField("metadata.resourceVersion", "0", "must be specified for an update")}
	e := r.invalid(name, causes)
	e.status.Message = fmt.Sprintf("%s %q is invalid: %s", r.qualified(), name, joinCauses(causes))
	e.status.Details.Kind = r.name()
	return e
}

// raced says that somebody else was faster.
func raced(r *resource, name string, err error) error {
	switch {
	case errors.Is(err, store.ErrConflict):
		return r.modified(name)
	case errors.Is(err, store.ErrNotFound):
		return r.notFound(name)
	}
	return err
}

// overtaken reports whether a write failed because the object is another version by
// now than the one that it was made for, so that it may be tried again.
func overtaken(x *exchange, old *store.Object, err error) bool {
	e, ok := errors.AsType[*statusError](err)
	if !ok || e.status.Reason != "Conflict" {
		return false
	}
	newest, err := x.resource.store.Get(x.r.Context(), old.Key)
	return err == nil && newest.Revision != old.Revision
}

// newFinalizers refuses finalizers that come while an object goes.
func newFinalizers(meta, old map[string]any) []vmi.StatusCause {
	had := finalizers(old)
	fresh := slices.DeleteFunc(finalizers(meta), func(f string) bool { return slices.Contains(had, f) })
	if len(fresh) == 0 {
		return nil
	}
	return []vmi.StatusCause{forbiddenField("metadata.finalizers",
		"no new finalizers can be added if the object is being deleted, found new finalizers "+strings.Join(fresh, ", "))}
}
