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

// gate finds out by dry runs whether anything may be written, once.
func (w *writing) gate(ctx context.Context) *step {
	s := &w.gated
	if s.done {
		return s
	}
	s.done = true
	w.caller.reserved = min(w.caller.reserved, cleanUpRequests)
	s.ok, s.err = w.tryDry(ctx, &s.verdict)
	if denied, is := errors.AsType[*deniedError](s.err); is {
		s.verdict.outcome, s.verdict.message, s.err = Skipped, "the token may not write in namespace "+w.namespace+": "+denied.Error(), nil
	}
	return s
}

func (w *writing) tryDry(ctx context.Context, v *verdict) (ok bool, err error) {
	m := &made{name: w.prefix() + "dry"}
	w.made = append(w.made, m)
	ex, err := w.write(ctx, http.MethodPost, "", dryRun, typeJSON, w.manifest(m.name, "", "dry"))
	if err != nil {
		_, m.gone = errors.AsType[*deniedError](err)
		return false, err
	}
	switch {
	case ex.status >= 500:
		v.add(w.run, unanswered(ex, "status 201"))
		return false, nil
	case !success(ex.status):
		// Read-only implementations are right, and so are clusters that have rules of
		// their own about machines or no such namespace.
		m.gone = true
		v.outcome = NotExercised
		v.message = w.caller.redact.clean(fmt.Sprintf("the dry run of a machine in namespace %s is refused with status %d: %s", w.namespace, ex.status, statusMessage(ex.body)))
		return false, nil
	}
	v.message = "a create and a delete"
	if it, ok := readItem(ex.body, w.namespace); !ok || it.name != m.name {
		v.add(w.run, fault(ex, Fail, "a dry run is not answered with the object", "the machine "+m.name, "another body"))
	}
	got, err := w.get(ctx, m.name)
	if err != nil {
		return false, err
	}
	if got.status == http.StatusOK {
		v.add(w.run, fault(ex, Fail, "a dry run makes the object", "status 404 for a get afterwards", "status 200"))
		if it, ok := readItem(got.body, w.namespace); ok {
			m.uid = it.uid
		}
		return true, w.remove(ctx, m)
	}
	m.gone = true
	// Who may not delete must not create. Rights are decided before the name is
	// looked for.
	if ex, err = w.deleteDry(ctx, m.name); err != nil {
		return false, err
	}
	if ex.status != http.StatusNotFound {
		v.add(w.run, fault(ex, Fail, "the deletion of what is not there is answered", "status 404", "status "+strconv.Itoa(ex.status)))
	}
	return true, nil
}

// unanswered is the fault of a write that must be answered in some way and is not.
func unanswered(ex *exchange, expected string) Finding {
	got := "status " + strconv.Itoa(ex.status)
	if !success(ex.status) {
		got += ": " + statusMessage(ex.body)
	}
	return fault(ex, Fail, "a write that must be answered is not", expected, got)
}

func writeDryRun(ctx context.Context, r *run) (verdict, error) {
	s := r.writing.gate(ctx)
	return s.verdict, s.err
}

func writeCreate(ctx context.Context, r *run) (verdict, error) {
	w := r.writing
	if s := w.gate(ctx); !s.ok {
		return s.blocked("write.dry-run"), s.err
	}
	s := w.creation(ctx)
	return s.verdict, s.err
}

// creation makes the machine that the checks change, once.
func (w *writing) creation(ctx context.Context) *step {
	s := &w.created
	if s.done {
		return s
	}
	s.done = true
	s.ok, s.err = w.makeMachine(ctx, &s.verdict)
	if denied, is := errors.AsType[*deniedError](s.err); is {
		s.verdict.outcome, s.verdict.message, s.err = Skipped, denied.Error(), nil
	}
	return s
}

func (w *writing) makeMachine(ctx context.Context, v *verdict) (ok bool, err error) {
	if err := w.beginWatch(ctx); err != nil {
		return false, err
	}
	before := time.Now()
	m, ex, err := w.create(ctx, w.prefix()+"a", "", "created")
	if err != nil {
		return false, err
	}
	v.message = "machine " + w.namespace + "/" + m.name
	if !success(ex.status) {
		v.add(w.run, unanswered(ex, "status 201, as the dry run was"))
		return false, nil
	}
	if ex.status != http.StatusCreated {
		v.add(w.run, fault(ex, Warning, "a create is answered with another status than 201", "status 201", "status "+strconv.Itoa(ex.status)))
	}
	w.judgeCreated(v, ex, before)
	got, err := w.get(ctx, m.name)
	if err != nil {
		return false, err
	}
	if got.status != http.StatusOK {
		v.add(w.run, fault(got, Fail, "what was created is not there", "status 200", "status "+strconv.Itoa(got.status)))
		return false, nil
	}
	if it, ok := readItem(got.body, w.namespace); ok && it.resourceVersion == m.resourceVersion {
		if diff := differences(ex.body, got.body); len(diff) > 0 {
			f := fault(got, Fail, "what was created is not what is read afterwards", "the answer to the create", diff.String())
			f.Diff = diff.lines()
			v.add(w.run, f)
		}
	}
	w.learn(m, got)
	w.machine = m
	return true, w.judgeListed(ctx, v, m)
}

// judgeCreated compares the answer to a create with what was sent.
func (w *writing) judgeCreated(v *verdict, ex *exchange, before time.Time) {
	m, ok := readMachine(ex.body)
	if !ok {
		v.add(w.run, fault(ex, Fail, "a create is not answered with the object", "the machine "+w.prefix()+"a", "another body"))
		return
	}
	for _, field := range []struct{ name, got, want string }{
		{"name", m.name, w.prefix() + "a"},
		{"namespace", m.namespace, w.namespace},
		{"label " + labelRun, m.labels[labelRun], w.id},
		{"label " + labelStep, m.labels[labelStep], "created"},
	} {
		if field.got != field.want {
			v.add(w.run, fault(ex, Fail, "what was created has another "+field.name+" than was sent", strconv.Quote(field.want), strconv.Quote(field.got)))
		}
	}
	if m.annotations[annotationWhy] != why {
		v.add(w.run, fault(ex, Fail, "what was created lacks an annotation that was sent", "the annotation "+annotationWhy, "none"))
	}
	for _, field := range []struct{ name, got string }{
		{"uid", m.uid}, {"resourceVersion", m.resourceVersion}, {"creationTimestamp", m.created},
	} {
		if field.got == "" {
			v.add(w.run, fault(ex, Fail, "what was created has no "+field.name, "a "+field.name+" from the server", "none"))
		}
	}
	// A clock that is a day off is a clock; a timestamp of another year is no clock's.
	if at, err := time.Parse(time.RFC3339, m.created); err == nil && at.Sub(before).Abs() > 24*time.Hour {
		v.add(w.run, fault(ex, Warning, "what was created says another time of its creation", before.UTC().Format(time.RFC3339), m.created))
	}
	if at := lostPart(nowhereSpec(), m.spec, "/spec"); at != "" {
		message := "what was created is not what was sent"
		if strings.HasPrefix(at, "/spec/nodeSelector") {
			message = "what was created has lost its nodeSelector, so that it may run"
		}
		v.add(w.run, fault(ex, Fail, message, "at "+at+" what was sent", "another value, or none"))
	}
}

// judgeListed looks for a machine in the list by its label and in no other place.
func (w *writing) judgeListed(ctx context.Context, v *verdict, m *made) error {
	l, err := w.selected(ctx, scope(w.namespace), w.runLabel(), labelStep+"=created")
	if err != nil {
		return err
	}
	if l.status != http.StatusOK {
		v.add(w.run, fault(l.first, Fail, "a request that must be answered is not", "status 200", "status "+strconv.Itoa(l.status)))
		return nil
	}
	found := 0
	for _, it := range l.items {
		if it.name == m.name {
			found++
		}
	}
	if earlier(l.resourceVersion, m.resourceVersion) {
		v.add(w.run, fault(l.first, Fail, "a list has an older resourceVersion than an object in it", "at least "+m.resourceVersion, l.resourceVersion))
	}
	if found != 1 || len(l.items) != 1 {
		v.add(w.run, fault(l.first, Fail, "what was created is not what a list by its labels has", "the machine "+m.name, number(len(l.items), "object")+", "+strconv.Itoa(found)+" of that name"))
	}
	return nil
}

// writeAgain creates what is there already.
func writeAgain(ctx context.Context, w *writing, m *made) (verdict, error) {
	v := passed("a second machine of the same name")
	ex, err := w.write(ctx, http.MethodPost, "", nil, typeJSON, w.manifest(m.name, "", "again"))
	if err != nil {
		return v, err
	}
	w.judgeRefusal(&v, ex, "the create of a name that is taken", "AlreadyExists", http.StatusConflict)
	got, err := w.get(ctx, m.name)
	if err != nil {
		return v, err
	}
	if w.judgeIdentity(&v, got, m) && labelOf(got, labelStep) == "again" {
		v.add(w.run, fault(got, Fail, "a create that was refused changes the object", "the labels as before", labelStep+"=again"))
	}
	return v, nil
}

// judgeRefusal holds a refused write against the status that is right, or one of
// those, and the reason.
func (w *writing) judgeRefusal(v *verdict, ex *exchange, what, reason string, want ...int) {
	expected := strings.Trim(fmt.Sprint(want), "[]")
	switch got := statusReason(ex.body); {
	case !refused(ex.status):
		v.add(w.run, fault(ex, Fail, what+" is not refused", "status "+expected, "status "+strconv.Itoa(ex.status)))
	case !slices.Contains(want, ex.status):
		v.add(w.run, fault(ex, Fail, what+" is refused with another status", "status "+expected, "status "+strconv.Itoa(ex.status)))
	case reason != "" && got != reason:
		v.add(w.run, fault(ex, Fail, what+" is refused for another reason", "reason "+reason, "reason "+strconv.Quote(got)))
	}
}

// judgeIdentity looks whether an answer has the machine as it was made. ok is false
// when the answer has none.
func (w *writing) judgeIdentity(v *verdict, ex *exchange, m *made) (ok bool) {
	if !success(ex.status) {
		v.add(w.run, unanswered(ex, "status 200"))
		return false
	}
	got, ok := readMachine(ex.body)
	switch {
	case !ok || got.name != m.name:
		v.add(w.run, fault(ex, Fail, "the answer does not have the object", "the machine "+m.name, "another body"))
		return false
	case m.uid != "" && got.uid != m.uid:
		v.add(w.run, fault(ex, Fail, "an object has another uid than when it was created", m.uid, strconv.Quote(got.uid)))
	case got.labels[labelRun] != w.id:
		v.add(w.run, fault(ex, Fail, "an object has lost a label", w.runLabel(), labelRun+"="+strconv.Quote(got.labels[labelRun])))
	case got.annotations[annotationWhy] != why:
		v.add(w.run, fault(ex, Fail, "an object has lost an annotation", annotationWhy, strconv.Quote(got.annotations[annotationWhy])))
	case m.created != "" && got.created != m.created:
		v.add(w.run, fault(ex, Fail, "an object has another creationTimestamp than when it was created", m.created, strconv.Quote(got.created)))
	case m.whole && w.lost(got) != "":
		v.add(w.run, fault(ex, Fail, "an object has lost what it was created with", w.lost(got), "another value, or none"))
	}
	return true
}

// label returns a label of the machine that is answered.
func labelOf(ex *exchange, key string) string {
	if it, ok := readItem(ex.body, ""); ok {
		return it.labels[key]
	}
	return ""
}

// note returns the annotation that the checks change.
func noteOf(ex *exchange) string {
	if m, ok := readMachine(ex.body); ok {
		return m.annotations[annotationNote]
	}
	return ""
}

// hasNote reports whether an answer has the annotation, whatever its value.
func hasNote(ex *exchange) bool {
	m, ok := readMachine(ex.body)
	if !ok {
		return false
	}
	_, has := m.annotations[annotationNote]
	return has
}

// writeGenerated leaves the names of two machines to the server.
func writeGenerated(ctx context.Context, w *writing, m *made) (verdict, error) {
	v := passed("two names")
	names := []string{m.name}
	generateName := w.prefix() + "g-"
	for range 2 {
		_, ex, err := w.create(ctx, "", generateName, "generated")
		if err != nil {
			return v, err
		}
		it, ok := readItem(ex.body, w.namespace)
		switch {
		case !success(ex.status):
			v.add(w.run, unanswered(ex, "status 201"))
			continue
		case !ok:
			v.add(w.run, fault(ex, Fail, "a create is not answered with the object", "the machine with its generated name", "another body"))
			continue
		case !strings.HasPrefix(it.name, generateName) || len(it.name) == len(generateName):
			v.add(w.run, fault(ex, Fail, "a generated name does not begin with generateName", generateName+"…", strconv.Quote(it.name)))
		case slices.Contains(names, it.name):
			v.add(w.run, fault(ex, Fail, "a name is generated twice", "a new name", strconv.Quote(it.name)))
		}
		names = append(names, it.name)
	}
	l, err := w.selected(ctx, scope(w.namespace), w.runLabel())
	if err != nil {
		return v, err
	}
	for _, name := range names {
		if l.byKey[w.namespace+"/"+name] == nil {
			v.add(w.run, fault(l.first, Fail, "what was created is not what a list by its labels has", "the machine "+name, number(len(l.items), "object")+" without it"))
		}
	}
	return v, nil
}

// writeNamespace looks for the machine in other places than its namespace.
func writeNamespace(ctx context.Context, w *writing, m *made) (verdict, error) {
	v := passed("a namespace that does not exist")
	ex, err := w.read(ctx, w.nobody(), m.name, withToken)
	if err != nil {
		return v, err
	}
	if !refused(ex.status) {
		v.add(w.run, fault(ex, Fail, "an object is there in another namespace than its own", "status 404", "status "+strconv.Itoa(ex.status)))
	}
	scopes := []scope{scope(w.nobody())}
	if w.target.Namespace == "" {
		v.message += ", all namespaces"
		scopes = append(scopes, "")
		if i := slices.IndexFunc(w.namespaces, func(ns string) bool { return ns != w.namespace }); i >= 0 {
			v.message += ", another one"
			scopes = append(scopes, scope(w.namespaces[i]))
		}
	}
	for _, sc := range scopes {
		want := 0
		if sc == "" {
			want = 1
		}
		l, err := w.list(ctx, sc, url.Values{"labelSelector": {w.runLabel() + "," + labelStep + "=created"}}, 0)
		if err != nil {
			return v, err
		}
		if refused(l.status) {
			continue // the token need not have rights there
		}
		if here := len(l.items); here != want {
			v.add(w.run, fault(l.first, Fail, "what was created is listed where it is not, or not where it is", number(want, "object"), number(here, "object")))
		}
	}
	return v, nil
}
