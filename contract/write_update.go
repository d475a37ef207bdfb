package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxRaces is how often a read and the PUT after it are tried: KubeVirt's
// controllers write to machines as well.
const maxRaces = 4

// put reads a machine, sets its note and writes it back. value "" changes nothing.
// before is the read machine.
func (w *writing) put(ctx context.Context, m *made, value string) (before, ex *exchange, err error) {
	for range maxRaces {
		if before, err = w.get(ctx, m.name); err != nil {
			return nil, nil, err
		}
		body := before.body
		if value != "" {
			var ok bool
			if body, ok = edit(before.body, annotationNote, value); !ok {
				return nil, nil, errUnreadable
			}
		}
		if ex, err = w.write(ctx, http.MethodPut, m.name, nil, typeJSON, body); err != nil {
			return nil, nil, err
		}
		if ex.status != http.StatusConflict {
			return before, ex, nil
		}
		after, err := w.get(ctx, m.name)
		if err != nil {
			return nil, nil, err
		}
		if version(after) == version(before) {
			return before, ex, nil // nobody else wrote: the refusal is the server's own
		}
	}
	return nil, nil, errUnstable
}

// version is the resourceVersion of the machine that is answered.
func version(ex *exchange) string {
	if it, ok := readItem(ex.body, ""); ok {
		return it.resourceVersion
	}
	return ""
}

// judgeVersion looks whether the resourceVersion moved with a change.
func (w *writing) judgeVersion(v *verdict, ex *exchange, before string) {
	switch now := version(ex); {
	case now == before:
		v.add(w.run, fault(ex, Fail, "a change leaves the resourceVersion as it was", "another than "+before, strconv.Quote(now)))
	case earlier(now, before):
		v.add(w.run, fault(ex, Fail, "the resourceVersion goes back", "a later one than "+before, now))
	}
}

func writeUpdate(ctx context.Context, w *writing, m *made) (verdict, error) {
	v := passed("an annotation")
	before, ex, err := w.put(ctx, m, "updated")
	if err != nil {
		return v, err
	}
	if !w.judgeIdentity(&v, ex, m) {
		return v, nil
	}
	w.judgeVersion(&v, ex, version(before))
	w.changed(m, "MODIFIED", ex)
	if raised(before.body, ex.body) {
		v.add(w.run, fault(ex, Fail, "a change of metadata alone raises the generation", "the generation as before", "another one"))
	}
	after, err := w.get(ctx, m.name)
	if err != nil {
		return v, err
	}
	w.judgeIdentity(&v, after, m)
	for _, ex := range []*exchange{ex, after} {
		if got := noteOf(ex); got != "updated" {
			v.add(w.run, fault(ex, Fail, "a change is not there afterwards", annotationNote+": updated", strconv.Quote(got)))
		}
	}
	return v, nil
}

func writeNothing(ctx context.Context, w *writing, m *made) (verdict, error) {
	v := passed("one PUT of what is there")
	before, ex, err := w.put(ctx, m, "")
	if err != nil {
		return v, err
	}
	if !w.judgeIdentity(&v, ex, m) {
		return v, nil
	}
	if now := version(ex); now != version(before) {
		v.add(w.run, fault(ex, Warning, "a PUT that changes nothing moves the resourceVersion", version(before), now))
	}
	w.changed(m, "MODIFIED", ex)
	return v, nil
}

// writeConflict writes with the resourceVersion of the creation, which the update
// has made old.
func writeConflict(ctx context.Context, w *writing, m *made) (verdict, error) {
	v := passed("a PUT and a merge patch")
	before, err := w.get(ctx, m.name)
	if err != nil {
		return v, err
	}
	if version(before) == m.first {
		// The check of updates did not run, or had no effect.
		var ex *exchange
		if _, ex, err = w.put(ctx, m, "updated"); err != nil {
			return v, err
		}
		w.changed(m, "MODIFIED", ex)
		if before, err = w.get(ctx, m.name); err != nil {
			return v, err
		}
		if version(before) == m.first {
			return notExercised("the resourceVersion of the machine does not move, see write.update"), nil
		}
	}
	stale, ok := edit(before.body, annotationNote, "overwritten")
	if ok {
		stale, ok = withVersion(stale, m.first)
	}
	if !ok {
		return v, errUnreadable
	}
	ex, err := w.write(ctx, http.MethodPut, m.name, nil, typeJSON, stale)
	if err != nil {
		return v, err
	}
	w.judgeRefusal(&v, ex, "a PUT with an old resourceVersion", "Conflict", http.StatusConflict)
	patch := fmt.Sprintf(`{"metadata":{"resourceVersion":%q,"annotations":{%q:"overwritten"}}}`, m.first, annotationNote)
	if ex, err = w.write(ctx, http.MethodPatch, m.name, nil, typeMergePatch, []byte(patch)); err != nil {
		return v, err
	}
	w.judgeRefusal(&v, ex, "a merge patch with an old resourceVersion", "Conflict", http.StatusConflict)
	after, err := w.get(ctx, m.name)
	if err != nil {
		return v, err
	}
	if w.judgeIdentity(&v, after, m) && noteOf(after) == "overwritten" {
		v.add(w.run, fault(after, Fail, "a write with an old resourceVersion has an effect", annotationNote+": "+noteOf(before), noteOf(after)))
	}
	return v, nil
}

// withVersion returns a machine with another resourceVersion.
func withVersion(machine []byte, version string) ([]byte, bool) {
	var object map[string]json.RawMessage
	var metadata map[string]json.RawMessage
	if json.Unmarshal(machine, &object) != nil || json.Unmarshal(object["metadata"], &metadata) != nil {
		return nil, false
	}
	var err error
	if metadata["resourceVersion"], err = json.Marshal(version); err != nil {
		return nil, false
	}
	if object["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, false
	}
	body, err := json.Marshal(object)
	return body, err == nil
}

// writeMergePatch changes a label, which lists must see, and removes the note.
func writeMergePatch(ctx context.Context, w *writing, m *made) (verdict, error) {
	v := passed("a label changed, an annotation added and removed, and a dry run")
	if err := w.judgeDryPatch(ctx, &v, m); err != nil {
		return v, err
	}
	old := m.resourceVersion
	patch := fmt.Sprintf(`{"metadata":{"labels":{%q:%q},"annotations":{%q:"patched"}}}`, labelStep, stepWatched, annotationNote)
	ex, err := w.write(ctx, http.MethodPatch, m.name, nil, typeMergePatch, []byte(patch))
	if err != nil {
		return v, err
	}
	if !w.judgeIdentity(&v, ex, m) {
		return v, nil
	}
	if got := labelOf(ex, labelStep); got != stepWatched {
		v.add(w.run, fault(ex, Fail, "a merge patch does not change what it names", labelStep+"="+stepWatched, labelStep+"="+got))
	}
	w.judgeVersion(&v, ex, old)
	w.changed(m, "MODIFIED", ex)
	if err := w.judgeRelabelled(ctx, &v, m, "created", stepWatched); err != nil {
		return v, err
	}
	patch = fmt.Sprintf(`{"metadata":{"annotations":{%q:null}}}`, annotationNote)
	if ex, err = w.write(ctx, http.MethodPatch, m.name, nil, typeMergePatch, []byte(patch)); err != nil {
		return v, err
	}
	if !w.judgeIdentity(&v, ex, m) {
		return v, nil
	}
	w.changed(m, "MODIFIED", ex)
	if hasNote(ex) {
		v.add(w.run, fault(ex, Fail, "a merge patch does not remove what it sets to null", "no annotation "+annotationNote, strconv.Quote(noteOf(ex))))
	}
	return v, nil
}

// judgeDryPatch patches without doing it.
func (w *writing) judgeDryPatch(ctx context.Context, v *verdict, m *made) error {
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"dry"}}}`, annotationNote)
	ex, err := w.write(ctx, http.MethodPatch, m.name, dryRun, typeMergePatch, []byte(patch))
	if err != nil {
		return err
	}
	if w.judgeIdentity(v, ex, m) && noteOf(ex) != "dry" {
		v.add(w.run, fault(ex, Fail, "a dry run is not answered with the object as it would be", annotationNote+": dry", strconv.Quote(noteOf(ex))))
	}
	after, err := w.get(ctx, m.name)
	if err != nil {
		return err
	}
	if noteOf(after) == "dry" {
		v.add(w.run, fault(after, Fail, "a dry run of a patch changes the object", "no "+annotationNote+": dry", "dry"))
	}
	return nil
}

// judgeRelabelled looks whether lists by a label go by its new value.
func (w *writing) judgeRelabelled(ctx context.Context, v *verdict, m *made, from, to string) error {
	for _, value := range []string{from, to} {
		want := value == to
		l, err := w.selected(ctx, scope(w.namespace), w.runLabel(), labelStep+"="+value)
		if err != nil {
			return err
		}
		has := slices.ContainsFunc(l.items, func(it *item) bool { return it.name == m.name })
		switch {
		case has && !want:
			v.add(w.run, fault(l.first, Fail, "a list selects by a label that the object had before", "no "+m.name, m.name))
		case want && !has:
			v.add(w.run, fault(l.first, Fail, "a list does not select by a label that the object has now", m.name, number(len(l.items), "other object")))
		}
	}
	return nil
}

func writeJSONPatch(ctx context.Context, w *writing, m *made) (verdict, error) {
	v := passed("one whose test fails, one whose test holds")
	before, err := w.get(ctx, m.name)
	if err != nil {
		return v, err
	}
	step := labelOf(before, labelStep)
	patch := func(expected, value string) []byte {
		return fmt.Appendf(nil, `[{"op":"test","path":"/metadata/labels/%s","value":%q},{"op":"replace","path":"/metadata/labels/%s","value":%q},{"op":"add","path":"/metadata/annotations/%s","value":%q}]`,
			labelStep, expected, labelStep, value, strings.ReplaceAll(annotationNote, "/", "~1"), value)
	}
	ex, err := w.write(ctx, http.MethodPatch, m.name, nil, typeJSONPatch, patch(step+"-not", "untested"))
	if err != nil {
		return v, err
	}
	w.judgeRefusal(&v, ex, "a JSON patch whose test fails", "", http.StatusUnprocessableEntity, http.StatusConflict, http.StatusBadRequest)
	after, err := w.get(ctx, m.name)
	if err != nil {
		return v, err
	}
	if !w.judgeIdentity(&v, after, m) {
		return v, nil
	}
	if got := labelOf(after, labelStep); got != step || noteOf(after) == "untested" {
		v.add(w.run, fault(after, Fail, "a JSON patch whose test fails has an effect", labelStep+"="+step+", "+noteOf(before), labelStep+"="+got+", "+noteOf(after)))
		step = got
	}
	if ex, err = w.write(ctx, http.MethodPatch, m.name, nil, typeJSONPatch, patch(step, "tested")); err != nil {
		return v, err
	}
	if !w.judgeIdentity(&v, ex, m) {
		return v, nil
	}
	w.judgeVersion(&v, ex, version(after))
	w.changed(m, "MODIFIED", ex)
	if got := labelOf(ex, labelStep); got != "tested" {
		v.add(w.run, fault(ex, Fail, "a JSON patch does not change what it names", labelStep+"=tested", labelStep+"="+got))
	}
	if got := noteOf(ex); got != "tested" {
		v.add(w.run, fault(ex, Fail, "a JSON patch does not add what it names", annotationNote+": tested", strconv.Quote(got)))
	}
	if after, err = w.get(ctx, m.name); err != nil {
		return v, err
	}
	if got := labelOf(after, labelStep); w.judgeIdentity(&v, after, m) && got == step {
		v.add(w.run, fault(after, Fail, "a change is not there afterwards", labelStep+"=tested", labelStep+"="+got))
	}
	return v, nil
}
