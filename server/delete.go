package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

// deletion is what may be said of one.
type deletion struct {
	dryRun               bool
	uid, resourceVersion string
}

// DeleteNamespacedVirtualMachineInstance deletes a machine, or begins to when it has
// finalizers.
func (s *server) DeleteNamespacedVirtualMachineInstance(c echo.Context, namespace, name string, p vmi.DeleteNamespacedVirtualMachineInstanceParams) error {
	x := exchangeOf(c)
	if err := acceptsJSON(x.r.Header.Get("Accept")); err != nil {
		return err
	}
	d, err := s.readDeletion(x, p.DryRun, p.PropagationPolicy, p.OrphanDependents)
	if err != nil {
		return err
	}
	key := store.Key{Namespace: namespace, Name: name}
	for try := 1; ; try++ {
		old, err := s.current(x.r.Context(), key)
		if err != nil {
			return err
		}
		uid, left, err := s.remove(x, old, d)
		if errors.Is(err, store.ErrConflict) && try < maxTries {
			continue
		}
		if err != nil {
			return raced(name, err)
		}
		if left != nil {
			return s.answerObject(x, http.StatusOK, left, wanted{form: openapi.FormItem}, "")
		}
		return s.deleted(x, name, uid)
	}
}

// deleted answers that a machine is gone.
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
	}{"Status", "v1", struct{}{}, "Success", details{name, group, plural, uid}})
	if err != nil {
		return err
	}
	x.answer = okJSON(openapi.FormStatus, body)
	return nil
}

// remove deletes a machine, or marks it when it has finalizers, and returns what is
// left of it then.
func (s *server) remove(x *exchange, old *store.Object, d deletion) (uid string, left *store.Object, err error) {
	var object map[string]any
	if err := unmarshal(old.JSON, &object); err != nil {
		return "", nil, fmt.Errorf("stored object %s: %w", old.Key, err)
	}
	meta := asObject(object["metadata"])
	uid = text(meta, "uid")
	if err := d.check(old.Key.Name, uid, text(meta, "resourceVersion")); err != nil {
		return uid, nil, err
	}
	ctx := x.r.Context()
	switch {
	case len(finalizers(meta)) > 0 && text(meta, "deletionTimestamp") != "":
		return uid, old, nil
	case len(finalizers(meta)) > 0:
		meta["deletionTimestamp"] = s.now().UTC().Format(time.RFC3339)
		meta["deletionGracePeriodSeconds"] = json.Number("0")
		raiseGeneration(meta)
		next, err := draft(old.Key, object)
		if err != nil {
			return uid, nil, err
		}
		if d.dryRun {
			left, err = store.NewObject(next, old.Revision)
		} else {
			left, err = s.store.Update(ctx, next, old.Revision)
		}
		return uid, left, err
	case d.dryRun:
		return uid, nil, nil
	}
	_, err = s.store.Delete(ctx, old.Key, old.Revision)
	return uid, nil, err
}

// check holds the preconditions of a deletion against what there is.
func (d deletion) check(name, uid, resourceVersion string) error {
	what := kind + "." + group
	switch {
	case d.uid != "" && d.uid != uid:
		return conflict(what, kind, name, fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", shown(d.uid), uid))
	case d.resourceVersion != "" && d.resourceVersion != resourceVersion:
		return conflict(what, kind, name, fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", shown(d.resourceVersion), resourceVersion))
	}
	return nil
}

// readDeletion reads the options of a deletion, from the body and the query. What
// either says holds: a dryRun that is not seen deletes.
func (s *server) readDeletion(x *exchange, dryRun, policy, orphan *string) (deletion, error) {
	var body struct {
		Kind              string   `json:"kind"`
		DryRun            []string `json:"dryRun"`
		OrphanDependents  *bool    `json:"orphanDependents"`
		PropagationPolicy *string  `json:"propagationPolicy"`
		Preconditions     struct {
			UID             string `json:"uid"`
			ResourceVersion string `json:"resourceVersion"`
		} `json:"preconditions"`
	}
	raw, err := s.readBody(x)
	if err != nil {
		return deletion{}, err
	}
	if len(raw) > 0 {
		if media := mediaOf(x); media != "" && media != mediaJSON {
			return deletion{}, unsupportedMedia(mediaJSON)
		}
		if err := json.Unmarshal(raw, &body); err != nil || body.Kind != "" && body.Kind != "DeleteOptions" {
			return deletion{}, badRequest("the body of a deletion must be DeleteOptions as JSON")
		}
	}
	causes := badDryRun(dryRun)
	for _, v := range body.DryRun {
		causes = append(causes, badDryRun(&v)...)
	}
	if policy == nil {
		policy = body.PropagationPolicy
	}
	switch value(policy) {
	case "", "Orphan", "Background", "Foreground":
	default:
		causes = append(causes, vmi.StatusCause{
			Reason: "FieldValueNotSupported", Field: "propagationPolicy",
			Message: fmt.Sprintf(`Unsupported value: %s: supported values: "Background", "Foreground", "Orphan", "nil"`, quote(*policy)),
		})
	}
	if policy != nil && (orphan != nil || body.OrphanDependents != nil) {
		causes = append(causes, invalidField("propagationPolicy", quote(*policy), "orphanDependents and deletionPropagation cannot be both set"))
	}
	if len(causes) > 0 {
		return deletion{}, invalidOptions("DeleteOptions", causes)
	}
	return deletion{
		dryRun: dryRun != nil || len(body.DryRun) > 0,
		uid:    body.Preconditions.UID, resourceVersion: body.Preconditions.ResourceVersion,
	}, nil
}

// DeleteCollectionNamespacedVirtualMachineInstance deletes what a list shows.
func (s *server) DeleteCollectionNamespacedVirtualMachineInstance(c echo.Context, namespace string, p vmi.DeleteCollectionNamespacedVirtualMachineInstanceParams) error {
	x := exchangeOf(c)
	if err := acceptsJSON(x.r.Header.Get("Accept")); err != nil {
		return err
	}
	d, err := s.readDeletion(x, p.DryRun, p.PropagationPolicy, p.OrphanDependents)
	if err != nil {
		return err
	}
	o, err := readListOptions(namespace, listParams{
		LabelSelector: p.LabelSelector, FieldSelector: p.FieldSelector, Limit: p.Limit, Continue: p.Continue,
		ResourceVersion: p.ResourceVersion, ResourceVersionMatch: p.ResourceVersionMatch,
	})
	if err != nil {
		return err
	}
	page, err := s.page(x.r.Context(), o)
	if err != nil {
		return err
	}
	for i, object := range page.Objects {
		if page.Objects[i], err = s.removeListed(x, object, d); err != nil {
			return err
		}
	}
	x.answer = list(page.Objects, s.listMeta(o, page))
	return nil
}

// removeListed deletes a machine of a list in whatever version it is by now, and
// returns it as it was, or as it is left.
func (s *server) removeListed(x *exchange, listed *store.Object, d deletion) (*store.Object, error) {
	for {
		old, err := s.store.Get(x.r.Context(), listed.Key)
		if errors.Is(err, store.ErrNotFound) {
			return listed, nil
		}
		if err != nil {
			return nil, err
		}
		_, left, err := s.remove(x, old, d)
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
