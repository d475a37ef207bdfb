package contract

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/vmikit/vmikit/openapi"
)

// jsonVersion is that of what [Report.WriteJSON] writes. It rises when a program
// that reads the former version would be wrong about the new one.
const jsonVersion = "1"

// The JSON of a report. report.schema.json says the same for other languages.
type (
	jsonReport struct {
		Version         string          `json:"version"`
		Target          string          `json:"target"`
		Profile         openapi.Profile `json:"profile"`
		Namespace       string          `json:"namespace,omitempty"`
		Seed            string          `json:"seed"`
		Started         time.Time       `json:"started"`
		DurationSeconds float64         `json:"durationSeconds"`
		Objects         int             `json:"objects"`
		Namespaces      int             `json:"namespaces"`
		Requests        int             `json:"requests"`
		ExitCode        int             `json:"exitCode"`
		Stopped         string          `json:"stopped,omitempty"`
		TooLittle       string          `json:"tooLittle,omitempty"`
		Counts          map[Outcome]int `json:"counts"`
		Results         []jsonResult    `json:"results"`
	}
	jsonResult struct {
		ID              string        `json:"id"`
		Subject         string        `json:"subject"`
		Outcome         Outcome       `json:"outcome"`
		Message         string        `json:"message"`
		Clause          *jsonClause   `json:"clause,omitempty"`
		Explain         string        `json:"explain,omitempty"`
		Requests        int           `json:"requests"`
		DurationSeconds float64       `json:"durationSeconds"`
		Notes           []string      `json:"notes"`
		Findings        []jsonFinding `json:"findings"`
		Rerun           string        `json:"rerun,omitempty"`
	}
	jsonClause struct {
		Line int    `json:"line,omitempty"`
		Text string `json:"text"`
	}
	jsonFinding struct {
		Outcome  Outcome       `json:"outcome"`
		Message  string        `json:"message"`
		Count    int           `json:"count"`
		Expected string        `json:"expected,omitempty"`
		Got      string        `json:"got,omitempty"`
		Objects  []string      `json:"objects"`
		Diff     []jsonDiff    `json:"diff"`
		Curl     string        `json:"curl,omitempty"`
		Exchange *jsonExchange `json:"exchange,omitempty"`
	}
	jsonDiff struct {
		Op   string `json:"op"`
		Text string `json:"text"`
	}
	jsonExchange struct {
		Request         jsonRequest  `json:"request"`
		Response        jsonResponse `json:"response"`
		Started         time.Time    `json:"started"`
		DurationSeconds float64      `json:"durationSeconds"`
	}
	jsonRequest struct {
		Method  string      `json:"method"`
		URL     string      `json:"url"`
		Headers http.Header `json:"headers"`
		Body    string      `json:"body,omitempty"`
	}
	jsonResponse struct {
		Status  int         `json:"status"`
		Headers http.Header `json:"headers"`
		Body    string      `json:"body,omitempty"`
		Note    string      `json:"note,omitempty"`
	}
)

// WriteJSON writes the report for programs: an object as report.schema.json, a
// JSON Schema beside this file, describes it. Durations are seconds, times are
// RFC 3339 in UTC, and the seed is a string, because it may be beyond what a
// floating-point number holds. What is written now stays within its version;
// fields may be added to it, which readers must let pass.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r.json())
}

func (r *Report) json() jsonReport {
	j := jsonReport{
		Version: jsonVersion, Target: r.Target, Profile: r.Profile, Namespace: r.Namespace,
		Seed:    strconv.FormatUint(r.Seed, 10),
		Started: r.Started.UTC(), DurationSeconds: r.Duration.Seconds(),
		Objects: r.Objects, Namespaces: r.Namespaces, Requests: r.Requests,
		ExitCode: r.ExitCode(), Stopped: r.Stopped, TooLittle: r.TooLittle(),
		Counts: r.Counts(), Results: make([]jsonResult, len(r.Results)),
	}
	for i, result := range r.Results {
		j.Results[i] = result.json()
		if len(result.Findings) > 0 {
			j.Results[i].Rerun = r.rerun(result.ID)
		}
	}
	return j
}

func (r Result) json() jsonResult {
	j := jsonResult{
		ID: r.ID, Subject: r.Subject(), Outcome: r.Outcome, Message: r.Message, Explain: r.Explain,
		Requests: r.Requests, DurationSeconds: r.Duration.Seconds(),
		Notes: append([]string{}, r.Notes...), Findings: make([]jsonFinding, len(r.Findings)),
	}
	if r.Clause != (Clause{}) {
		j.Clause = &jsonClause{r.Clause.Line, r.Clause.Text}
	}
	for i, f := range r.Findings {
		j.Findings[i] = f.json()
	}
	return j
}

func (f Finding) json() jsonFinding {
	j := jsonFinding{
		Outcome: f.Outcome, Message: f.Message, Count: max(1, f.Count), Expected: f.Expected, Got: f.Got,
		Objects: append([]string{}, f.Objects...), Diff: make([]jsonDiff, len(f.Diff)), Curl: f.Curl,
	}
	for i, d := range f.Diff {
		j.Diff[i] = jsonDiff(d)
	}
	if ex := f.Exchange; ex != nil {
		j.Exchange = &jsonExchange{
			Request:  jsonRequest{ex.Method, ex.URL, headers(ex.RequestHeader), ex.RequestBody},
			Response: jsonResponse{ex.Status, headers(ex.Header), ex.Body, ex.Note},
			Started:  ex.Started.UTC(), DurationSeconds: ex.Duration.Seconds(),
		}
	}
	return j
}

// headers are never null.
func headers(h http.Header) http.Header {
	if h == nil {
		return http.Header{}
	}
	return h
}
