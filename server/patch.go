package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"

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
	next, reach, err := s.readPatch(x)
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

// change makes the next object of one.
type change func(object []byte) ([]byte, error)

// readPatch reads a patch by its media type, and how far it goes.
func (s *server) readPatch(x *exchange) (change, *reach, error) {
	media := mediaOf(x)
	accepted := []string{mediaJSONPatch, mediaMergePatch, mediaApply}
	if x.resource.native {
		accepted = slices.Insert(accepted, 2, mediaStrategic)
	}
	if !slices.Contains(accepted, media) {
		return nil, nil, unsupportedMedia(accepted...)
	}
	raw, err := s.readBody(x)
	if err != nil {
		return nil, nil, err
	}
	if err := wellFormed(raw); err != nil {
		return nil, nil, badRequest("error decoding patch: " + err.Error())
	}
	if media == mediaMergePatch || media == mediaStrategic {
		if first := bytes.TrimLeft(raw, " \t\r\n"); first[0] != '{' {
			return nil, nil, badRequest("error decoding patch: a merge patch is a JSON object")
		}
		if media == mediaStrategic {
			next, err := strategicMerge(raw)
			return next, nil, err
		}
		return func(object []byte) ([]byte, error) { return jsonpatch.MergePatch(object, raw) }, reachOfMerge(raw), nil
	}
	ops, err := jsonpatch.DecodePatch(raw)
	if err != nil && bytes.TrimLeft(raw, " \t\r\n")[0] == '[' {
		return nil, nil, errPatch()
	}
	if err != nil {
		return nil, nil, badRequest("error decoding patch: a JSON patch is an array of operations")
	}
	if len(ops) > maxPatchOps {
		return nil, nil, failure(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOps, len(ops)))
	}
	options := jsonpatch.NewApplyOptions()
	options.AccumulatedCopySizeLimit = maxPatchCopies
	return func(object []byte) ([]byte, error) { return ops.ApplyWithOptions(object, options) }, reachOfPatch(ops), nil
}

// errPatch is all that a Kubernetes API server says of a patch that does not fit.
// Which operation it was the library says in words that have values in them.
func errPatch() error {
	return failure(http.StatusUnprocessableEntity, "Invalid", "the server rejected our request due to an error in our request")
}

// wellFormed refuses what is no JSON, and what is nested deeper than anything that
// could be stored: both without a word of what it has in it.
func wellFormed(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for depth, any := 0, false; ; any = true {
		token, err := dec.Token()
		switch {
		case err != nil && any && depth == 0:
			return nil
		case err != nil:
			return errors.New("it is not one JSON value")
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxPatchDepth {
				return fmt.Errorf("it is nested more than %d deep", maxPatchDepth)
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
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
	if err := x.resource.checkKind(object); err != nil {
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
	if err := s.judge(x, old.Key.Name, raw, object, w.validation); err != nil {
		return nil, err
	}
	w.reach.restore(object, live)
	x.resource.inStore(object)
	if is := text(meta, "uid"); is != "" && is != text(asObject(live["metadata"]), "uid") {
		return nil, x.resource.invalid(old.Key.Name, []vmi.StatusCause{invalidField("metadata.uid", quote(is), "field is immutable")})
	}
	return object, nil
}
