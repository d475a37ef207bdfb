package server

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/store"
)

const (
	mediaJSONPatch  = "application/json-patch+json"
	mediaMergePatch = "application/merge-patch+json"
	mediaStrategic  = "application/strategic-merge-patch+json"
	mediaApply      = "application/apply-patch+yaml"
	// maxPatchOps and maxPatchCopies bound what a JSON patch does: so many operations
	// as kube-apiserver takes, and so many bytes copied within the object.
	maxPatchOps    = 10_000
	maxPatchCopies = 3 << 20
	// maxPatchDepth is how deep a patch may be nested: what a document may be.
	maxPatchDepth = 1000
)

// patch changes an object. force is about applies.
func (s *server) patch(x *exchange, namespace, name string, p writeParams, force *string) error {
	w, err := s.beginWrite(x, "PatchOptions", p)
	if err != nil {
		return err
	}
	key := store.Key{Namespace: namespace, Name: name}
	if mediaOf(x) == mediaApply {
		return s.apply(x, key, w, p.fieldManager, isTrue(force))
	}
	if force != nil {
		return invalidOptions("PatchOptions", []vmi.StatusCause{forbiddenField("force", "may not be specified for non-apply patch")})
	}
	next, reach, err := s.readPatch(x, &w)
	if err != nil {
		return err
	}
	w.reach = s.reaches(x, reach)
	for try := 1; ; try++ {
		old, err := current(x, key)
		if err != nil {
			return err
		}
		w.was = nil
		object, err := s.patched(x, old, next, &w)
		if err != nil {
			return err
		}
		stored, err := s.update(x, old, object, w)
		if err != nil && try < maxTries && overtaken(x, old, err) {
			continue // the change is made to what there is now
		}
		if err != nil {
			return err
		}
		return s.answerObject(x, http.StatusOK, stored, w.want, w.include)
	}
}

// patched is an object after a change, valid again.
func (s *server) patched(x *exchange, old *store.Object, next change, w *write) (map[string]any, error) {
	before := x.resource.show(old)
	live, err := w.reach.open(before)
	if err != nil {
		return nil, fmt.Errorf("stored object %s: %w", old.Key, err)
	}
	if w.reach != nil {
		before, w.was = canonical(w.reach.within(live)), live
	}
	raw, err := next(before)
	if err != nil {
		return nil, errPatch()
	}
	object, err := decodeObject(raw)
	if err != nil {
		return nil, x.resource.invalid(old.Key.Name, []vmi.StatusCause{invalidField("<nil>", `""`, "the patch leaves no object")})
	}
	if err := x.resource.checkPatched(old.Key.Name, object); err != nil {
		return nil, err
	}
	metaWithoutNulls(object)
	meta := asObject(object["metadata"])
	if err := checkName(meta, old.Key.Name); err != nil {
		return nil, err
	}
	if err := checkNamespace(x.resource, meta, old.Key.Namespace); err != nil {
		return nil, err
	}
	issues := s.inspect(x, raw)
	fields := slices.Clone(w.patchFields)
	for _, f := range fieldsOf(issues) {
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	if err := judgeFields(x, fields, w.validation, refusedPatch); err != nil {
		return nil, err
	}
	if err := s.judgeValues(x, old.Key.Name, raw, object, issues); err != nil {
		return nil, err
	}
	w.reach.restore(object, live)
	x.resource.inStore(object)
	if err := x.resource.checkUID(old.Key.Name, meta, asObject(live["metadata"])); err != nil {
		return nil, err
	}
	dropRepeatedOwners(x, meta, " after mutating admission happens")
	return object, nil
}

// checkPatched refuses what a patch has made another kind of object, or none.
func (r *resource) checkPatched(name string, object map[string]any) error {
	if text(object, "kind") == "" {
		return refusedPatch("Object 'Kind' is missing in what the patch leaves")
	}
	if why := unreadableMeta(object); why != "" {
		return refusedPatch(why)
	}
	if is := text(object, "apiVersion"); text(object, "kind") == r.kind() && is != r.apiVersion() {
		return r.invalid(name, []vmi.StatusCause{invalidField("apiVersion", quote(is), "must be "+r.apiVersion())})
	}
	return r.checkKind(object)
}
