package contract_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
	"github.com/vmikit/vmikit/openapi"
)

func run(t *testing.T, target contract.Target, options ...contract.Option) *contract.Report {
	t.Helper()
	report, err := contract.Run(t.Context(), target, options...)
	require.NoError(t, err)
	return report
}

// with returns the IDs of the checks with an outcome.
func with(report *contract.Report, outcome contract.Outcome) []string {
	var ids []string
	for _, r := range report.Results {
		if r.Outcome == outcome {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// unasked leaves out the checks that nobody runs without asking for them.
func unasked(ids []string) []string {
	return slices.DeleteFunc(ids, func(id string) bool {
		subject, _, _ := strings.Cut(id, ".")
		return slices.Contains([]string{"fixture", "method", "write", "fuzz"}, subject)
	})
}

func text(t *testing.T, report *contract.Report) string {
	t.Helper()
	var b testWriter
	require.NoError(t, report.WriteText(&b))
	return string(b)
}

type testWriter []byte

func (w *testWriter) Write(p []byte) (int, error) { *w = append(*w, p...); return len(p), nil }

// A right server passes under every profile, and nothing is left out: the fleet
// has all that the checks need.
func TestRightServer(t *testing.T) {
	for _, profile := range openapi.Profiles() {
		t.Run(string(profile), func(t *testing.T) {
			target := targetOf(t, mutant.New(mutant.Fleet()))
			if profile == openapi.ProfileDocument {
				target.Namespace = "prod"
			}
			report := run(t, target, contract.WithProfile(profile))
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			assert.Empty(t, with(report, contract.NotExercised), text(t, report))
			assert.Empty(t, with(report, contract.Inconclusive), text(t, report))
			if profile != openapi.ProfileDocument {
				assert.Empty(t, unasked(with(report, contract.Skipped)), text(t, report))
				assert.Empty(t, with(report, contract.Warning), text(t, report))
			}
			assert.Equal(t, contract.ExitGood, report.ExitCode())
			assert.LessOrEqual(t, report.Requests, 400)
		})
	}
}

// Under profile document nothing is asked that the document does not name.
func TestMinimalServerPassesTheDocument(t *testing.T) {
	report := run(t, targetOf(t, mutant.NewMinimal(mutant.Fleet())), contract.WithProfile(openapi.ProfileDocument))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	assert.Empty(t, with(report, contract.NotExercised), text(t, report))
	assert.Equal(t, []string{
		"consistency.head", "namespace.union", "paging.pages", "selector.spelling", "selector.field-namespace",
		"edge.path", "edge.repeated-parameter", "edge.unknown-parameter", "edge.empty-parameter", "edge.selector-syntax", "edge.continue",
		"schema.error", "schema.drift",
	}, unasked(with(report, contract.Skipped)))
	assert.Equal(t, contract.ExitGood, report.ExitCode())
}

func TestFleetsOfEverySize(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 520} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var objects []mutant.Object
			for i := range n {
				labels := map[string]string{"n": fmt.Sprint(i % 7)}
				if i%3 == 0 {
					labels = map[string]string{}
				}
				objects = append(objects, mutant.Machine(i, "many", fmt.Sprintf("vm%04d", i), labels))
			}
			report := run(t, targetOf(t, mutant.New(objects)))
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			assert.LessOrEqual(t, report.Requests, 400)
			want := contract.ExitGood
			if n == 0 {
				want = contract.ExitTooLittle
			}
			assert.Equal(t, want, report.ExitCode())
			assert.Equal(t, n, report.Objects)
		})
	}
}

// Nothing to tell by is never a pass.
func TestNotExercised(t *testing.T) {
	same := map[string]string{"app": "web"}
	objects := []mutant.Object{mutant.Machine(1, "a", "one", same), mutant.Machine(2, "a", "two", same)}
	report := run(t, targetOf(t, mutant.New(objects)), contract.WithOnly("selector"))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	assert.Equal(t, []string{"selector.exists", "selector.not-exists", "selector.near-miss", "selector.field-name"}, with(report, contract.Pass))
	assert.Equal(t, []string{
		"selector.equals", "selector.double-equals", "selector.not-equals", "selector.in", "selector.not-in", "selector.and", "selector.spelling", "selector.both", "selector.field-namespace",
	}, with(report, contract.NotExercised))
	assert.Equal(t, contract.ExitGood, report.ExitCode(), "of chosen checks one that tells something is enough")
	none := run(t, targetOf(t, mutant.New(objects)), contract.WithOnly("selector.equals"))
	assert.Equal(t, contract.ExitTooLittle, none.ExitCode())
	assert.Contains(t, text(t, none), "Too little was told: 0 checks told something, 1 could not")
	rest := run(t, targetOf(t, mutant.New(objects)), contract.WithSkip("schema", "paging", "namespace", "consistency", "auth", "notfound", "edge"))
	assert.Equal(t, contract.ExitTooLittle, rest.ExitCode())
	assert.Contains(t, text(t, rest), "Too little was told: 4 checks told something, 9 could not")

	bare := []mutant.Object{mutant.Machine(1, "a", "one", map[string]string{}), mutant.Machine(2, "a", "two", map[string]string{})}
	report = run(t, targetOf(t, mutant.New(bare)), contract.WithOnly("selector"))
	assert.Equal(t, []string{"selector.field-name"}, with(report, contract.Pass), text(t, report))
	assert.Contains(t, text(t, report), "not exercised selector.not-equals       no object has a label that a selector can be made of")
}

// Where every object has every key, a key that nobody has takes the place of one
// that some lack.
func TestEveryKeyOnEveryObject(t *testing.T) {
	var objects []mutant.Object
	for i := range 6 {
		objects = append(objects, mutant.Machine(i, "a", fmt.Sprintf("vm%d", i), map[string]string{"app": fmt.Sprint("v", i%3), "zone": "one"}))
	}
	drops := func(op string) func(*mutant.Server) {
		return labels(func(t mutant.Term, l map[string]string) (bool, bool) {
			_, has := l[t.Key]
			return has && t.MatchLabel(l), t.Op == op
		})
	}
	report := run(t, targetOf(t, mutant.New(objects)), contract.WithOnly("selector"))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	assert.Subset(t, with(report, contract.Pass), []string{"selector.not-equals", "selector.not-in", "selector.exists", "selector.not-exists"})
	for op, id := range map[string]string{"!=": "selector.not-equals", "notin": "selector.not-in", "!": "selector.not-exists"} {
		s := mutant.New(objects)
		drops(op)(s)
		report := run(t, targetOf(t, s), contract.WithOnly("selector"))
		assert.Contains(t, with(report, contract.Fail), id, text(t, report))
		assert.Subset(t, []string{id, "selector.and", "selector.near-miss"}, with(report, contract.Fail), text(t, report))
	}
}

// The list of all namespaces is looked at though there be one only.
func TestOneNamespace(t *testing.T) {
	for name, fault := range map[string]func(url.Values){
		"paging.limit":    func(q url.Values) { q.Del("limit") },
		"paging.pages":    func(q url.Values) { q.Del("continue") },
		"selector.equals": func(q url.Values) { q.Del("labelSelector") },
	} {
		s := mutant.New(slices.DeleteFunc(mutant.Fleet(), func(o mutant.Object) bool { return o.Namespace != "prod" }))
		s.Query = func(namespace string, q url.Values) {
			if namespace == "" {
				fault(q)
			}
		}
		assert.Contains(t, with(run(t, targetOf(t, s)), contract.Fail), name)
	}
}

// A target that has no object at all, or none that says where it is, proves
// nothing.
func TestNothingThere(t *testing.T) {
	target := targetOf(t, mutant.New(mutant.Fleet()))
	target.Namespace = "nosuch"
	report := run(t, target)
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	assert.Equal(t, contract.ExitTooLittle, report.ExitCode())
	assert.Contains(t, text(t, report), "Too little was told: the target shows no object\n")
	assert.Contains(t, text(t, report), "the target shows 0 objects in namespace nosuch, needed is an object")
}

// A remainingItemCount that is wrong is a warning; it is an estimate by its own
// description.
func TestRemainingItemCount(t *testing.T) {
	for _, wrong := range []string{"999", "0"} {
		s := mutant.New(mutant.Fleet())
		body(200, func(b string) string {
			return regexp.MustCompile(`"remainingItemCount":\d+`).ReplaceAllString(b, `"remainingItemCount":`+wrong)
		})(s)
		report := run(t, targetOf(t, s), contract.WithOnly("paging"))
		assert.Empty(t, with(report, contract.Fail), text(t, report))
		assert.Equal(t, []string{"paging.pages"}, with(report, contract.Warning), text(t, report))
		assert.Contains(t, text(t, report), "got       "+wrong)
		assert.Equal(t, contract.ExitGood, report.ExitCode())
	}
}

// A refusal by another status sends clients on a wrong way; 403 for 401 is a lesser
// fault.
func TestRefusedOtherwise(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	s.Authenticate = func(a string) int {
		switch a {
		case "Bearer " + mutant.GoodToken:
			return 0
		case "", "Bearer " + mutant.ForbiddenToken:
			return http.StatusNotFound
		}
		return http.StatusForbidden
	}
	report := run(t, targetOf(t, s), contract.WithOnly("auth"))
	assert.Equal(t, []string{"auth.wrong-token"}, with(report, contract.Warning), text(t, report))
	assert.Equal(t, []string{"auth.no-token", "auth.forbidden"}, with(report, contract.Fail), text(t, report))
	assert.Equal(t, []string{"auth.wrong-scheme", "auth.near-token", "auth.query-token", "auth.oracle"}, with(report, contract.Pass), text(t, report))
}
