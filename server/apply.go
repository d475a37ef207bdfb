package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/managedfields"
	"github.com/vmikit/vmikit/server/store"
)

// apply changes an object to what a manager wants of it, or makes it.
func (s *server) apply(x *exchange, key store.Key, w write, manager *string, force bool) error {
	if value(manager) == "" {
		return invalidOptions("PatchOptions", []vmi.StatusCause{requiredField("fieldManager", "is required for apply patch")})
	}
	applied, err := s.readApplied(x, key, w.validation)
	if err != nil {
		return err
	}
	w.owned = true
	for try := 1; ; try++ {
		old, err := x.resource.store.Get(x.r.Context(), key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		status, stored := http.StatusOK, (*store.Object)(nil)
		if old == nil {
			status = http.StatusCreated
			stored, err = s.applyNew(x, key, applied, w)
		} else {
			stored, err = s.applyTo(x, old, applied, w, force)
		}
		raced := errors.Is(err, store.ErrExists) || err != nil && old != nil && overtaken(x, old, err)
		if raced && try < maxTries {
			continue // it is applied to what there is now
		}
		if err != nil {
			return err
		}
		return s.answerObject(x, status, stored, w.want, w.include)
	}
}

// readApplied reads what is applied: a part of an object that says what it is.
func (s *server) readApplied(x *exchange, key store.Key, mode fieldValidation) ([]byte, error) {
	raw, err := s.readBody(x)
	if err != nil {
		return nil, err
	}
	if raw, err = fromYAML(raw); err != nil {
		return nil, err
	}
	object, err := decodeObject(raw)
	if err != nil {
		return nil, badRequest("error decoding the applied object: " + err.Error())
	}
	if is, kind := text(object, "apiVersion"), text(object, "kind"); is != x.resource.apiVersion() || kind != x.resource.kind() {
		if !strings.Contains(is, "/") {
			is = "/" + is // of no group
		}
		return nil, badRequest(fmt.Sprintf("invalid object type: %s, Kind=%s", shown(is), shown(kind)))
	}
	meta := asObject(object["metadata"])
	if is := text(meta, "name"); is != "" && is != key.Name {
		return nil, badRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", shown(is), key.Name))
	}
	if err := checkNamespace(x.resource, meta, key.Namespace); err != nil {
		return nil, err
	}
	issues := s.inspect(x, raw)
	if withoutOtherCases(object, issues) {
		raw = canonical(object)
	}
	return raw, judgeFields(x, fieldsOf(issues), mode, x.resource.undecodable)
}

// applyNew makes an object of what is applied.
func (s *server) applyNew(x *exchange, key store.Key, applied []byte, w write) (*store.Object, error) {
	if err := s.mayCreate(x); err != nil {
		return nil, err
	}
	if object, err := decodeObject(applied); err != nil || text(asObject(object["metadata"]), "name") == "" {
		return nil, nameUndeterminable(key.Name)
	}
	object, meta, err := s.merged(x, key.Name, nil, applied, w, false)
	if err != nil {
		return nil, err
	}
	if uid := text(meta, "uid"); uid != "" {
		return nil, x.resource.conflict(key.Name, "uid mismatch: the provided object specified uid "+shown(uid)+", and no existing object was found")
	}
	fields := meta["managedFields"]
	s.firstMeta(x.resource, meta, key)
	if meta["managedFields"] = fields; fields == nil {
		delete(meta, "managedFields")
	}
	if causes := x.resource.check(key, object, nil); len(causes) > 0 {
		return nil, x.resource.invalid(key.Name, causes)
	}
	return s.insert(x, key, object, w)
}

// applyTo changes an object that there is.
func (s *server) applyTo(x *exchange, old *store.Object, applied []byte, w write, force bool) (*store.Object, error) {
	object, meta, err := s.merged(x, old.Key.Name, old.JSON, applied, w, force)
	if err != nil {
		return nil, err
	}
	was, err := decodeObject(old.JSON)
	if err != nil {
		return nil, fmt.Errorf("stored object %s: %w", old.Key, err)
	}
	if err := x.resource.checkUID(old.Key.Name, meta, asObject(was["metadata"])); err != nil {
		return nil, err
	}
	w.was = was
	if text(meta, "resourceVersion") == "" {
		meta["resourceVersion"] = fmt.Sprint(old.Revision)
	}
	return s.update(x, old, object, w)
}

// merged is the valid object that comes of what is there and what is applied.
func (s *server) merged(x *exchange, name string, live, applied []byte, w write, force bool) (object, meta map[string]any, err error) {
	raw, err := x.resource.owners.Apply(live, applied, s.ownership(x, w), force)
	var conflicts managedfields.Conflicts
	var refused *managedfields.BadRequestError
	var untold *managedfields.TypeError
	switch {
	case errors.As(err, &conflicts):
		return nil, nil, applyConflict(conflicts)
	case errors.As(err, &refused):
		return nil, nil, badRequest(refused.Message)
	case errors.As(err, &untold):
		return nil, nil, x.resource.invalid(name, []vmi.StatusCause{invalidField("<nil>", `""`, untold.Error())})
	case err != nil:
		return nil, nil, err
	}
	if object, err = decodeObject(raw); err != nil {
		return nil, nil, err
	}
	if metaWithoutNulls(object) {
		raw = canonical(object)
	}
	// Another null is of the wrong type, as in a cluster: who applies says that it is so.
	if err := s.judgeRules(x, name, s.inspect(x, raw)); err != nil {
		return nil, nil, err
	}
	x.resource.inStore(object)
	if meta = asObject(object["metadata"]); meta == nil {
		meta = make(map[string]any)
		object["metadata"] = meta
	}
	return object, meta, nil
}

func applyConflict(conflicts managedfields.Conflicts) *statusError {
	causes := make([]vmi.StatusCause, len(conflicts))
	for i, c := range conflicts {
		causes[i] = vmi.StatusCause{Reason: "FieldManagerConflict", Message: c.Message(), Field: c.Field}
	}
	return failure(http.StatusConflict, "Conflict", conflicts.Error()).details(vmi.StatusDetails{Causes: causes})
}
