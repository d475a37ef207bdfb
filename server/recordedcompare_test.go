package server_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// What cannot be the same is made so here, and nowhere else. Times, uids, request
// ids and resourceVersions are not among it: the replay has those of the recording.
var (
	// The framing of a body is the HTTP server's, and HTTP/2 has none. Date is the
	// time of the wire, not of the server's clock.
	notCompared = []string{"Date", "Content-Length", "Transfer-Encoding", "Connection"}
	// Of these there must be one, whatever it says.
	onlyPresent = []string{"Etag", "Last-Modified", "Expires"}
	// The end of a name that a server made up, and hashes of documents.
	volatile = regexp.MustCompile(`\bgen-[a-z0-9]{5}\b|hash=[0-9A-F]{64,128}\b`)
)

func sameScalar(recorded, ours *value, at string) bool {
	return recorded.String() == ours.String() || steady(recorded.String()) == steady(ours.String())
}

func steady(text string) string { return volatile.ReplaceAllString(text, "*") }

// compareAnswers says where an answer differs from the recorded one, a line for each
// place.
func compareAnswers(r *recording, ours replayed) []string {
	var found []string
	tell := func(at, recorded, ours string) {
		found = append(found, fmt.Sprintf("%s: %s -> %s", at, steady(shorten(recorded)), steady(shorten(ours))))
	}
	if r.status != ours.status {
		tell("status", fmt.Sprint(r.status), fmt.Sprint(ours.status))
	}
	if r.bare {
		return found
	}
	compareHeaders(r.header, ours.header, tell)
	switch {
	case r.stream && ours.status == http.StatusOK:
		compareStreams(r, ours, tell)
	case r.method != http.MethodHead:
		compareBodies(r, ours, tell)
	case len(ours.body) > 0:
		tell("body", "none", summary(ours.body))
	}
	return found
}

type teller func(at, recorded, ours string)

func compareHeaders(recorded, ours http.Header, tell teller) {
	names := maps.Clone(recorded)
	maps.Copy(names, ours)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if slices.Contains(notCompared, name) {
			continue
		}
		was, is := headerText(recorded, name), headerText(ours, name)
		if was != is {
			tell("header "+name, was, is)
		}
	}
}

func headerText(h http.Header, name string) string {
	values := h.Values(name)
	switch {
	case len(values) == 0:
		return "absent"
	case slices.Contains(onlyPresent, name):
		return "present"
	}
	return steady(strings.Join(values, ", "))
}

// compareBodies compares what was written down of a body, and how long it was.
func compareBodies(r *recording, ours replayed, tell teller) {
	was, _, _ := parseValue([]byte(r.text))
	is, rest, isJSON := parseValue(ours.body)
	isJSON = isJSON && is.scalar == "" && !is.cut
	switch {
	case r.newline == nil && !strings.HasPrefix(r.text, "{"):
		compareTexts(r, ours, tell)
		return
	case was.get("openapi") != nil && is.get("openapi") != nil:
		// Two documents of one API have little in common but that.
		tell("document", was.get("info", "title").String(), is.get("info", "title").String())
		return
	case !isJSON || r.status != ours.status && (was.get("kind").text() != "Status" || is.get("kind").text() != "Status"):
		tell("body", summary([]byte(r.text)), summary(ours.body))
		return
	}
	// Where the recorder stopped before it left anything out, nobody knows whether it
	// would have.
	lines := []int{is.lines()}
	if r.newline != nil {
		if strings.Contains(r.text, `"<trimmed`) || !strings.Contains(r.text, `"managedFields": [`) {
			is.slim()
		}
		lines = append(lines, is.lines())
	}
	same := true
	note := func(at, recorded, ours string) {
		same = false
		tell("body "+at, recorded, ours)
	}
	differ(was, is, "", note)
	if !same {
		return
	}
	if n := strings.Count(r.text, "\n") + 1 + r.more; r.more > 0 && !slices.Contains(lines, n) {
		tell("lines", fmt.Sprint(n), fmt.Sprint(is.lines()))
	}
	if newline := strings.HasPrefix(string(rest), "\n"); r.newline != nil && *r.newline != newline {
		tell("newline at the end", fmt.Sprint(*r.newline), fmt.Sprint(newline))
	}
	if indented := strings.HasPrefix(string(ours.body), "{\n "); r.indented != nil && *r.indented != indented {
		tell("indented", fmt.Sprint(*r.indented), fmt.Sprint(indented))
		return
	}
	if r.raw && !strings.HasPrefix(string(ours.body), r.text) {
		tell("spacing", summary([]byte(r.text)), summary(ours.body))
	}
	if r.size >= 0 && r.size != len(ours.body) {
		tell("bytes", fmt.Sprint(r.size), fmt.Sprint(len(ours.body)))
	}
}

func compareTexts(r *recording, ours replayed, tell teller) {
	is := strings.ToValidUTF8(string(ours.body), "\uFFFD")
	if r.size > len(r.text) && len(is) > len(r.text) { // not all of it was written down
		is = is[:len(r.text)]
	}
	if is != r.text {
		tell("body", summary([]byte(r.text)), summary(ours.body))
	}
}

// compareStreams compares the events of a watch, first their types.
func compareStreams(r *recording, ours replayed, tell teller) {
	var was []*value
	for line := range strings.SplitSeq(r.text, "\n") {
		if v, _, ok := parseValue([]byte(line)); ok {
			was = append(was, v)
		}
	}
	is := make([]*value, len(ours.events))
	for i, line := range ours.events {
		v, _, ok := parseValue([]byte(line))
		if !ok {
			tell(fmt.Sprintf("event %d", i+1), "JSON", line)
			return
		}
		if is[i] = v; strings.Contains(r.text, `"<trimmed`) {
			v.slim()
		}
	}
	// Of a long stream the recorder wrote the beginning, and the number of events.
	if a, b := types(was, len(was)), types(is, len(was)); a != b || r.lines != len(is) {
		tell("events", fmt.Sprintf("%d: %s", r.lines, a), fmt.Sprintf("%d: %s", len(is), b))
		return
	}
	for i, v := range was {
		differ(v, is[i], "", func(at, recorded, ours string) { tell(fmt.Sprintf("event %d %s", i+1, at), recorded, ours) })
	}
	if r.closed != ours.closed {
		tell("closed by the server", fmt.Sprint(r.closed), fmt.Sprint(ours.closed))
	}
}

func types(events []*value, most int) string {
	names := []string{}
	for _, v := range events[:min(most, len(events))] {
		names = append(names, v.get("type").text())
	}
	return strings.Join(names, " ")
}

// summary says in few words what a body is.
func summary(body []byte) string {
	v, _, ok := parseValue(body)
	if kind := v.get("kind").text(); ok && kind != "" {
		if kind == "Status" {
			return strings.Join(strings.Fields(kind+" "+v.get("reason").text()), " ") + " " + fmt.Sprintf("%q", v.get("message").text())
		}
		return kind
	}
	return fmt.Sprintf("%q", body[:min(len(body), 80)])
}

// shorten keeps a line of the list at a length that can be read.
func shorten(text string) string {
	const most = 300
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
