package contract_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// reportSchema compiles report.schema.json. It is open to fields that are added
// later; closed it refuses what it does not name.
func reportSchema(t *testing.T, closed bool) *jsonschema.Schema {
	t.Helper()
	data, err := os.ReadFile("report.schema.json")
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	require.NoError(t, err)
	if closed {
		eachObject(doc, func(o map[string]any) {
			if _, named := o["properties"].(map[string]any); named {
				o["additionalProperties"] = false
			}
		})
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("report.schema.json", doc))
	schema, err := c.Compile("report.schema.json")
	require.NoError(t, err)
	return schema
}

func eachObject(value any, visit func(map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		visit(v)
		for _, inner := range v {
			eachObject(inner, visit)
		}
	case []any:
		for _, inner := range v {
			eachObject(inner, visit)
		}
	}
}

// jsonOf is a report as JSON, which its schema takes.
func jsonOf(t *testing.T, report *contract.Report) map[string]any {
	t.Helper()
	var b testWriter
	require.NoError(t, report.WriteJSON(&b))
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	require.NoError(t, err)
	require.NoError(t, reportSchema(t, true).Validate(value), string(b))
	return value.(map[string]any)
}

// reportsOfAllKinds are reports that have between them whatever a report can have.
func reportsOfAllKinds(t *testing.T) map[string]*contract.Report {
	t.Helper()
	limited := targetOf(t, mutant.New(mutant.Fleet()))
	limited.Namespace = "test"

	odd := mutant.New(mutant.Fleet())
	odd.MatchLabel = func(mutant.Term, map[string]string) bool { return true }
	odd.ZeroLimit = 200
	everywhere("vm03", `"evictionStrategy":"LiveMigrate"`, `"evictionStrategy":"External"`)(odd)

	suffering := mutant.New(mutant.Fleet())
	breaks(func(r *http.Request) bool { return !isList(r) })(suffering)

	ended, err := contract.Run(t.Context(), contract.Target{URL: "http://127.0.0.1:1"})
	require.Error(t, err)
	observer, err := contract.NewObserver("https://cluster.example")
	require.NoError(t, err)
	return map[string]*contract.Report{
		"observed":  observer.Report(),
		"right":     run(t, targetOf(t, mutant.New(mutant.Fleet())), contract.WithSeed(1<<64-1)),
		"limited":   run(t, limited, contract.WithMaxRequests(30)),
		"broken":    broken(t),
		"odd":       run(t, targetOf(t, odd), contract.WithKnownFailures(contract.KnownFailure{ID: "selector.equals"})),
		"suffering": run(t, targetOf(t, suffering)),
		"ended":     ended,
	}
}

// The schema and what is written say the same: nothing is written that the schema
// does not name, and it names nothing that is never written.
func TestJSONKeepsItsSchema(t *testing.T) {
	written := make(map[string]bool)
	for name, report := range reportsOfAllKinds(t) {
		t.Run(name, func(t *testing.T) {
			value := jsonOf(t, report)
			require.NoError(t, reportSchema(t, false).Validate(value))
			eachObject(value, func(o map[string]any) {
				for field := range o {
					written[field] = true
				}
			})
		})
	}
	data, err := os.ReadFile("report.schema.json")
	require.NoError(t, err)
	var schema any
	require.NoError(t, json.Unmarshal(data, &schema))
	eachObject(schema, func(o map[string]any) {
		properties, _ := o["properties"].(map[string]any)
		for field := range properties {
			assert.True(t, written[field], "no report has %s", field)
		}
	})
}

func TestJSONSchemaRefuses(t *testing.T) {
	schema := reportSchema(t, false)
	for name, edit := range map[string]func(map[string]any){
		"another version":    func(r map[string]any) { r["version"] = "2" },
		"no results":         func(r map[string]any) { delete(r, "results") },
		"a seed as a number": func(r map[string]any) { r["seed"] = json.Number("1") },
		"a day without time": func(r map[string]any) { r["started"] = "2026-12-02" },
		"an unknown outcome": func(r map[string]any) { r["results"].([]any)[0].(map[string]any)["outcome"] = "maybe" },
		"an unknown count":   func(r map[string]any) { r["counts"] = map[string]any{"maybe": json.Number("1")} },
	} {
		value := jsonOf(t, &contract.Report{Profile: "kubevirt", Results: []contract.Result{{ID: "schema.object", Outcome: contract.Pass}}})
		edit(value)
		assert.Error(t, schema.Validate(value), name)
	}
	// What a later release adds passes.
	value := jsonOf(t, &contract.Report{Profile: "kubevirt"})
	value["added"] = true
	assert.NoError(t, schema.Validate(value))
}

// Everything of a report is in its JSON.
func TestJSONHasEverything(t *testing.T) {
	report := broken(t)
	report.Started = time.Date(2026, 12, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	value := jsonOf(t, report)
	assert.Equal(t, "2026-12-02T02:04:05.000006Z", value["started"])
	assert.Equal(t, "1", value["seed"])
	assert.Equal(t, json.Number("1"), value["exitCode"])
	assert.Equal(t, json.Number("1"), value["counts"].(map[string]any)["fail"])
	results := value["results"].([]any)
	require.Len(t, results, len(report.Results))
	i := slices.IndexFunc(report.Results, func(r contract.Result) bool { return r.Outcome == contract.Fail })
	result, want := results[i].(map[string]any), report.Results[i]
	assert.Equal(t, want.ID, result["id"])
	assert.Equal(t, "schema", result["subject"])
	assert.Equal(t, "document line 190: VirtualMachineInstance:", "document line "+result["clause"].(map[string]any)["line"].(json.Number).String()+": "+result["clause"].(map[string]any)["text"].(string))
	finding := result["findings"].([]any)[0].(map[string]any)
	assert.Equal(t, want.Findings[0].Curl, finding["curl"])
	assert.Equal(t, json.Number("20"), finding["count"])
	exchange := finding["exchange"].(map[string]any)
	assert.Equal(t, want.Findings[0].Exchange.Body, exchange["response"].(map[string]any)["body"])
	assert.Equal(t, want.Findings[0].Exchange.URL, exchange["request"].(map[string]any)["url"])
}

// The command line that repeats a finding names what made the run what it was.
func TestRerun(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	s.MatchLabel = func(mutant.Term, map[string]string) bool { return true }
	everywhere("vm03", `"cores":2`, `"cores":0`)(s)
	target := targetOf(t, s)
	target.Namespace = "prod"
	report := run(t, target, contract.WithSeed(7), contract.WithProfile("kubernetes"), contract.WithMaxLatency(time.Minute), contract.WithFuzz(3))
	lines := make(map[string]string)
	for _, r := range jsonOf(t, report)["results"].([]any) {
		result := r.(map[string]any)
		lines[result["id"].(string)], _ = result["rerun"].(string)
	}
	for id := range maps.Clone(lines) {
		assert.NotContains(t, lines[id], mutant.GoodToken)
	}
	all := "vmikit contract -s " + target.URL + ` --seed 7 -n prod --profile kubernetes --fuzz 3 --max-latency 1m0s --token "$TOKEN" --forbidden-token "$FORBIDDEN_TOKEN"`
	assert.Equal(t, strings.Replace(all, " --fuzz 3", "", 1)+" --only selector.equals", lines["selector.equals"])
	assert.Equal(t, all, lines["schema.object"], "alone it would see less")
	assert.Empty(t, lines["consistency.list"], "nothing to see again")

	// A report that is not of a run cannot be had again.
	var b testWriter
	require.NoError(t, (&contract.Report{Results: []contract.Result{{ID: "a.b", Outcome: contract.Fail, Findings: []contract.Finding{{Message: "m"}}}}}).WriteText(&b))
	assert.False(t, strings.Contains(string(b), "vmikit contract"))
}
