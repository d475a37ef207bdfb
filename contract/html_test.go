package contract_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

func pageOf(t testing.TB, report *contract.Report) string {
	t.Helper()
	var b testWriter
	require.NoError(t, report.WriteHTML(&b))
	return string(b)
}

// between returns what stands between two texts.
func between(t *testing.T, page, from, to string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, from)
	require.True(t, found, from)
	inner, _, found := strings.Cut(rest, to)
	require.True(t, found, to)
	return inner
}

// failingPage is that of a server with faults of several kinds.
func failingPage(t *testing.T) (*contract.Report, string) {
	t.Helper()
	s := mutant.New(mutant.Fleet())
	s.MatchLabel = func(mutant.Term, map[string]string) bool { return true }
	everywhere("vm03", `"cores":2`, `"cores":0`)(s)
	everywhere("vm04", `"evictionStrategy":"LiveMigrate"`, `"evictionStrategy":"External"`)(s)
	target := targetOf(t, s)
	target.ForbiddenToken = ""
	report := run(t, target)
	return report, pageOf(t, report)
}

func TestHTML(t *testing.T) {
	report, page := failingPage(t)
	counts := report.Counts()
	told := counts[contract.Fail] + counts[contract.Pass] + counts[contract.Warning]
	assert.Contains(t, page, fmt.Sprintf("Failed: %d of %d checks</h1>", counts[contract.Fail], told))
	assert.Less(t, len(page), 200_000, "of %d failures", counts[contract.Fail])
	assert.Less(t, len(pageOf(t, broken(t))), 100_000, "of one failure")
	for _, secret := range []string{mutant.GoodToken, mutant.CloudInitSecret} {
		assert.False(t, strings.Contains(page, secret), secret)
	}

	// Every check is in the picture once, and its cell leads to it.
	for _, r := range report.Results {
		cell := fmt.Sprintf(`href="#%s" title="%s: %s" aria-label="%s: %s"`, r.ID, r.ID, r.Outcome, r.ID, r.Outcome)
		assert.Equal(t, 1, strings.Count(page, cell), cell)
		assert.Equal(t, 1, strings.Count(page, `id="`+r.ID+`"`), r.ID)
	}
	// The groups come in the order in which somebody acts on them.
	var titles []string
	for _, m := range regexp.MustCompile(`<h2>([A-Z][a-z ]+)(?: <span|</h2>)`).FindAllStringSubmatch(page, -1) {
		titles = append(titles, m[1])
	}
	assert.Equal(t, []string{"Failures", "Warnings", "Skipped", "Passes"}, titles)

	check := between(t, page, `<article id="selector.equals"`, "</article>")
	result := report.Results[slices.IndexFunc(report.Results, func(r contract.Result) bool { return r.ID == "selector.equals" })]
	f := result.Findings[0]
	require.NotEmpty(t, f.Diff)
	for _, text := range []string{
		result.Explain, fmt.Sprintf("Document, line %d:", result.Clause.Line), html.EscapeString(result.Clause.Text),
		f.Message, f.Expected, f.Got, fmt.Sprintf("%d times", f.Count), html.EscapeString(f.Curl),
		"<ins>+ " + f.Diff[0].Text, "GET " + html.EscapeString(f.Exchange.URL), "Authorization: Bearer $TOKEN",
		"--only selector.equals</code>", "its beginning only",
	} {
		assert.Contains(t, strings.ReplaceAll(check, "&#43;", "+"), strings.ReplaceAll(text, "&#43;", "+"))
	}
	assert.Contains(t, between(t, page, `<article id="schema.object"`, "</article>"), "\n        &#34;cores&#34;: 0\n", "bodies are laid out")
	assert.Contains(t, between(t, page, `<li id="auth.forbidden"`, "</li>"), "no token without rights was given")
}

// The page brings all that it needs, and its policy lets in nothing else.
func TestHTMLStandsAlone(t *testing.T) {
	_, page := failingPage(t)
	policy := html.UnescapeString(between(t, page, `http-equiv="Content-Security-Policy" content="`, `"`))
	assert.Regexp(t, `^default-src 'none'; style-src 'sha256-[^ ]+'; script-src 'sha256-[^ ]+'; base-uri 'none'; form-action 'none'$`, policy)
	for _, tag := range []string{"style", "script"} {
		assert.Equal(t, 1, strings.Count(page, "<"+tag+">"))
		sum := sha256.Sum256([]byte(between(t, page, "<"+tag+">", "</"+tag+">")))
		assert.Contains(t, policy, tag+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	assert.NotRegexp(t, `<(?:link|img|iframe|object|embed|base|form)\b|\s(?:src|style|on[a-z]+)=|@import|url\(`, page)
	for _, m := range regexp.MustCompile(`\shref="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		id, local := strings.CutPrefix(m[1], "#")
		assert.True(t, local, m[1])
		assert.Contains(t, page, `id="`+id+`"`)
	}
}

func TestHTMLVerdict(t *testing.T) {
	result := func(o contract.Outcome) contract.Result { return contract.Result{ID: "a.b", Outcome: o} }
	for want, report := range map[string]*contract.Report{
		"Passed: 2 checks":            {Objects: 1, Results: []contract.Result{result(contract.Pass), result(contract.Pass)}},
		"Passed: 2 checks, 1 warning": {Objects: 1, Results: []contract.Result{result(contract.Pass), result(contract.Warning)}},
		"Failed: 1 of 1 check":        {Objects: 1, Results: []contract.Result{result(contract.Fail)}},
		"Too little was told":         {Results: []contract.Result{result(contract.Pass)}},
		"The tester failed: 2 errors": {Objects: 1, Results: []contract.Result{result(contract.Error), result(contract.Error)}},
		"Failed: 1 of 2 checks":       {Objects: 1, Results: []contract.Result{result(contract.Fail), result(contract.Known), result(contract.NotExercised)}},
		"Passed: 1 check":             {Objects: 1, Results: []contract.Result{result(contract.Known)}},
		"The run ended in an error":   ended(t),
		"Failed: 13 of 13 checks":     {Objects: 1, Results: slices.Repeat([]contract.Result{result(contract.Fail)}, 13)},
		"The tester failed: 1 error":  {Objects: 1, Results: []contract.Result{result(contract.Error), result(contract.Warning)}},
		"Passed: 1 check, 1 warning":  {Objects: 1, Results: []contract.Result{result(contract.Warning)}},
		"Failed: 1 of 3 checks":       {Results: []contract.Result{result(contract.Fail), result(contract.Pass), result(contract.Warning)}},
	} {
		page := pageOf(t, report)
		assert.Contains(t, page, want+"</h1>")
		assert.Contains(t, page, "<title>"+strings.ToLower(want)+": ")
		if why := report.TooLittle(); why != "" {
			assert.Contains(t, between(t, page, `<p class="aside">`, "</p>"), html.EscapeString(why))
		}
	}
	many := pageOf(t, &contract.Report{Objects: 1, Results: slices.Repeat([]contract.Result{result(contract.Fail)}, 13)})
	assert.Contains(t, many, "<li>and 1 more</li>")
}

func ended(t *testing.T) *contract.Report {
	t.Helper()
	report, err := contract.Run(t.Context(), contract.Target{URL: "http://127.0.0.1:1"})
	require.Error(t, err)
	return report
}

// What could not be told says what it would need; notes are shown of passes, too.
func TestHTMLOfLittle(t *testing.T) {
	report := run(t, targetOf(t, mutant.New(nil)))
	page := pageOf(t, report)
	line := between(t, page, `<li id="selector.equals"`, "</li>")
	assert.Regexp(t, `<p class="needs">It needs .+\.</p>`, line)
	page = pageOf(t, &contract.Report{Results: []contract.Result{
		{ID: "a.b", Outcome: contract.Pass, Notes: []string{"slow: <1s>"}}, {ID: "a.c", Outcome: contract.NotExercised}, {ID: "a.d", Outcome: contract.Skipped}, {ID: "b.c", Outcome: contract.Skipped},
	}})
	assert.Contains(t, page, `<span class="tally">1 of 2 pass</span>`, "what was skipped was not asked")
	assert.Contains(t, page, `<span class="tally">skipped</span>`)
	assert.Contains(t, between(t, page, `<li id="a.b"`, "</li>"), "slow: &lt;1s&gt;")
}

// Of very many findings and very long bodies a page shows the beginning.
func TestHTMLIsBounded(t *testing.T) {
	body := `{"items":[` + strings.Repeat(`{"a":"b"},`, 5000)
	var findings []contract.Finding
	for i := range 250 {
		findings = append(findings, contract.Finding{Outcome: contract.Fail, Message: fmt.Sprint("fault ", i), Exchange: &contract.Exchange{Body: body}})
	}
	page := pageOf(t, &contract.Report{Results: []contract.Result{{ID: "a.b", Outcome: contract.Fail, Findings: findings}}})
	assert.Equal(t, 100, strings.Count(page, `<details class="finding"`))
	assert.Equal(t, 3, strings.Count(page, `<details class="finding" open>`))
	assert.Contains(t, page, "150 more are not shown here")
	assert.Contains(t, page, "Body: <bdi>its beginning only</bdi>")
	assert.Less(t, len(page), 100*12_000)
}

// Whatever a target says stays text: it makes no tag and no attribute, and nothing
// that reorders or hides what stands around it.
func TestHTMLOfAHostileTarget(t *testing.T) {
	plain := tags(pageOf(t, hostileReport("text")))
	for _, attack := range attacks {
		page := pageOf(t, hostileReport(attack))
		assert.Equal(t, plain, tags(page), attack)
		assert.False(t, strings.ContainsAny(page, "\u202e\u2066\u200b\x00\x1b"), attack)
	}
}

var attacks = []string{
	`</script><script>alert(1)</script>`, `</style><style>*{}</style>`, `"><img src=x onerror=alert(1)>`, `' onfocus='alert(1)`, "`${alert(1)}`",
	`<!--`, `]]>`, `{{.}}`, `javascript:alert(1)`, "\u202egpj.exe\u2066\u200b", "a\x00b\x1b[31m", "\xff\xfe", strings.Repeat("<", 10_000),
}

// hostileReport has a text wherever a target can put one.
func hostileReport(text string) *contract.Report {
	header := http.Header{"X-A": {text}}
	return &contract.Report{
		Target: text, Namespace: text, Stopped: text,
		Results: []contract.Result{
			{ID: "a.b", Outcome: contract.Fail, Message: text, Notes: []string{text}, Findings: []contract.Finding{{
				Outcome: contract.Fail, Message: text, Expected: text, Got: text, Objects: []string{text}, Curl: text,
				Diff:     []contract.DiffLine{{Op: "-", Text: text}, {Op: "+", Text: text}},
				Exchange: &contract.Exchange{Method: "GET", URL: text, RequestHeader: header, RequestBody: text, Status: 200, Header: header, Body: text, Note: text},
			}}},
			{ID: "a.c", Outcome: contract.Pass, Message: text, Notes: []string{text}},
		},
	}
}

// tags returns the tags of a page without the values of title and content.
func tags(page string) []string {
	return regexp.MustCompile(`<[^>]*>`).FindAllString(page, -1)
}

// FuzzHTML: no text makes a tag, and JSON that fits is shown whole.
func FuzzHTML(f *testing.F) {
	for _, attack := range attacks {
		f.Add(attack)
	}
	for _, body := range []string{`{}`, `[ ]`, ` {"a" : [1, {"b":"\"}\\"}] } `, `{"a":`, `]]]}`, strings.Repeat("[", 3000), `{"a":"` + strings.Repeat("b", 9000)} {
		f.Add(body)
	}
	plain := tags(pageOf(f, hostileReport("text")))
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" {
			t.Skip("what is empty is left out")
		}
		page := pageOf(t, hostileReport(text))
		assert.True(t, utf8.ValidString(page))
		require.Equal(t, plain, tags(page))
		var compact bytes.Buffer
		if len(text) > 500 || json.Compact(&compact, []byte(text)) != nil || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
			return
		}
		shown := html.UnescapeString(between(t, page, "<pre dir=\"ltr\">200 OK\nX-A: ", "</pre>"))
		_, shown, _ = strings.Cut(shown, "\n\n")
		if compact.Bytes()[0] == '{' || compact.Bytes()[0] == '[' {
			var got bytes.Buffer
			require.NoError(t, json.Compact(&got, []byte(shown)), shown)
			assert.Equal(t, compact.String(), got.String())
		}
	})
}

func TestHTMLTimes(t *testing.T) {
	page := pageOf(t, &contract.Report{Started: time.Date(2026, 12, 2, 3, 4, 5, 0, time.FixedZone("", 3600)), Duration: 1234567 * time.Microsecond, Requests: 7, Seed: 3})
	assert.Contains(t, page, "2026-12-02 02:04:05 UTC")
	assert.Contains(t, page, "7 in 1.235s")
}
