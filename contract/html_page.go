package contract

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"
)

// maxPageFindings is how many findings of one check a page shows, openFindings how
// many of them unfolded, and maxHeadlines how many checks its head names.
const (
	maxPageFindings = 100
	openFindings    = 3
	maxHeadlines    = 12
)

// page is what the template of [Report.WriteHTML] shows.
type page struct {
	Style  template.CSS
	Script template.JS
	Policy string

	Title, Headline, Aside string
	// Outcome is that of the whole run.
	Outcome  Outcome
	Failing  []string
	MoreFail int
	Facts    []pageFact
	// Command makes such a run again.
	Command string
	Legend  []pageLegend
	Rows    []pageRow
	Groups  []pageGroup
}

type pageFact struct{ Name, Value string }

type pageLegend struct {
	Outcome Outcome
	Count   int
	Meaning string
}

// pageRow is a row of the picture: the checks of one subject.
type pageRow struct {
	Subject string
	Results []Result
	// Passed of the Asked, those that were not skipped, are right.
	Passed, Asked int
}

// pageGroup is the results of one outcome.
type pageGroup struct {
	Outcome Outcome
	Title   string
	// Detailed groups show what was found, the others one line a check; Folded
	// ones are closed at first.
	Detailed, Folded bool
	Results          []pageResult
}

type pageResult struct {
	Result
	Needs  []string
	Rerun  string
	Shown  []pageFinding
	Hidden int
}

type pageFinding struct {
	Finding
	Open     bool
	More     bool
	Exchange *pageExchange
}

// pageExchange is an exchange as text.
type pageExchange struct {
	Status, Took      string
	Request, Response string
	Note              string
}

// meanings say for people what an outcome is.
var meanings = map[Outcome]string{
	Pass:         "asked, and right",
	Fail:         "wrong",
	Warning:      "usual, though the document says otherwise; or wrong by its prose only",
	NotExercised: "nothing there to tell right from wrong by",
	Skipped:      "switched off, or not claimed",
	Inconclusive: "the target was busy, slow or changing",
	Known:        "wrong, as was known beforehand",
	Error:        "the tester could not do its work",
}

// pageOrder is the order of the groups: what somebody has to act on comes first.
var pageOrder = []struct {
	outcome          Outcome
	title            string
	detailed, folded bool
}{
	{Fail, "Failures", true, false},
	{Error, "Errors of the tester", true, false},
	{Warning, "Warnings", true, false},
	{Inconclusive, "Inconclusive", true, false},
	{NotExercised, "Not exercised", false, false},
	{Known, "Known failures", true, false},
	{Skipped, "Skipped", false, true},
	{Pass, "Passes", false, true},
}

func (r *Report) page() page {
	p := page{
		Style: template.CSS(pageStyle), Script: template.JS(pageScript), Policy: pagePolicy,
		Facts: r.facts(), Command: r.rerun(""), Rows: r.rows(),
	}
	p.Outcome, p.Headline, p.Aside = r.verdict()
	p.Title = strings.ToLower(p.Headline) + ": " + r.Target
	needs := needsByID()
	counts := r.Counts()
	for _, o := range pageOrder {
		if counts[o.outcome] == 0 {
			continue
		}
		p.Legend = append(p.Legend, pageLegend{o.outcome, counts[o.outcome], meanings[o.outcome]})
		g := pageGroup{Outcome: o.outcome, Title: o.title, Detailed: o.detailed, Folded: o.folded}
		for _, result := range r.Results {
			if result.Outcome == o.outcome {
				g.Results = append(g.Results, r.pageResult(result, needs[result.ID]))
			}
		}
		p.Groups = append(p.Groups, g)
	}
	for _, result := range r.Results {
		if result.Outcome == Fail {
			p.Failing = append(p.Failing, result.ID)
		}
	}
	if n := len(p.Failing); n > maxHeadlines {
		p.Failing, p.MoreFail = p.Failing[:maxHeadlines], n-maxHeadlines
	}
	return p
}

// verdict is what somebody wants to know first, and what goes with it.
func (r *Report) verdict() (outcome Outcome, headline, aside string) {
	counts := r.Counts()
	told := counts[Pass] + counts[Fail] + counts[Warning] + counts[Known]
	aside = r.TooLittle()
	if aside != "" {
		aside = "Too little was told to go by: " + aside + "."
	}
	switch {
	case r.err != nil:
		return Error, "The run ended in an error", r.err.Error()
	case counts[Fail] > 0:
		return Fail, fmt.Sprintf("Failed: %d of %s", counts[Fail], number(told, "check")), aside
	case counts[Error] > 0:
		return Error, "The tester failed: " + number(counts[Error], "error"), aside
	case aside != "":
		return NotExercised, "Too little was told", aside
	case counts[Warning] > 0:
		return Pass, fmt.Sprintf("Passed: %s, %s", number(told, "check"), number(counts[Warning], "warning")), ""
	}
	return Pass, "Passed: " + number(told, "check"), ""
}

func (r *Report) facts() []pageFact {
	facts := []pageFact{
		{"Target", r.Target},
		{"Profile", string(r.Profile)},
		{"Where", r.where()},
		{"Objects", fmt.Sprintf("%d in %s", r.Objects, number(r.Namespaces, "namespace"))},
		{"Requests", fmt.Sprintf("%d in %s", r.Requests, r.Duration.Round(time.Millisecond))},
		{"Seed", fmt.Sprint(r.Seed)},
	}
	if !r.Started.IsZero() {
		facts = append(facts, pageFact{"Started", r.Started.UTC().Format("2006-01-02 15:04:05 UTC")})
	}
	return facts
}

// rows are the subjects in the order in which they ran.
func (r *Report) rows() []pageRow {
	var rows []pageRow
	for _, result := range r.Results {
		i := slices.IndexFunc(rows, func(row pageRow) bool { return row.Subject == result.Subject() })
		if i < 0 {
			i = len(rows)
			rows = append(rows, pageRow{Subject: result.Subject()})
		}
		rows[i].Results = append(rows[i].Results, result)
		if result.Outcome == Pass {
			rows[i].Passed++
		}
		if result.Outcome != Skipped {
			rows[i].Asked++
		}
	}
	return rows
}

func (r *Report) pageResult(result Result, needs []string) pageResult {
	p := pageResult{Result: result, Needs: needs}
	if len(result.Findings) > 0 {
		p.Rerun = r.rerun(result.ID)
	}
	shown := result.Findings[:min(len(result.Findings), maxPageFindings)]
	p.Hidden = len(result.Findings) - len(shown)
	for i, f := range shown {
		p.Shown = append(p.Shown, pageFinding{f, i < openFindings, more(f) != "", f.Exchange.page()})
	}
	return p
}

func (ex *Exchange) page() *pageExchange {
	if ex == nil {
		return nil
	}
	p := &pageExchange{
		Status: strings.TrimSpace(fmt.Sprintf("%d %s", ex.Status, http.StatusText(ex.Status))),
		Took:   short(ex.Duration),
		Note:   ex.Note,
	}
	body, whole := indented(ex.Body, maxPageBody)
	if !whole {
		p.Note = strings.TrimPrefix(p.Note+"; its beginning only", "; ")
	}
	requestBody, _ := indented(ex.RequestBody, maxPageBody)
	p.Request = httpText(ex.Method+" "+ex.URL, ex.RequestHeader, requestBody)
	p.Response = httpText(p.Status, ex.Header, body)
	return p
}

// httpText is a message as HTTP/1.1 writes it.
func httpText(first string, header http.Header, body string) string {
	var b strings.Builder
	b.WriteString(first + "\n")
	for _, h := range harHeaders(header) {
		b.WriteString(h.Name + ": " + h.Value + "\n")
	}
	if body != "" {
		b.WriteString("\n" + body)
	}
	return strings.TrimRight(b.String(), "\n")
}

// needsByID are what the checks need, for those that have not got it.
func needsByID() map[string][]string {
	needs := make(map[string][]string)
	for _, c := range Checks() {
		for _, n := range c.Needs {
			needs[c.ID] = append(needs[c.ID], n.String())
		}
	}
	return needs
}
