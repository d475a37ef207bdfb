package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/internal/kubeproto"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

// deletion is what may be said of one.
type deletion struct {
	dryRun bool
	// uid and resourceVersion are those that the object must have, nil for any. What is
	// empty is had by none: who sends it has lost what it would hold the deletion to.
	uid, resourceVersion *string
}

// deleteParams are the parameters of deletions.
type deleteParams struct {
	dryRun, propagationPolicy, orphanDependents *string
}

// delete deletes an object, or begins to when it has finalizers.
func (s *server) delete(x *exchange, namespace, name string, p deleteParams) error {
	want, include, err := negotiateDeletion(x, false)
	if err != nil {
		return err
	}
	d, err := s.readDeletion(x, p)
	if err != nil {
		return err
	}
	ctx, r, key := x.r.Context(), x.resource, store.Key{Namespace: namespace, Name: name}
	for try := 1; ; try++ {
		old, err := current(x, key)
		if err != nil {
			return err
		}
		uid, left, err := s.remove(ctx, r, old, d)
		if errors.Is(err, store.ErrConflict) && try < maxTries {
			continue
		}
		if err != nil {
			return raced(x.resource, name, err)
		}
		if err := s.written(ctx, r, key); err != nil {
			return err
		}
		if left != nil {
			return s.answerObject(x, http.StatusOK, left, want, include)
		}
		return s.deleted(x, name, uid)
	}
}

// negotiateDeletion chooses the form of what is left of an object, or of a list of what
// is deleted.
func negotiateDeletion(x *exchange, list bool) (want wanted, include includeObject, err error) {
	if want, err = negotiate(x.r.Header.Get("Accept"), list); err != nil {
		return want, "", err
	}
	include, err = readIncludeObject(want, nil)
	return want, include, err
}

// deleted answers that an object is gone.
func (s *server) deleted(x *exchange, name, uid string) error {
	type details struct {
		Name  string `json:"name"`
		Group string `json:"group"`
		Kind  string `json:"kind"`
		UID   string `json:"uid"`
	}
	body, err := encode(struct {
		Kind       string   `json:"kind"`
		APIVersion string   `json:"apiVersion"`
		Metadata   struct{} `json:"metadata"`
		Status     string   `json:"status"`
		Details    details  `json:"details"`
	}{"Status", "v1", struct{}{}, "Success", details{name, x.resource.group, x.resource.name(), uid}})
	if err != nil {
		return err
	}
	x.answer = okJSON(openapi.FormStatus, body)
	return nil
}

// remove deletes an object, or marks it when it has finalizers, and returns what is
// left of it then.
func (s *server) remove(ctx context.Context, r *resource, old *store.Object, d deletion) (uid string, left *store.Object, err error) {
	object, err := decodeObject(old.JSON)
	if err != nil {
		return "", nil, fmt.Errorf("stored object %s: %w", old.Key, err)
	}
	meta := asObject(object["metadata"])
	uid = text(meta, "uid")
	if err := d.check(r, old.Key.Name, uid, text(meta, "resourceVersion")); err != nil {
		return uid, nil, err
	}
	switch {
	case len(finalizers(meta)) > 0 && text(meta, "deletionTimestamp") != "":
		return uid, old, nil
	case len(finalizers(meta)) > 0:
		meta["deletionTimestamp"] = s.now().UTC().Format(time.RFC3339)
		meta["deletionGracePeriodSeconds"] = json.Number("0")
		if !r.native {
			raiseGeneration(meta)
		}
		next, err := r.draft(old.Key, object)
		if err != nil {
			return uid, nil, err
		}
		if d.dryRun {
			left, err = store.NewObject(next, old.Revision)
		} else {
			left, err = r.store.Update(ctx, next, old.Revision)
		}
		return uid, left, err
	case d.dryRun:
		return uid, nil, nil
	}
	_, err = r.store.Delete(ctx, old.Key, old.Revision)
	return uid, nil, err
}

// check holds the preconditions of a deletion against what there is.
func (d deletion) check(r *resource, name, uid, resourceVersion string) error {
	switch {
	case d.uid != nil && *d.uid != uid:
		return r.conflictOfKind(name, fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", shown(*d.uid), uid))
	case d.resourceVersion != nil && *d.resourceVersion != resourceVersion:
		return r.conflictOfKind(name, fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", shown(*d.resourceVersion), resourceVersion))
	}
	return nil
}

// readDeletion reads the options of a deletion, from the body and the query. What
// either says holds: a dryRun that is not seen deletes.
func (s *server) readDeletion(x *exchange, p deleteParams) (deletion, error) {
	var body struct {
		Kind               string   `json:"kind"`
		DryRun             []string `json:"dryRun"`
		GracePeriodSeconds *int64   `json:"gracePeriodSeconds"` // which means nothing here
		OrphanDependents   *bool    `json:"orphanDependents"`
		PropagationPolicy  *string  `json:"propagationPolicy"`
		Preconditions      struct {
			UID             *string `json:"uid"`
			ResourceVersion *string `json:"resourceVersion"`
		} `json:"preconditions"`
	}
	raw, err := s.readBody(x)
	if err != nil {
		return deletion{}, err
	}
	if len(raw) > 0 {
		if raw, err = deleteOptions(x, raw); err != nil {
			return deletion{}, err
		}
		if err := json.Unmarshal(raw, &body); err != nil || body.Kind != "" && body.Kind != "DeleteOptions" {
			return deletion{}, badRequest("the body of a deletion must be DeleteOptions")
		}
	}
	causes, policy := badDryRun(p.dryRun), p.propagationPolicy
	for _, v := range body.DryRun {
		causes = append(causes, badDryRun(&v)...)
	}
	if policy == nil {
		policy = body.PropagationPolicy
	}
	if policy != nil && !slices.Contains([]string{"Orphan", "Background", "Foreground"}, *policy) {
		causes = append(causes, vmi.StatusCause{
			Reason: "FieldValueNotSupported", Field: "propagationPolicy",
			Message: fmt.Sprintf(`Unsupported value: %s: supported values: "Background", "Foreground", "Orphan", "nil"`, quote(*policy)),
		})
	}
	if policy != nil && (p.orphanDependents != nil || body.OrphanDependents != nil) {
		causes = append(causes, invalidField("propagationPolicy", quote(*policy), "orphanDependents and deletionPropagation cannot be both set"))
	}
	if len(causes) > 0 {
		return deletion{}, invalidOptions("DeleteOptions", causes)
	}
	return deletion{
		dryRun: p.dryRun != nil || len(body.DryRun) > 0,
		uid:    body.Preconditions.UID, resourceVersion: body.Preconditions.ResourceVersion,
	}, nil
}

// deleteOptions are the options in a body as JSON.
func deleteOptions(x *exchange, body []byte) ([]byte, error) {
	switch mediaOf(x) {
	case "", mediaJSON:
		return body, nil
	case mediaYAML:
		return fromYAML(body)
	case kubeproto.MediaType:
		return fromProtobuf(body, kubeproto.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"})
	}
	return nil, unsupportedMedia(mediaJSON, mediaYAML, kubeproto.MediaType)
}

// deleteCollection deletes what a list shows.
func (s *server) deleteCollection(x *exchange, namespace string, p deleteParams, list listParams) error {
	want, include, err := negotiateDeletion(x, true)
	if err != nil {
		return err
	}
	d, err := s.readDeletion(x, p)
	if err != nil {
		return err
	}
	o, err := readListOptions(x.resource, namespace, list)
	if err != nil {
		return err
	}
	if o.atLeast > 0 {
		// Who names a state means what was there then, not what has come since.
		o.Revision, o.atLeast = o.atLeast, 0
	}
	page, err := s.page(x.r.Context(), x.resource, o)
	if err != nil {
		return err
	}
	for i, object := range page.Objects {
		if page.Objects[i], err = s.removeListed(x.r.Context(), x.resource, object, d); err != nil {
			return err
		}
	}
	if err := s.written(x.r.Context(), x.resource, store.Key{Namespace: namespace}); err != nil {
		return err
	}
	return s.answerList(x, page.Objects, s.listMeta(o, page), want, include)
}

// removeListed deletes an object of a list in whatever version it is by now, and
// returns it as it was, or as it is left.
func (s *server) removeListed(ctx context.Context, r *resource, listed *store.Object, d deletion) (*store.Object, error) {
	for {
		old, err := r.store.Get(ctx, listed.Key)
		if errors.Is(err, store.ErrNotFound) {
			return listed, nil
		}
		if err != nil {
			return nil, err
		}
		_, left, err := s.remove(ctx, r, old, d)
		switch {
		case errors.Is(err, store.ErrConflict):
			continue
		case errors.Is(err, store.ErrNotFound):
			return listed, nil
		case err != nil:
			return nil, err
		case left != nil:
			return left, nil
		}
		return old, nil
	}
}
