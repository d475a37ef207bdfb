package contract

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"time"
)

func repeatChecks() []Check {
	return []Check{{
		ID: "consistency.repeat", Clause: Clause{71, "description: Standard Kubernetes object metadata."}, Needs: []Need{needObject},
		Explain: "Asked again, the target says the same: an object keeps its uid and creationTimestamp as long as it lives, does not come back once it is gone, and no resourceVersion goes back. Caches and controllers go wrong for good otherwise.",
		run:     repeated,
	}}
}

// sighting is what an object said of itself in one answer.
type sighting struct {
	uid, created, resourceVersion string
	// gone says that it was not in the answer after that.
	gone bool
}

// repeats holds the full lists and the gets of a run against the earlier answers to
// the same request. It costs no requests: whichever check asks, it sees.
type repeats struct {
	redact *redactor
	// seen has the last sighting of each object by the request that showed it.
	seen map[string]map[string]sighting
	// lists has the resourceVersion of the last list of each scope.
	lists map[scope]string
	// compared counts the objects that were seen for a second time or more.
	compared int
	found    findings
	// backwards are the findings that stand on the order of resourceVersions, which
	// the given document does not speak of.
	backwards findings
}

func newRepeats(r *redactor) repeats {
	return repeats{redact: r, seen: make(map[string]map[string]sighting), lists: make(map[scope]string)}
}

// list sees a full list.
func (p *repeats) list(sc scope, l *listing) {
	place := "list " + string(sc)
	for _, it := range l.byKey {
		p.object(place, it, l.first)
	}
	if len(l.sizes) != 1 {
		return // an object may have moved from one page to another in between
	}
	for key, s := range p.seen[place] {
		if l.byKey[key] == nil {
			s.gone = true
			p.seen[place][key] = s
		}
	}
}

// version sees the resourceVersion of a list, full or not.
func (p *repeats) version(sc scope, now string, ex *exchange) {
	if before := p.lists[sc]; earlier(now, before) {
		p.backwards.add(p.redact, fault(ex, Fail, "the resourceVersion of a list goes back", "at least "+before, now))
		return
	}
	p.lists[sc] = now
}

// get sees the answer to a request, if it is one for an object and nothing else.
func (p *repeats) get(ex *exchange) {
	req := ex.request
	if req.op.ID() != opRead || req.method != "" || req.credential != withToken || len(req.query) > 0 || req.rawQuery != "" {
		return
	}
	place := "get " + req.path
	it, ok := readItem(ex.body, "")
	switch {
	case ex.status == http.StatusNotFound:
		for key, s := range p.seen[place] {
			s.gone = true
			p.seen[place][key] = s
		}
	case ex.status == http.StatusOK && ok && ex.unread == "":
		p.object(place, it, ex.shown())
	}
}

// object compares an object with its last sighting in the same place. One with
// another uid is another object of the same name, if it is of another state.
func (p *repeats) object(place string, it *item, ex *exchange) {
	now := sighting{uid: it.uid, created: it.created, resourceVersion: it.resourceVersion}
	if p.seen[place] == nil {
		p.seen[place] = make(map[string]sighting)
	}
	before, again := p.seen[place][it.key()]
	p.seen[place][it.key()] = now
	if !again {
		return
	}
	p.compared++
	if before.uid == "" || now.uid == "" {
		return // nothing says whether it is the same object
	}
	say := func(fs *findings, message, expected, got string) {
		f := fault(ex, Fail, message, expected, got)
		f.Objects = []string{it.key()}
		fs.add(p.redact, f)
	}
	if before.uid != now.uid {
		if now.resourceVersion != "" && now.resourceVersion == before.resourceVersion {
			say(&p.backwards, "an object has another uid at the same resourceVersion", "uid "+before.uid, "uid "+now.uid)
		}
		return
	}
	if !sameTime(before.created, now.created) {
		say(&p.found, "the creationTimestamp of an object changes", strconv.Quote(before.created), strconv.Quote(now.created))
	}
	if before.gone {
		say(&p.found, "an object is gone and comes back with the same uid", "a new uid, or the object in every answer", "uid "+now.uid)
	}
	if earlier(now.resourceVersion, before.resourceVersion) {
		say(&p.backwards, "the resourceVersion of an object goes back", "at least "+before.resourceVersion, now.resourceVersion)
	}
}

func sameTime(a, b string) bool {
	if a == b {
		return true
	}
	at, aerr := time.Parse(time.RFC3339, a)
	bt, berr := time.Parse(time.RFC3339, b)
	return aerr == nil && berr == nil && at.Equal(bt)
}

// earlier reports whether both resourceVersions are numbers, and a is the smaller.
// Those of another form are compared by nobody.
func earlier(a, b string) bool {
	an, aerr := strconv.ParseUint(a, 10, 64)
	bn, berr := strconv.ParseUint(b, 10, 64)
	return aerr == nil && berr == nil && an < bn
}

// maxRepeated is how many objects are got twice.
const maxRepeated = 2

// repeated lists again and gets objects twice in a row, and tells what repeats saw
// during the whole run.
func repeated(ctx context.Context, r *run) (verdict, error) {
	full, err := r.full(ctx, r.primary)
	if err != nil {
		return verdict{}, err
	}
	probes := []probe{{r.primary, func(ctx context.Context, full *listing) ([]claim, error) {
		got, err := r.again(ctx, r.primary)
		if err != nil {
			return nil, err
		}
		return compare(full.all(), got), nil
	}}}
	for _, it := range sample(r.rand("consistency.repeat"), full.all(), maxRepeated) {
		probes = append(probes, probe{r.primary, func(ctx context.Context, _ *listing) ([]claim, error) {
			return r.getTwice(ctx, it)
		}})
	}
	found, err := r.relate(ctx, probes)
	v := verdict{findings: found, message: fmt.Sprintf("%s compared with an earlier answer", number(r.repeats.compared, "object"))}
	v.findings = append(v.findings, r.repeats.found...)
	if r.conventions() {
		v.findings = append(v.findings, r.repeats.backwards...)
	}
	return v, err
}

// getTwice compares two gets of an object.
func (r *run) getTwice(ctx context.Context, it *item) ([]claim, error) {
	first, err := r.read(ctx, it.namespace, it.name, withToken)
	if err != nil {
		return nil, err
	}
	second, err := r.read(ctx, it.namespace, it.name, withToken)
	if err != nil {
		return nil, err
	}
	f := fault(second, Fail, "an object got twice is not the same", fmt.Sprintf("status %d", first.status), fmt.Sprintf("status %d", second.status))
	if first.status == second.status {
		if first.status != http.StatusOK || bytes.Equal(first.body, second.body) {
			return nil, nil
		}
		diff := differences(first.body, second.body)
		if len(diff) == 0 {
			return nil, nil
		}
		f.Expected, f.Got, f.Diff = "the body of the first answer", diff.String(), diff.lines()
	}
	return []claim{{object: it.key(), Finding: f}}, nil
}

// headHeader tells of headers of HEAD that contradict what GET was answered with.
// Lengths are looked at again, since an object may change in between.
func (r *run) headHeader(ctx context.Context, v *verdict, get, head *exchange) error {
	if want, got := mediaType(get), mediaType(head); want != "" && got != "" && want != got {
		v.add(r, fault(head, Fail, "HEAD is answered with another Content-Type than GET", want, got))
	}
	if !otherLength(get, head) {
		return nil
	}
	again, head, err := r.getAndHead(ctx, get.request)
	if err == nil && len(again.body) == len(get.body) && otherLength(again, head) {
		v.add(r, fault(head, Fail, "the Content-Length of HEAD is not the length of the body of GET",
			strconv.Itoa(len(again.body)), head.header.Get("Content-Length")))
	}
	return err
}

func mediaType(ex *exchange) string {
	kind, _, _ := mime.ParseMediaType(ex.header.Get("Content-Type"))
	return kind
}

// otherLength reports whether HEAD gives a length that the body of GET does not
// have. What was encoded for the way has another one by right.
func otherLength(get, head *exchange) bool {
	length, err := strconv.Atoi(head.header.Get("Content-Length"))
	encoded := get.header.Get("Content-Encoding") != "" || head.header.Get("Content-Encoding") != ""
	return err == nil && get.unread == "" && !encoded && length != len(get.body)
}
