package contract_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

func known(t *testing.T, text string) contract.Option {
	t.Helper()
	k, err := contract.ParseKnownFailures(strings.NewReader(text))
	require.NoError(t, err)
	return contract.WithKnownFailures(k...)
}

func TestKnownFailures(t *testing.T) {
	for _, c := range []struct {
		file string
		want contract.Outcome
		exit int
	}{
		{"# nothing\n\n", contract.Fail, contract.ExitFailures},
		{"\ufeffschema.object\r\n", contract.Known, contract.ExitGood},
		{"schema.object # all of them", contract.Known, contract.ExitGood},
		{"schema.object\tcores breaks minimum  # one\nschema.object /spec/evictionStrategy", contract.Known, contract.ExitGood},
		{"schema.object cores breaks minimum", contract.Fail, contract.ExitFailures},
		{"schema.object\nschema.object nothing of the kind", contract.Fail, contract.ExitFailures},
		{"schema.object\nauth.no-token", contract.Known, contract.ExitFailures},
	} {
		s := mutant.New(mutant.Fleet())
		everywhere("vm03", `"cores":2`, `"cores":0`)(s)
		everywhere("vm04", `"evictionStrategy":"LiveMigrate"`, `"evictionStrategy":"Elsewhere"`)(s)
		report := run(t, targetOf(t, s), known(t, c.file))
		assert.Equal(t, c.want, result(t, report, "schema.object").Outcome, c.file)
		assert.Equal(t, c.exit, report.ExitCode(), c.file)
	}
}

// What is known weighs more than a warning beside it.
func TestKnownFailureBesideAWarning(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	everywhere("vm03", `"cores":2`, `"cores":0`)(s)
	everywhere("vm04", `"evictionStrategy":"LiveMigrate"`, `"evictionStrategy":"Elsewhere"`)(s)
	report := run(t, targetOf(t, s), known(t, "schema.object cores breaks minimum"), contract.WithEnumUnknownWarn())
	assert.Equal(t, contract.Known, result(t, report, "schema.object").Outcome, text(t, report))
	assert.Len(t, result(t, report, "schema.object").Findings, 2)
}

// A known failure that is not found any more is to be taken out; one that could
// not be looked for stays.
func TestKnownFailureThatPasses(t *testing.T) {
	report := run(t, targetOf(t, mutant.New(mutant.Fleet())), known(t, "\npaging.limit-zero # until Friday"))
	got := result(t, report, "paging.limit-zero")
	assert.Equal(t, contract.Fail, got.Outcome)
	assert.Equal(t, "the known failure of line 2 is not found any more", got.Findings[0].Message)

	report = run(t, targetOf(t, mutant.New(mutant.Fleet())), known(t, "paging.limit-zero"), contract.WithSkip("paging"))
	got = result(t, report, "paging.limit-zero")
	assert.Equal(t, contract.Skipped, got.Outcome)
	assert.Equal(t, []string{"the known failure of line 1 could not be told"}, got.Notes)
}

func TestKnownFailuresThatCannotBe(t *testing.T) {
	for file, want := range map[string]string{
		"# fine\npaging.limit-one":      `line 2: no check "paging.limit-one"; there is paging.limit, paging.pages, paging.selector, paging.limit-zero`,
		"selectors":                     `line 1: no check "selectors"`,
		"\x1b[2J":                       "line 1: no check",
		strings.Repeat("x", 100000):     "line 1: ",
		"a.b " + strings.Repeat("x", 9): `line 1: no check "a.b"`,
	} {
		_, err := contract.ParseKnownFailures(strings.NewReader(file))
		require.Error(t, err)
		assert.Contains(t, err.Error(), want)
		assert.NotContains(t, err.Error(), "\x1b")
	}
	_, err := contract.Run(t.Context(), contract.Target{URL: "http://localhost:1"}, contract.WithKnownFailures(contract.KnownFailure{ID: "no.such"}))
	assert.ErrorContains(t, err, `no check "no.such"`)
}

func TestRequireExercised(t *testing.T) {
	same := map[string]string{"app": "web"}
	objects := []mutant.Object{mutant.Machine(1, "a", "one", same), mutant.Machine(2, "a", "two", same)}
	for share, want := range map[float64]int{0.3: contract.ExitGood, 0.99: contract.ExitTooLittle} {
		report := run(t, targetOf(t, mutant.New(objects)), contract.WithRequireExercised(share))
		assert.Equal(t, want, report.ExitCode(), text(t, report))
		if want != contract.ExitGood {
			assert.Contains(t, text(t, report), "99% is required")
		}
	}
}

func TestProgress(t *testing.T) {
	var seen []contract.Progress
	report := run(t, targetOf(t, mutant.New(mutant.Fleet())), contract.WithProgress(func(p contract.Progress) { seen = append(seen, p) }))
	last := seen[len(seen)-1]
	assert.Equal(t, contract.Progress{Done: len(contract.Checks()), Checks: len(contract.Checks()), Requests: report.Requests, MaxRequests: 400}, last)
	assert.GreaterOrEqual(t, len(seen), report.Requests)
	for i := range seen[1:] {
		assert.LessOrEqual(t, seen[i].Requests, seen[i+1].Requests)
		assert.LessOrEqual(t, seen[i].Done, seen[i+1].Done)
	}
}

// A finding shows its exchange, without tokens.
func TestExchangeOfAFinding(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	everywhere("vm03", `"cores":2`, `"cores":0`)(s)
	s.InGet = func(o mutant.Object) string {
		return strings.NewReplacer(`"nodeName":"node-1"`, `"nodeName":"node-2"`, mutant.CloudInitSecret, mutant.CloudInitSecret+"-changed").Replace(o.Body)
	}
	report := run(t, targetOf(t, s))
	schema := result(t, report, "schema.object").Findings[0]
	require.NotNil(t, schema.Exchange)
	assert.Equal(t, "GET", schema.Exchange.Method)
	assert.Equal(t, "Bearer $TOKEN", schema.Exchange.RequestHeader.Get("Authorization"))
	assert.Contains(t, schema.Exchange.Body, `"cores":0`)
	get := result(t, report, "consistency.get").Findings[0]
	assert.Contains(t, get.Diff, contract.DiffLine{Op: "-", Text: `/status/nodeName: "node-1"`})
	assert.Contains(t, get.Diff, contract.DiffLine{Op: "+", Text: `/status/nodeName: "node-2"`})
	assert.Contains(t, get.Diff, contract.DiffLine{Op: "+", Text: `/spec/volumes/1/cloudInitNoCloud/userData: "[redacted]"`})
	assert.Equal(t, 200, get.Exchange.Status)
	assert.NotContains(t, get.Exchange.Body, mutant.CloudInitSecret)
	assert.Contains(t, get.Exchange.Body, `"nodeName":"node-2"`)
}
