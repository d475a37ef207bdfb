package contract

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

// asked is what a client asks for, as far as the answer can be judged by it.
type asked struct {
	op        *openapi.Operation
	path      map[string]string
	query     url.Values
	namespace string // "" for all
	name      string // "" for a list
	watch     bool
	// forms are those that the client takes, the most wanted first.
	forms []openapi.Form
}

// formForeign is the form of what is no JSON because the client asked so.
const formForeign openapi.Form = -1

// ask reads a request; nil for one that the document does not have for machines.
func (o *Observer) ask(method string, u *url.URL, header http.Header) *asked {
	op, path := o.doc.Find(method, u.EscapedPath())
	if op == nil || op.ID() != opRead && op.ID() != opList && op.ID() != opListAll {
		return nil
	}
	a := &asked{op: op, path: path, query: u.Query(), namespace: path["namespace"], name: path["name"]}
	if values, given := a.query["watch"]; given && op.ID() != opRead {
		// Anything but false and 0 asks for a watch, "watch" alone as well.
		a.watch = values[0] != "0" && !strings.EqualFold(values[0], "false")
	}
	a.forms = o.doc.Negotiate(op, strings.Join(header.Values("Accept"), ","), a.watch)
	return a
}

// form is the one by which an answer is judged: the one that the client takes and
// the body has, else the one that it should have.
func (a *asked) form(ob Observation) openapi.Form {
	media, _, _ := strings.Cut(ob.Header.Get("Content-Type"), ";")
	media = strings.ToLower(strings.TrimSpace(media))
	accept := strings.ToLower(strings.Join(ob.RequestHeader.Values("Accept"), ","))
	if media != "" && media != "application/json" && strings.Contains(accept, media) {
		return formForeign
	}
	if form, ok := formOf(ob.Body); ok && slices.Contains(a.forms, form) {
		return form
	}
	for _, form := range a.forms {
		if form == openapi.FormItem || form == openapi.FormList {
			return form
		}
	}
	switch {
	case len(a.forms) > 0:
		return a.forms[0]
	case a.op.ID() == opRead:
		return openapi.FormItem
	}
	return openapi.FormList
}

// formOf tells the forms that are not plain by the kind that a body has.
func formOf(body []byte) (openapi.Form, bool) {
	// Both are short in front: a large list is not read for its kind.
	if !bytes.Contains(body[:min(len(body), 4096)], []byte("meta.k8s.io")) {
		return 0, false
	}
	var typed struct{ Kind string }
	if json.Unmarshal(body, &typed) != nil {
		return 0, false
	}
	form, ok := map[string]openapi.Form{
		"Table":                     openapi.FormTable,
		"PartialObjectMetadata":     openapi.FormPartialObject,
		"PartialObjectMetadataList": openapi.FormPartialObjectList,
	}[typed.Kind]
	return form, ok
}

// first is the value of a parameter that counts, "" for none.
func (a *asked) first(name string) string { return a.query.Get(name) }

// once is the value of a parameter that is given once; what clients mean by two
// of them is not for us to say.
func (a *asked) once(name string) string {
	if values := a.query[name]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// fresh reports whether the answer has to be the newest state: the request names
// no resourceVersion and goes on with no other list.
func (a *asked) fresh() bool {
	return !a.watch && a.first("resourceVersion") == "" && a.first("continue") == ""
}

// limit is how many objects the answer may have, 0 for any number. API servers
// leave it out of account for lists that they answer from what they have at hand.
func (a *asked) limit() int {
	if a.watch || a.first("resourceVersion") != "" && a.first("resourceVersionMatch") != "Exact" {
		return 0
	}
	n, err := strconv.Atoi(a.once("limit"))
	if err != nil {
		return 0
	}
	return max(0, n)
}
