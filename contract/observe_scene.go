package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vmikit/vmikit/openapi"
)

// scene is one exchange, or one event of a watch, while it is judged. It has a
// judge to itself, so that scenes are judged side by side.
type scene struct {
	observer *Observer
	asked    *asked
	ex       *exchange
	judge    *judge
	ended    time.Time
	// shown are the machines in the answer.
	shown []*shown
	// list is what a plain list has around its items, nil for anything else.
	list *listBody
	// untold says why nothing more was judged.
	untold string
	// counts says that it is a request, not an event of one.
	counts bool
}

// shown is a machine in an answer.
type shown struct {
	*item
	created string
	// whole says that all of it is shown, not its metadata alone.
	whole bool
	// gone says that it is shown as it was before it left what is watched. Its
	// resourceVersion is then that of its leaving.
	gone bool
}

func (o *Observer) scene(a *asked, ob Observation) *scene {
	s := &scene{observer: o, asked: a, judge: newJudge(o.doc, o.given, o.config), ended: ob.Ended, counts: true}
	redact, header := redactorFor(ob, o.config.secrets)
	s.judge.redact = redact
	s.ex = &exchange{
		request: request{op: a.op, form: a.form(ob), method: ob.Method},
		status:  ob.Status, header: ob.Header, body: ob.Body, unread: ob.Cut,
		url: o.target + cleanURI(ob.URL), sentHeader: header, started: ob.Started, took: ob.Ended.Sub(ob.Started),
	}
	s.ex.curl = observedCurl(redact, ob, s.ex.url)
	s.request()
	return s
}

// request judges what the client asked with.
func (s *scene) request() {
	s.judge.seen[checkRequest]++
	issues := s.asked.op.ValidateRequest(openapi.Request{Path: s.asked.path, Query: s.asked.query})
	for _, issue := range issues {
		s.judge.fileAs(checkRequest, Warning, s.ex, "", issue)
	}
}

// see judges an answer that is whole or should be.
func (s *scene) see() {
	j, ex := s.judge, s.ex
	plain := ex.request.form == openapi.FormList || ex.request.form == openapi.FormItem
	if plain || ex.status != http.StatusOK || ex.unread != "" || ex.request.method == http.MethodHead {
		s.seePlain()
	} else {
		j.seen[checkStatusCode]++
		j.seen[checkJSON]++
		j.seen[checkContentType]++
		j.seen[checkForm]++
		j.file(ex, "", j.doc.ValidateResponse(openapi.Response{
			Operation: ex.request.op, Form: ex.request.form, Status: ex.status, Header: ex.header, Body: ex.body,
		}))
	}
	if ex.status != http.StatusOK || ex.unread != "" || ex.request.method == http.MethodHead {
		return
	}
	s.read()
	s.relate()
}

// read finds the machines in an answer.
func (s *scene) read() {
	switch s.ex.request.form {
	case openapi.FormItem, openapi.FormPartialObject:
		s.show(s.ex.body, s.ex.request.form == openapi.FormItem)
	case openapi.FormList:
		if list, ok := s.ex.split(); ok {
			s.list = &list
			for _, raw := range list.items {
				s.show(raw, true)
			}
		}
	default:
		for _, raw := range objectsIn(s.ex.body) {
			s.show(raw, false)
		}
	}
}

// objectsIn returns the objects in a Table or a list of partial objects. What has
// another form the judge tells.
func objectsIn(body []byte) (objects []json.RawMessage) {
	var table struct {
		Rows  []struct{ Object json.RawMessage }
		Items []json.RawMessage
	}
	if json.Unmarshal(body, &table) != nil {
		return nil
	}
	for _, row := range table.Rows {
		if len(row.Object) > 0 {
			objects = append(objects, row.Object)
		}
	}
	return append(objects, table.Items...)
}

// show adds a machine. One without a name the judge tells.
func (s *scene) show(raw []byte, whole bool) *shown {
	it, ok := readItem(raw, "")
	if !ok {
		return nil
	}
	var object struct {
		Metadata struct{ CreationTimestamp json.RawMessage }
	}
	if json.Unmarshal(raw, &object) != nil {
		return nil // the judge tells
	}
	m := &shown{item: it, created: text(object.Metadata.CreationTimestamp), whole: whole}
	s.shown = append(s.shown, m)
	return m
}

// relate compares the machines of an answer with what was asked for.
func (s *scene) relate() {
	s.places()
	s.selection()
	a := s.asked
	if a.name != "" || a.watch {
		return
	}
	if len(s.shown) > 0 {
		s.judge.seen[checkOnce]++
	}
	there := make(map[string]bool)
	for _, m := range s.shown {
		if m.namespaced && there[m.key()] {
			s.accuse(checkOnce, m, messageTwice, "every object once", "a second one of the same name")
		}
		there[m.key()] = true
	}
	if limit := a.limit(); limit > 0 {
		s.judge.seen[checkLimit]++
		if len(s.shown) > limit {
			s.judge.add(checkLimit, fault(s.ex, Fail, "a page is longer than the limit",
				"at most "+number(limit, "object"), number(len(s.shown), "object")))
		}
	}
}

// places holds the machines against the path.
func (s *scene) places() {
	a := s.asked
	for _, m := range s.shown {
		s.judge.seen[checkNamespace]++
		switch {
		case !m.namespaced && s.judge.conventions():
			s.accuse(checkNamespace, m, "an object does not say which namespace it is in", "a metadata.namespace", "none")
		case m.namespaced && a.namespace != "" && a.name == "" && m.namespace != a.namespace:
			s.accuse(checkNamespace, m, "a list has objects of another namespace", "objects of namespace "+a.namespace, "one of namespace "+m.namespace)
		}
		if a.name == "" {
			continue
		}
		s.judge.seen[checkGet]++
		if m.name != a.name || m.namespaced && m.namespace != a.namespace {
			s.accuse(checkGet, m, "another object is answered than the one that was asked for", a.namespace+"/"+a.name, m.key())
		}
	}
}

// accuse adds a fault of a machine.
func (s *scene) accuse(check string, m *shown, message, expected, got string) {
	f := fault(s.ex, Fail, message, expected, got)
	f.Objects = []string{m.key()}
	s.judge.add(check, f)
}

// seePlain has the judge see lists, objects and errors. What it said of an item
// once holds for the same text again.
func (s *scene) seePlain() {
	j, ex := s.judge, s.ex
	var fresh []textDigest
	if ex.request.form == openapi.FormList && ex.status == http.StatusOK && ex.unread == "" {
		list, _ := ex.split()
		for _, raw := range list.items {
			d := digestOf(raw)
			if j.judged[d] {
				continue
			}
			if said, ok := s.observer.items.get(d); ok {
				j.judged[d] = true
				s.repeat(said)
			} else {
				fresh = append(fresh, d)
			}
		}
	}
	j.see(ex)
	if len(fresh) > 0 {
		s.learn(fresh)
	}
}

// repeat files what was said of an item before.
func (s *scene) repeat(said []saying) {
	s.judge.seen[checkObject]++
	for _, w := range said {
		if w.id == "" {
			continue
		}
		f := w.finding
		f.source, f.Curl = s.ex.shown(), s.ex.curl
		s.judge.add(w.id, f)
	}
}

// learn keeps what the judge said of items that it had not seen before.
func (s *scene) learn(fresh []textDigest) {
	list, _ := s.ex.split()
	said := make(map[string][]saying)
	for once := range s.judge.told {
		parts := strings.SplitN(once, "\x00", 3)
		id, message, key := parts[0], parts[1], parts[2]
		i := slices.IndexFunc(s.judge.found[id], func(f Finding) bool { return f.Message == message })
		if i < 0 {
			continue
		}
		f := s.judge.found[id][i]
		f.Objects, f.Count, f.Exchange, f.Diff = []string{key}, 1, nil, nil
		said[key] = append(said[key], saying{id, f})
	}
	keys := make(map[textDigest]string)
	for i, raw := range list.items {
		key := fmt.Sprintf("items/%d", i)
		if it, ok := readItem(raw, ""); ok {
			key = it.key()
		}
		keys[digestOf(raw)] = key
	}
	for _, d := range fresh {
		s.observer.items.put(d, said[keys[d]])
	}
}
