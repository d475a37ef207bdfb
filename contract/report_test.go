package contract_test

import (
	"encoding/xml"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
	"github.com/vmikit/vmikit/openapi"
)

var quiet = log.New(io.Discard, "", 0)

// broken is a report of a server with one fault on every machine.
func broken(t *testing.T) *contract.Report {
	t.Helper()
	s := mutant.New(mutant.Fleet())
	s.InList = func(o mutant.Object) string { return strings.Replace(o.Body, `"cores":2`, `"cores":0`, 1) }
	s.InGet = s.InList
	return run(t, targetOf(t, s))
}

func TestFindingsAreGrouped(t *testing.T) {
	report := broken(t)
	for _, r := range report.Results {
		if r.ID != "schema.object" {
			assert.Contains(t, []contract.Outcome{contract.Pass, contract.Skipped}, r.Outcome, r.ID)
			continue
		}
		require.Len(t, r.Findings, 1)
		f := r.Findings[0]
		assert.Equal(t, 20, f.Count)
		assert.Len(t, f.Objects, 5)
		assert.Equal(t, "/spec/domain/cpu/cores breaks minimum", f.Message)
		assert.Equal(t, "0", f.Got)
		assert.Equal(t, contract.Fail, f.Outcome)
	}
}

func TestText(t *testing.T) {
	report := broken(t)
	report.Target = "https://cluster.example"
	var lines []string
	for line := range strings.Lines(text(t, report)) {
		lines = append(lines, strings.TrimRight(line, "\n"))
		assert.NotContains(t, line, "\x1b")
	}
	assert.Equal(t, "https://cluster.example, profile kubevirt, all namespaces, seed 1", lines[0])
	assert.Contains(t, lines, "pass          consistency.list          20 objects")
	i := -1
	for n, line := range lines {
		if strings.HasPrefix(line, "FAIL          schema.object") {
			i = n
		}
	}
	require.Positive(t, i)
	assert.Equal(t, "    document line 190: VirtualMachineInstance:", lines[i+1])
	assert.Equal(t, []string{
		"  - fail: /spec/domain/cpu/cores breaks minimum (20 times)",
		"      expected  must be at least 1",
		"      got       0",
		"      objects   prod/vm00, prod/vm01, prod/vm02, prod/vm03, prod/vm04, …",
	}, lines[i+3:i+7])
	assert.Regexp(t, `^      request   curl -sS -i -H "Authorization: Bearer \$TOKEN" 'http://127\.0\.0\.1:\d+/apis/`, lines[i+7])
	assert.Regexp(t, `^    again: vmikit contract -s http://127\.0\.0\.1:\d+ --seed 1 `, lines[i+8])
	assert.True(t, strings.HasSuffix(lines[i+8], "  # all checks: it judges the answers to the others"), lines[i+8])
	assert.Regexp(t, `^\d+ pass, 1 fail, \d+ skipped; 20 objects in 3 namespaces, \d+ requests in `, lines[len(lines)-2])
	assert.Regexp(t, `^Failed: 1 of \d+ checks$`, lines[len(lines)-1])
}

// What somebody has to act on stands at the end, where a terminal shows it.
func TestTextHasFailuresLast(t *testing.T) {
	result := func(id string, outcome contract.Outcome) contract.Result {
		return contract.Result{ID: id, Outcome: outcome, Message: "m", Findings: []contract.Finding{{Outcome: outcome, Message: "finding of " + id}}}
	}
	got := text(t, &contract.Report{Objects: 1, Results: []contract.Result{
		result("a.fail", contract.Fail), result("a.warning", contract.Warning), {ID: "a.pass", Outcome: contract.Pass}, result("a.known", contract.Known), result("b.fail", contract.Fail),
	}})
	last := 0
	for _, line := range []string{
		"FAIL          a.fail", "warning       a.warning", "pass          a.pass", "known failure a.known", "FAIL          b.fail",
		"finding of a.known", "finding of a.warning", "finding of a.fail", "finding of b.fail", "1 pass, 2 fail, 1 warning, 1 known failure;",
	} {
		i := strings.Index(got[last:], line)
		require.GreaterOrEqual(t, i, 0, "%s in\n%s", line, got)
		last += i + len(line)
	}
}

// The command line of a finding shows the fault.
func TestCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("no curl here")
	}
	s := mutant.New(mutant.Fleet())
	s.Objects[0] = s.Objects[0].Edited(`"cores":2`, `"cores":0`)
	s.Authenticate = func(a string) int {
		if strings.HasPrefix(a, "Basic ") {
			return 0
		}
		return mutant.New(nil).Authenticate(a)
	}
	report := run(t, targetOf(t, s))
	want := map[string]string{"schema.object": `"cores":0`, "auth.wrong-scheme": "200 OK"}
	for _, r := range report.Results {
		if want[r.ID] == "" {
			continue
		}
		require.NotEmpty(t, r.Findings, r.ID)
		cmd := exec.Command("sh", "-c", r.Findings[0].Curl)
		cmd.Env = append(os.Environ(), "TOKEN="+mutant.GoodToken, "FORBIDDEN_TOKEN="+mutant.ForbiddenToken)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Contains(t, string(out), want[r.ID])
		delete(want, r.ID)
	}
	assert.Empty(t, want)
}

func TestJUnit(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	everywhere("vm03", `"cores":2`, `"cores":0`)(s)
	everywhere("vm04", `"evictionStrategy":"LiveMigrate"`, `"evictionStrategy":"External"`)(s)
	target := targetOf(t, s)
	target.ForbiddenToken = ""
	report := run(t, target)
	var b testWriter
	require.NoError(t, report.WriteJUnit(&b))
	type problem struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	var doc struct {
		Suite struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Skipped  int `xml:"skipped,attr"`
			Cases    []struct {
				Name    string   `xml:"name,attr"`
				Class   string   `xml:"classname,attr"`
				Failure *problem `xml:"failure"`
				Skipped *problem `xml:"skipped"`
				Out     string   `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal(b, &doc))
	assert.Equal(t, len(contract.Checks()), doc.Suite.Tests)
	assert.Equal(t, 1, doc.Suite.Failures)
	assert.Equal(t, report.Counts()[contract.Skipped], doc.Suite.Skipped)
	require.Len(t, doc.Suite.Cases, len(contract.Checks()))
	for i, c := range doc.Suite.Cases {
		require.Equal(t, report.Results[i].ID, c.Name)
		switch c.Name {
		case "schema.object":
			require.NotNil(t, c.Failure)
			assert.Equal(t, "contract.schema", c.Class)
			assert.Equal(t, "/spec/domain/cpu/cores breaks minimum", c.Failure.Message)
			assert.Contains(t, c.Failure.Text, "curl")
		case "schema.drift":
			assert.Nil(t, c.Failure)
			assert.Contains(t, c.Out, "evictionStrategy")
		case "auth.forbidden":
			require.NotNil(t, c.Skipped)
			assert.Equal(t, "skipped: no token without rights was given", c.Skipped.Message)
		default:
			assert.Nil(t, c.Failure, c.Name)
			assert.Equal(t, report.Results[i].Outcome == contract.Skipped, c.Skipped != nil, c.Name)
		}
	}
}

func TestExitCodes(t *testing.T) {
	results := func(outcomes ...contract.Outcome) []contract.Result {
		var rs []contract.Result
		for _, o := range outcomes {
			rs = append(rs, contract.Result{Outcome: o})
		}
		return rs
	}
	for _, c := range []struct {
		report contract.Report
		want   int
	}{
		{contract.Report{Objects: 1, Results: results(contract.Pass, contract.Warning, contract.Inconclusive, contract.NotExercised)}, contract.ExitGood},
		{contract.Report{Objects: 1, Results: results(contract.Pass, contract.Skipped, contract.Skipped)}, contract.ExitGood},
		{contract.Report{Objects: 1, Results: results(contract.Warning)}, contract.ExitGood},
		{contract.Report{Objects: 1, Results: results(contract.Pass, contract.Inconclusive, contract.NotExercised)}, contract.ExitTooLittle},
		{contract.Report{Results: results(contract.Pass, contract.Pass)}, contract.ExitTooLittle},
		{contract.Report{Results: results(contract.Pass, contract.Error, contract.Fail)}, contract.ExitFailures},
		{contract.Report{Results: results(contract.Pass, contract.Error)}, contract.ExitError},
		{contract.Report{Objects: 1, Results: results(contract.Skipped)}, contract.ExitTooLittle},
		{contract.Report{Objects: 1, Results: results(contract.Pass), Stopped: "so"}, contract.ExitTooLittle},
	} {
		assert.Equal(t, c.want, c.report.ExitCode())
	}
}

// Test gives a subtest to every check.
func TestTest(t *testing.T) {
	contract.Test(t, targetOf(t, mutant.New(mutant.Fleet())))
}

// TestBrokenTarget is what somebody's test of a broken target does; it runs in a
// process of its own, below.
func TestBrokenTarget(t *testing.T) {
	if os.Getenv("VMIKIT_TEST_BROKEN") == "" {
		t.Skip("run by TestTestFails")
	}
	s := mutant.New(mutant.Fleet())
	everywhere("vm03", `"cores":2`, `"cores":0`)(s)
	target := targetOf(t, s)
	target.ForbiddenToken = ""
	contract.Test(t, target)
}

func TestTestFails(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestBrokenTarget$", "-test.v")
	cmd.Env = append(os.Environ(), "VMIKIT_TEST_BROKEN=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "--- FAIL: TestBrokenTarget/schema.object")
	assert.Contains(t, string(out), "--- PASS: TestBrokenTarget/schema.list")
	assert.Contains(t, string(out), "--- SKIP: TestBrokenTarget/auth.forbidden")
}

// The clauses stand where they say they do.
func TestClauses(t *testing.T) {
	lines := strings.Split(string(openapi.Source(openapi.ProfileDocument)), "\n")
	ids := make(map[string]bool)
	for _, c := range contract.Checks() {
		assert.False(t, ids[c.ID], c.ID)
		ids[c.ID] = true
		assert.Regexp(t, `^[a-z]+\.[a-z-]+$`, c.ID)
		assert.NotEmpty(t, c.Explain, c.ID)
		if c.Clause.Line != 0 {
			assert.Equal(t, strings.TrimSpace(lines[c.Clause.Line-1]), c.Clause.Text, c.ID)
		}
		for _, n := range c.Needs {
			assert.NotEmpty(t, n.String(), c.ID)
		}
	}
}
