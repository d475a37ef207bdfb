package contract

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// The HTTP Archive format 1.2, as far as a report fills it.
type (
	harLog struct {
		Version string     `json:"version"`
		Creator harCreator `json:"creator"`
		Entries []harEntry `json:"entries"`
		Comment string     `json:"comment"`
	}
	harCreator struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	harEntry struct {
		Started  time.Time   `json:"startedDateTime"`
		Time     float64     `json:"time"`
		Request  harRequest  `json:"request"`
		Response harResponse `json:"response"`
		Cache    struct{}    `json:"cache"`
		Timings  harTimings  `json:"timings"`
		Comment  string      `json:"comment"`
		Checks   []harCheck  `json:"_checks"`
	}
	harCheck struct {
		ID      string  `json:"id"`
		Outcome Outcome `json:"outcome"`
		Message string  `json:"message"`
	}
	harRequest struct {
		Method      string    `json:"method"`
		URL         string    `json:"url"`
		HTTPVersion string    `json:"httpVersion"`
		Cookies     []harPair `json:"cookies"`
		Headers     []harPair `json:"headers"`
		QueryString []harPair `json:"queryString"`
		PostData    *harPost  `json:"postData,omitempty"`
		HeadersSize int       `json:"headersSize"`
		BodySize    int       `json:"bodySize"`
	}
	harResponse struct {
		Status      int        `json:"status"`
		StatusText  string     `json:"statusText"`
		HTTPVersion string     `json:"httpVersion"`
		Cookies     []harPair  `json:"cookies"`
		Headers     []harPair  `json:"headers"`
		Content     harContent `json:"content"`
		RedirectURL string     `json:"redirectURL"`
		HeadersSize int        `json:"headersSize"`
		BodySize    int        `json:"bodySize"`
	}
	harPair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	harPost struct {
		MimeType string    `json:"mimeType"`
		Params   []harPair `json:"params"`
		Text     string    `json:"text"`
	}
	harContent struct {
		Size     int    `json:"size"`
		MimeType string `json:"mimeType"`
		Text     string `json:"text"`
		Comment  string `json:"comment,omitempty"`
	}
	harTimings struct {
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"`
		Receive float64 `json:"receive"`
	}
)

const (
	// harUnknown is what the format has for a size that is not known.
	harUnknown = -1
	// harProtocol is what the format demands and an [Exchange] does not know.
	harProtocol = "HTTP/1.1"
)

// WriteHAR writes the exchanges that show a fault, in the HTTP Archive format 1.2:
// failures, known ones and warnings, the earliest first, an entry for each. The
// field _checks of an entry names the checks and what they found. Credentials and
// secrets are left out as in every report, bodies are those of [Exchange], and of
// the timings only the whole is measured.
func (r *Report) WriteHAR(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(map[string]harLog{"log": {
		Version: "1.2",
		Creator: harCreator{"vmikit", moduleVersion()},
		Entries: r.harEntries(),
		Comment: "what vmikit contract found at " + r.Target + "; the version of HTTP is not recorded",
	}})
}

// harEntries returns the distinct exchanges of all findings.
func (r *Report) harEntries() []harEntry {
	type key struct {
		started           int64
		method, url, body string
	}
	at := make(map[key]int)
	entries := []harEntry{}
	for _, result := range r.Results {
		for _, f := range result.Findings {
			ex := f.Exchange
			if ex == nil {
				continue
			}
			k := key{ex.Started.UnixNano(), ex.Method, ex.URL, ex.Body}
			i, known := at[k]
			if !known {
				i = len(entries)
				at[k] = i
				entries = append(entries, ex.har())
			}
			e := &entries[i]
			e.Checks = append(e.Checks, harCheck{result.ID, f.Outcome, f.Message})
			e.Comment = strings.TrimPrefix(e.Comment+"; "+string(f.Outcome)+" "+result.ID+": "+f.Message, "; ")
		}
	}
	slices.SortStableFunc(entries, func(a, b harEntry) int { return a.Started.Compare(b.Started) })
	return entries
}

func (ex *Exchange) har() harEntry {
	took := float64(ex.Duration) / float64(time.Millisecond)
	return harEntry{
		Started: ex.Started.UTC(), Time: took, Timings: harTimings{Wait: took},
		Request: ex.harRequest(),
		Response: harResponse{
			Status: ex.Status, StatusText: http.StatusText(ex.Status), HTTPVersion: harProtocol,
			Cookies: []harPair{}, Headers: harHeaders(ex.Header), RedirectURL: ex.Header.Get("Location"),
			Content:     harContent{len(ex.Body), cmp.Or(ex.Header.Get("Content-Type"), "x-unknown"), ex.Body, ex.Note},
			HeadersSize: harUnknown, BodySize: harUnknown,
		},
	}
}

func (ex *Exchange) harRequest() harRequest {
	req := harRequest{
		Method: ex.Method, URL: ex.URL, HTTPVersion: harProtocol,
		Cookies: []harPair{}, Headers: harHeaders(ex.RequestHeader), QueryString: harQuery(ex.URL),
		HeadersSize: harUnknown, BodySize: len(ex.RequestBody),
	}
	if ex.RequestBody != "" {
		req.PostData = &harPost{ex.RequestHeader.Get("Content-Type"), []harPair{}, ex.RequestBody}
	}
	return req
}

func harHeaders(h http.Header) []harPair {
	pairs := []harPair{}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			pairs = append(pairs, harPair{name, v})
		}
	}
	return pairs
}

// harQuery returns the parameters of a URL in their order. What cannot be decoded
// stays as it is.
func harQuery(address string) []harPair {
	pairs := []harPair{}
	_, query, _ := strings.Cut(address, "?")
	decoded := func(text string) string {
		if plain, err := url.QueryUnescape(text); err == nil {
			return plain
		}
		return text
	}
	for part := range strings.SplitSeq(query, "&") {
		if name, value, _ := strings.Cut(part, "="); part != "" {
			pairs = append(pairs, harPair{decoded(name), decoded(value)})
		}
	}
	return pairs
}

// moduleVersion is the version of this module in the program that runs.
func moduleVersion() string {
	const path = "github.com/vmikit/vmikit"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == path && m.Version != "" {
			return m.Version
		}
	}
	return "(devel)"
}
