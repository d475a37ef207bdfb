package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// otherUID is a uid that no object has.
const otherUID = "00000000-0000-4000-8000-000000000000"

// deleteOptions let a deletion hit the object with this uid only.
func deleteOptions(uid string) []byte {
	options := map[string]any{"kind": "DeleteOptions", "apiVersion": "v1"}
	if uid != "" {
		options["preconditions"] = map[string]any{"uid": uid}
	}
	body, err := json.Marshal(options)
	if err != nil {
		return nil // strings always have a JSON form
	}
	return body
}

func (w *writing) delete(ctx context.Context, name, uid string) (*exchange, error) {
	return w.write(ctx, http.MethodDelete, name, nil, typeJSON, deleteOptions(uid))
}

// deleteDry has no body: an API server that finds DeleteOptions there does not look
// at the query, and deletes.
func (w *writing) deleteDry(ctx context.Context, name string) (*exchange, error) {
	return w.write(ctx, http.MethodDelete, name, dryRun, "", nil)
}

func writePrecondition(ctx context.Context, w *writing, m *made) (verdict, error) {
	v := passed("the uid of another object")
	ex, err := w.delete(ctx, m.name, otherUID)
	if err != nil {
		return v, err
	}
	w.judgeRefusal(&v, ex, "a delete with the uid of another object", "Conflict", http.StatusConflict)
	after, err := w.get(ctx, m.name)
	if err != nil {
		return v, err
	}
	if got, ok := readMachine(after.body); after.status != http.StatusOK || ok && got.deleted != "" {
		v.add(w.run, fault(after, Fail, "a delete with the uid of another object has an effect", "the machine as before", "status "+strconv.Itoa(after.status)))
		w.forget(m)
		return v, nil
	}
	w.judgeIdentity(&v, after, m)
	return v, nil
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
	if ex, err = w.delete(ctx, m.name, ""); err != nil {
		return v, err
	}
	if ex.status != http.StatusNotFound {
		v.add(w.run, fault(ex, Fail, "the deletion of what is not there is answered", "status 404", "status "+strconv.Itoa(ex.status)))
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
