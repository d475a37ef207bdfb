package contract

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// cleanUpTime bounds the removal of what was made when the context of the run has
	// ended.
	cleanUpTime = 10 * time.Second
	// cleanUpPause is the longest pause between the requests of that, however slow
	// the others are asked to be: the time is short.
	cleanUpPause = 200 * time.Millisecond
	// maxStrayPages bounds the search for what a server made without saying so.
	maxStrayPages = 20
)

func writeCleanUp(ctx context.Context, r *run) (verdict, error) {
	if r.writing.madeNothing() {
		return notExercised("nothing was made"), nil
	}
	return r.writing.cleanUp(ctx), nil
}

// madeNothing reports whether it is certain that this run left no trace.
func (w *writing) madeNothing() bool {
	return !slices.ContainsFunc(w.made, func(m *made) bool { return !m.gone || m.uid != "" })
}

// tidy cleans up after a run that did not come to the check that does it.
func (r *run) tidy(ctx context.Context, report *Report) {
	w := r.writing
	if w == nil || w.cleaned || w.madeNothing() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	at := slices.IndexFunc(report.Results, func(result Result) bool { return result.ID == checkCleanUp })
	if at < 0 {
		checks := writeChecks()
		c := checks[len(checks)-1]
		at, report.Results = len(report.Results), append(report.Results, Result{ID: c.ID, Clause: c.Clause, Explain: c.Explain})
	}
	sent, started := r.caller.sent, time.Now()
	v := w.cleanUp(ctx)
	result := &report.Results[at]
	result.Message, result.Notes = v.message, v.notes
	if result.Findings = v.findings; len(v.findings) > 0 || result.Outcome == "" {
		result.Outcome = v.findings.outcome()
	}
	result.Requests, result.Duration = r.caller.sent-sent, time.Since(started)
}

// cleanUp removes what was made, and what a server made that did not say so. It
// may send requests although the run was stopped or has used up all others. What it
// could not remove it names.
func (w *writing) cleanUp(ctx context.Context) verdict {
	w.caller.cleaning = true
	defer func() { w.caller.cleaning = false }()
	w.live.stop()
	err := w.removeAll(ctx)
	w.cleaned = ctx.Err() == nil

	var v verdict
	machines, gone := 0, 0
	for _, m := range w.made {
		switch known := fmt.Sprintf("%s/%s, uid %s", w.namespace, m.name, m.uid); {
		case m.name == "", m.gone && m.uid == "":
			continue // never was
		case m.gone:
			gone++
			v.notes = append(v.notes, "made and deleted: "+known)
		case m.finalizing:
			v.notes = append(v.notes, "made and about to be deleted, which a finalizer delays: "+known)
		default:
			v.notes = append(v.notes, fmt.Sprintf("LEFT BEHIND, remove it with: kubectl delete vmi -n %s %s", w.namespace, m.name))
			v.add(w.run, leftBehind(w.namespace+"/"+m.name, err))
		}
		machines++
	}
	for i := range v.notes {
		v.notes[i] = w.caller.redact.clean(v.notes[i])
	}
	v.message = fmt.Sprintf("%s made in namespace %s with the label %s, %d gone", number(machines, "machine"), w.namespace, w.runLabel(), gone)
	return v
}

// leftBehind is the fault of a machine that is still there, or may be.
func leftBehind(object string, err error) Finding {
	f := Finding{
		Outcome: Fail, Message: "what this run made cannot be removed",
		Expected: "status 404 after the deletion", Got: "the machine", Objects: []string{object},
	}
	if err != nil {
		f.Got = err.Error()
	}
	return f
}

// removeAll deletes first and waits then, so that finalizers delay all at once.
func (w *writing) removeAll(ctx context.Context) error {
	err := w.findStrays(ctx)
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	for _, m := range w.made {
		if !m.gone && !m.finalizing && m.name != "" {
			keep(w.remove(ctx, m))
		}
	}
	until := time.Now().Add(linger)
	for _, m := range w.made {
		if !m.gone && m.name != "" {
			_, e := w.waitGone(ctx, m, until)
			keep(e)
		}
	}
	return err
}

// remove deletes a machine of this run, by its uid where it has one.
func (w *writing) remove(ctx context.Context, m *made) error {
	for range 2 {
		if m.uid == "" || !strings.HasPrefix(m.name, w.prefix()) {
			// Nothing is deleted for an answer's word alone.
			ex, err := w.get(ctx, m.name)
			if err != nil {
				return err
			}
			it, ok := readItem(ex.body, w.namespace)
			switch {
			case ex.status == http.StatusNotFound:
				m.gone = true
				return nil
			case !success(ex.status) || !ok || it.name != m.name || !w.ours(it):
				return fmt.Errorf("a get of it is answered with status %d, and a body that is not one of this run's machines", ex.status)
			}
			m.uid = it.uid
		}
		ex, err := w.delete(ctx, m.name, m.uid)
		switch {
		case err != nil:
			return err
		case ex.status == http.StatusNotFound:
			m.gone = true
			return nil
		case success(ex.status):
			return nil
		case ex.status != http.StatusConflict:
			return fmt.Errorf("its deletion is answered with status %d", ex.status)
		}
		m.uid = "" // an answer told a wrong one
	}
	return errors.New("its deletion is answered with status 409")
}

// findStrays adds machines of this run that no answer has told of: those with its
// label, and where a generated name is not known, those with its name.
func (w *writing) findStrays(ctx context.Context) error {
	queries := []url.Values{{"labelSelector": {w.runLabel()}, "limit": {strconv.Itoa(pageSize)}}}
	if slices.ContainsFunc(w.made, func(m *made) bool { return m.name == "" }) {
		queries = append(queries, url.Values{"limit": {strconv.Itoa(pageSize)}})
	}
	for _, query := range queries {
		l, err := w.list(ctx, scope(w.namespace), query, maxStrayPages)
		if err != nil {
			return err
		}
		for _, it := range l.items {
			known := slices.ContainsFunc(w.made, func(m *made) bool { return m.name == it.name })
			if w.ours(it) && !known {
				w.made = append(w.made, &made{name: it.name, uid: it.uid})
			}
		}
	}
	return nil
}
