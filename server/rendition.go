package server

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/manifest"
	"github.com/vmikit/vmikit/openapi"
)

// rendition is how the JSON of an answer goes out. Handlers make JSON and it is JSON
// that is validated; what the client would rather read is made of it on the way.
type rendition int

const (
	asIs rendition = iota
	asIndented
	asYAML
)

// rendition chooses what the client asked for.
func (x *exchange) rendition(a *answer) rendition {
	if a.fixed || a.stream != nil || !strings.HasPrefix(a.contentType, mediaJSON) {
		return asIs
	}
	accept := x.r.Header.Get("Accept")
	ranges := parseAccept(accept)
	i := slices.IndexFunc(ranges, a.fits)
	switch {
	case i < 0 && a.form == openapi.FormStatus && strings.TrimSpace(accept) != "":
		return asIndented // An error that no client asked for is for people.
	case i >= 0 && ranges[i].takesYAML():
		return asYAML
	case i >= 0 && ranges[i].params["pretty"] == "1", wantsIndented(x.r):
		return asIndented
	}
	return asIs
}

// fits reports whether an entry of an Accept header asks for what the answer is. The
// first that does is the one that the answer was negotiated by.
func (a *answer) fits(r mediaRange) bool {
	as, transform := r.params["as"]
	switch {
	case !r.takesJSON() && !r.takesYAML():
		return false
	case a.contentType == mediaAggregated:
		return r.asksAggregated()
	case a.form == openapi.FormStatus && a.status < http.StatusBadRequest:
		return true // What is deleted has no other form.
	case a.form == openapi.FormTable, a.form == openapi.FormPartialObject, a.form == openapi.FormPartialObjectList:
		w, ok := transformed(as, r.params)
		return ok && w.form == a.form
	}
	return !transform
}

// wantsIndented reports whether JSON is for people to read: because they say so, or
// because their client is known to show it as it comes (kube-apiserver's rule).
func wantsIndented(r *http.Request) bool {
	if p := r.URL.Query().Get("pretty"); p != "" {
		indented, _ := strconv.ParseBool(p)
		return indented
	}
	agent := r.UserAgent()
	return strings.HasPrefix(agent, "curl") || strings.HasPrefix(agent, "Wget") || strings.HasPrefix(agent, "Mozilla/5.0")
}

// contentType is the media type of the rendition of what has one of JSON.
func (r rendition) contentType(of string) string {
	if r == asYAML {
		return mediaYAML + strings.TrimPrefix(of, mediaJSON)
	}
	return of
}

// render writes an answer. Neither rendition is ever in memory as a whole: a small
// object that is nested deeply is a large text.
func (r rendition) render(w io.Writer, a *answer) error {
	switch r {
	case asIndented:
		return a.writeTo(&indenter{to: w})
	case asYAML:
		return a.writeYAML(w)
	}
	return a.writeTo(w)
}

// writeYAML writes the answer as YAML, a list item by item.
func (a *answer) writeYAML(w io.Writer) error {
	envelope := slices.Concat(a.head, a.tail)
	if len(a.items) == 0 {
		return manifest.WriteYAML(w, envelope)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(envelope, &members); err != nil {
		return fmt.Errorf("envelope of a list: %w", err)
	}
	items := "items"
	if a.form == openapi.FormTable {
		items = "rows"
	}
	if err := writeMembers(w, members, func(name string) bool { return name < items }); err != nil {
		return err
	}
	if _, err := io.WriteString(w, items+":\n"); err != nil {
		return err
	}
	var element []byte
	for _, o := range a.items {
		element = append(a.appendItem(append(element[:0], '['), o), ']')
		if err := manifest.WriteYAML(w, element); err != nil {
			return fmt.Errorf("%s: %w", o.Key, err)
		}
	}
	return writeMembers(w, members, func(name string) bool { return name > items })
}

// writeMembers writes some members of an object, sorted.
func writeMembers(w io.Writer, members map[string]json.RawMessage, which func(name string) bool) error {
	some := make(map[string]json.RawMessage)
	for name, value := range members {
		if which(name) {
			some[name] = value
		}
	}
	if len(some) == 0 {
		return nil
	}
	text, err := json.Marshal(some)
	if err != nil {
		return err
	}
	return manifest.WriteYAML(w, text)
}
