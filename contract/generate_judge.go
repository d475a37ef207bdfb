package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

// timeoutSeconds is an integer whose value is nothing to a list: a target that does
// not read it gives every answer that is right.
const timeoutSeconds = "timeoutSeconds"

// duty is what a target owes a request.
type duty int

const (
	mustAnswer duty = iota
	mayRefuse
	mustRefuse
)

// expectation is what is right for a generated request.
type expectation struct {
	duty duty
	// outcome is how much it weighs when a request that must be refused is not.
	outcome Outcome
	// why is what a refusal is due for.
	why string
	// limit is how many objects there may be, 0 for any number.
	limit int64
	// belongs tells which objects are selected, nil when nobody knows.
	belongs func(*item) bool
}

// expectation follows from the document, the grammar of selectors and what is
// known of real API servers.
func (f *fuzzer) expectation(g generated) expectation {
	e := expectation{outcome: Fail}
	if !g.read {
		e.follow(g)
	}
	grave := e.duty == mustRefuse
	for _, issue := range f.validate(g) {
		if e.duty = mustRefuse; e.why == "" {
			e.why = issue.String()
		}
		grave = grave || !f.conventions() || !f.lenient(g, issue)
	}
	for _, a := range g.args {
		// Not everybody reads an odd spelling of a number as that number.
		if n, err := strconv.ParseInt(a.text, 10, 64); isNumber(a.name) && err == nil && strconv.FormatInt(n, 10) != a.text {
			e.duty = max(e.duty, mayRefuse)
		}
	}
	if !grave {
		e.outcome = Warning
	}
	return e
}

func isNumber(name string) bool { return name == "limit" || name == timeoutSeconds }

// lenient reports whether servers that are right otherwise let an issue pass, as the
// checks of limits have it: Kubernetes takes a limit below the minimum for none, and
// others do an empty one, or one that does not fit into 64 bits.
func (f *fuzzer) lenient(g generated, issue openapi.Issue) bool {
	if issue.Rule == "minimum" || issue.Pointer == "/query/"+timeoutSeconds {
		return true
	}
	limit, given := g.first("limit")
	return issue.Pointer == "/query/limit" && given && strings.Trim(strings.TrimPrefix(limit.text, "-"), "0123456789") == ""
}

// follow works out what the query of a list selects.
func (e *expectation) follow(g generated) {
	if limit, ok := g.first("limit"); ok {
		e.limit, _ = strconv.ParseInt(limit.text, 10, 64)
	}
	labels, _ := g.first("labelSelector")
	fields, _ := g.first("fieldSelector")
	for _, p := range slices.Concat(labels.terms, fields.terms) {
		if p.broken != nil {
			e.duty, e.why = mustRefuse, "the selector has "+p.broken.why
		}
	}
	if slices.ContainsFunc(labels.terms, term.openLabel) || slices.ContainsFunc(fields.terms, term.openField) {
		e.duty = max(e.duty, mayRefuse)
	}
	e.belongs = func(it *item) bool {
		return (g.namespace == "" || it.namespace == g.namespace) &&
			!slices.ContainsFunc(labels.terms, func(p term) bool { return !p.matches(it.labels) }) &&
			!slices.ContainsFunc(fields.terms, func(p term) bool { return !p.matchesField(it) })
	}
	for _, a := range g.args {
		o, known := opaques[a.name]
		if o.refusable {
			e.duty = max(e.duty, mayRefuse)
		}
		if known && !slices.Contains(o.plain, a.text) {
			e.belongs = nil
		}
		if slices.Contains(o.unlimited, a.text) {
			e.limit = 0
		}
	}
}

const (
	messageNotRefused = "a request that must be refused is not"
	messageRefused    = "a request that must be answered is not"
	messageFault      = "a request is answered with a fault of the server"
	messageHTML       = "a request is answered with HTML"
	messageNobody     = "a name that does not exist is not answered with 404"
)

// judged holds the answer to a generated request against what is right.
func (f *fuzzer) judged(g generated, ex *exchange, full *listing) []claim {
	e := f.expectation(g)
	seen := fmt.Sprintf("status %d", ex.status)
	is := func(outcome Outcome, message, expected string) []claim {
		return []claim{{Finding: fault(ex, outcome, message, expected, seen)}}
	}
	html := strings.HasPrefix(strings.ToLower(ex.header.Get("Content-Type")), "text/html")
	switch {
	case ex.status >= http.StatusInternalServerError:
		return is(Fail, messageFault, "a status below 500")
	case html && f.conventions():
		return is(Fail, messageHTML, "JSON")
	case e.duty == mustRefuse && !refused(ex.status):
		return is(e.outcome, messageNotRefused, "status 400: "+e.why)
	case e.duty == mustRefuse, e.duty == mayRefuse && refused(ex.status):
		return nil
	case g.read:
		return f.judgedRead(g, ex, full)
	case refused(ex.status) && !slices.Contains(f.namespaces, g.namespace) && g.namespace != "":
		return nil // it does not exist; a real API server shows an empty list
	case ex.status != http.StatusOK:
		return is(Fail, messageRefused, "status 200")
	}
	return f.judgedList(e, scope(g.namespace), ex, full)
}

// judgedRead looks for the object of exactly that name.
func (f *fuzzer) judgedRead(g generated, ex *exchange, full *listing) []claim {
	key := g.namespace + "/" + g.name
	seen := fmt.Sprintf("status %d", ex.status)
	listed := full.byKey[key]
	switch {
	case listed == nil && (ex.status == http.StatusNotFound || refused(ex.status) && !f.ordinary(g)):
		return nil
	case listed == nil:
		return []claim{{object: key, Finding: fault(ex, Fail, messageNobody, "status 404", seen)}}
	case ex.status != http.StatusOK:
		return []claim{{object: key, Finding: fault(ex, Fail, messageRefused, "status 200", seen)}}
	case ex.unread != "":
		return nil // the schema checks tell
	}
	diff := differences(listed.raw, ex.body)
	if len(diff) == 0 {
		return nil
	}
	finding := fault(ex, Fail, "an object got is not the same as the one listed", "the item of "+full.curl(), diff.String())
	finding.Diff = diff.lines()
	return []claim{{object: key, Finding: finding}}
}

// ordinary reports whether a name is one that an object could have, in a namespace
// that is there. Others a target may refuse in another way than with 404.
func (f *fuzzer) ordinary(g generated) bool {
	return len(g.name) <= 253 && between(g.name, isLower, "-.") && slices.Contains(f.namespaces, g.namespace)
}

// judgedList compares one page with the items of the full list that belong on it.
func (f *fuzzer) judgedList(e expectation, sc scope, ex *exchange, full *listing) []claim {
	body, ok := ex.split()
	if !ok || ex.unread != "" {
		return nil // the schema checks tell
	}
	got := &listing{status: ex.status, byKey: make(map[string]*item), first: ex.shown()}
	got.add(body, sc)
	var claims []claim
	if e.belongs != nil {
		want := slices.DeleteFunc(full.all(), func(it *item) bool { return !e.belongs(it) })
		filled := e.limit > 0 && int64(len(got.items)) >= e.limit
		claims = onPage(want, got, filled || body.cont != "" && f.conventions())
	}
	if e.limit > 0 && e.limit <= int64(len(body.items)) {
		claims = append(claims, tooLong(got, int(e.limit))...)
	}
	return claims
}

// openLabel reports whether a term may be refused though its meaning is known:
// what Kubernetes' parser takes and its documentation does not name.
func (t term) openLabel() bool {
	switch t.op {
	case opGreater, opLess:
		return true
	case opIn, opNotIn:
		return slices.Contains(t.values, "")
	}
	return false
}

// openField is openLabel for fields: not every target selects by all of them, and
// an equals sign without a backslash in front (fields.EscapeValue of apimachinery)
// some refuse and others take as it is.
func (t term) openField() bool {
	return t.key != nameField && t.key != namespaceField || slices.ContainsFunc(t.values, func(v string) bool { return strings.Contains(v, "=") })
}

// fieldOf returns a single value of a machine as text, "" when it is not there.
func fieldOf(raw []byte, path string) string {
	for key := range strings.SplitSeq(path, ".") {
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return ""
		}
		raw = members[key]
	}
	if s := text(raw); s != "" || len(raw) == 0 || raw[0] == '"' || string(raw) == "null" {
		return s
	}
	return string(raw)
}
