package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// otherUID is a uid that no object has.
const otherUID = "00000000-0000-4000-8000-000000000000"

// preconditions are what an object must have for a deletion to hit it.
type preconditions struct {
	UID             string `json:"uid,omitempty"`
	ResourceVersion string `json:"resourceVersion,omitempty"`
}

func deleteOptions(only preconditions) []byte {
	options := map[string]any{"kind": "DeleteOptions", "apiVersion": "v1"}
	if only != (preconditions{}) {
		options["preconditions"] = only
	}
	body, err := json.Marshal(options)
	if err != nil {
		return nil // strings always have a JSON form
	}
	return body
}

func (w *writing) delete(ctx context.Context, name, uid string) (*exchange, error) {
	return w.write(ctx, http.MethodDelete, name, nil, typeJSON, deleteOptions(preconditions{UID: uid}))
}

// deleteDry has no body: an API server that finds DeleteOptions there does not look
// at the query, and deletes.
func (w *writing) deleteDry(ctx context.Context, name string) (*exchange, error) {
	return w.write(ctx, http.MethodDelete, name, dryRun, "", nil)
}

func writePrecondition(ctx context.Context, w *writing, m *made) (verdict, error) {
	v := passed("the uid of another object")
	tries := []preconditioned{{"the uid of another object", preconditions{UID: otherUID}}}
	if m.first != "" && m.first != m.resourceVersion {
		v.message += ", an old resourceVersion"
		tries = append(tries, preconditioned{"an old resourceVersion", preconditions{ResourceVersion: m.first}})
	}
	for _, try := range tries {
		if there, err := w.judgePrecondition(ctx, &v, m, try); !there || err != nil {
			return v, err
		}
	}
	return v, nil
}

// preconditioned is a deletion that must not hit this run's machine, and why not.
type preconditioned struct {
	with string
	only preconditions
}

// judgePrecondition tries a deletion. there says whether the machine still is.
func (w *writing) judgePrecondition(ctx context.Context, v *verdict, m *made, try preconditioned) (there bool, err error) {
	ex, err := w.write(ctx, http.MethodDelete, m.name, nil, typeJSON, deleteOptions(try.only))
	if err != nil {
		return false, err
	}
	w.judgeRefusal(v, ex, "a delete with "+try.with, "Conflict", http.StatusConflict)
	after, err := w.get(ctx, m.name)
	if err != nil {
		return false, err
	}
	if got, ok := readMachine(after.body); after.status != http.StatusOK || ok && got.deleted != "" {
		v.add(w.run, fault(after, Fail, "a delete with "+try.with+" has an effect", "the machine as before", "status "+strconv.Itoa(after.status)))
		w.forget(m)
		return false, nil
	}
	w.judgeIdentity(v, after, m)
	return true, nil
}

// forget makes the checks that follow do without the machine.
func (w *writing) forget(m *made) {
	if w.machine == m {
		w.machine, w.created.ok = nil, false
		w.created.verdict = notExercised("the machine was deleted by mistake, see write.delete-precondition")
	}
}

func writeDelete(ctx context.Context, w *writing, m *made) (verdict, error) {
	v := passed("machine %s/%s", w.namespace, m.name)
	ex, err := w.deleteDry(ctx, m.name)
	if err != nil {
		return v, err
	}
	last, err := w.get(ctx, m.name)
	if err != nil {
		return v, err
	}
	if got, ok := readMachine(last.body); last.status == http.StatusNotFound || ok && got.deleted != "" {
		v.add(w.run, fault(ex, Fail, "a dry run deletes", "the machine as before", "status "+strconv.Itoa(last.status)))
		m.gone = last.status == http.StatusNotFound
		return v, nil
	}
	before := last.body
	ex, err = w.delete(ctx, m.name, m.uid)
	if err != nil {
		return v, err
	}
	if !success(ex.status) {
		v.add(w.run, unanswered(ex, "status 200"))
		return v, nil
	}
	last, err = w.waitGone(ctx, m, time.Now().Add(linger))
	if err != nil {
		return v, err
	}
	switch {
	case m.finalizing:
		if got, ok := readMachine(last.body); ok && len(got.finalizers) == 0 {
			v.add(w.run, fault(last, Warning, "what was deleted is still there, though no finalizer keeps it", "status 404", "a deletionTimestamp"))
			return v, nil
		}
		v.notes = append(v.notes, fmt.Sprintf("%s is still there %s after its deletion, with a deletionTimestamp: a finalizer delays it", m.name, linger))
		return v, nil
	case !m.gone:
		v.add(w.run, fault(last, Fail, "what was deleted is still there", "status 404, or a deletionTimestamp", "status "+strconv.Itoa(last.status)))
		return v, nil
	}
	l, err := w.selected(ctx, scope(w.namespace), w.runLabel())
	if err != nil {
		return v, err
	}
	if l.byKey[w.namespace+"/"+m.name] != nil {
		v.add(w.run, fault(l.first, Fail, "what was deleted is still listed", "no "+m.name, m.name))
	}
	for _, other := range w.made {
		if other != m && other.whole && !other.gone && l.byKey[w.namespace+"/"+other.name] == nil {
			v.add(w.run, fault(l.first, Fail, "with what was deleted another object has gone", other.name, number(len(l.items), "object")+" without it"))
		}
	}
	if ex, err = w.delete(ctx, m.name, ""); err != nil {
		return v, err
	}
	if ex.status != http.StatusNotFound {
		v.add(w.run, fault(ex, Fail, "the deletion of what is not there is answered", "status 404", "status "+strconv.Itoa(ex.status)))
	}
	ex, err = w.write(ctx, http.MethodPut, m.name, nil, typeJSON, before)
	if _, denied := errors.AsType[*deniedError](err); denied {
		return v, nil // who may not update need not be told more
	}
	if err != nil {
		return v, err
	}
	if !refused(ex.status) {
		v.add(w.run, fault(ex, Fail, "an update makes what is not there", "status 404", "status "+strconv.Itoa(ex.status)))
		m.gone, m.uid = false, "" // it must be removed once more
	}
	return v, nil
}

// linger is how long a finalizer may delay a deletion before the checks go on, and
// lingerStep how long the first of the looks in between waits.
const (
	linger     = 10 * time.Second
	lingerStep = 100 * time.Millisecond
)

// waitGone reads a machine until it is not there, or for as long as a finalizer
// is waited for. It returns the last answer.
func (w *writing) waitGone(ctx context.Context, m *made, until time.Time) (*exchange, error) {
	for wait := lingerStep; ; wait *= 2 {
		ex, err := w.get(ctx, m.name)
		if err != nil {
			return nil, err
		}
		got, ok := readMachine(ex.body)
		m.gone = ex.status == http.StatusNotFound
		m.finalizing = !m.gone && ok && got.deleted != ""
		if m.gone || wait > linger/10 && !m.finalizing || time.Now().Add(wait).After(until) {
			return ex, nil
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}
