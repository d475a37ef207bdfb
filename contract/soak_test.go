package contract_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// runsOf is how many random fleets are tried: a few in ordinary tests, and as many
// as CONTRACT_SOAK says in make soak.
func runsOf(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CONTRACT_SOAK")
	if text == "" {
		return 4
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// fleetSizes are those that the soak goes through; CI leaves the largest one out.
func fleetSizes() []int {
	if os.Getenv("CONTRACT_SOAK") == "" {
		return []int{0, 1, 20}
	}
	return []int{0, 1, 20, 5000}
}

// randomFleet is a fleet of n machines in one namespace or in fifty, without labels
// or with some that cut across each other, in no order of their own.
func randomFleet(rng *rand.Rand, n int) []mutant.Object {
	namespaces := []int{1, 50}[rng.IntN(2)]
	unlabelled := rng.IntN(4) == 0
	keys := []string{"app", "tier", "kubevirt.io/os", "example.com/Team", "z"}
	objects := make([]mutant.Object, 0, n)
	for i := range n {
		labels := make(map[string]string)
		for _, key := range keys {
			if !unlabelled && rng.IntN(3) > 0 {
				labels[key] = []string{"", "a", "A", "ab", "web", "Web-1", "x.y_z"}[rng.IntN(7)]
			}
		}
		objects = append(objects, mutant.Machine(i, fmt.Sprintf("ns-%02d", rng.IntN(namespaces)), fmt.Sprintf("vm-%05d", i), maps.Clone(labels)))
	}
	slices.SortFunc(objects, func(a, b mutant.Object) int {
		if a.Namespace != b.Namespace {
			return compareText(a.Namespace, b.Namespace)
		}
		return compareText(a.Name, b.Name)
	})
	return objects
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// A right server is never accused, whatever it has and whatever the seed, and
// whether its objects stand still or not.
func TestNoFalseAlarm(t *testing.T) {
	for _, moving := range []bool{false, true} {
		for _, size := range fleetSizes() {
			t.Run(fmt.Sprintf("%d objects, moving %v", size, moving), func(t *testing.T) {
				for i := range runsOf(t) {
					noFalseAlarm(t, size, moving, i)
				}
			})
		}
	}
}

// noFalseAlarm is one run, after which nothing is left of its server.
func noFalseAlarm(t *testing.T, size int, moving bool, i int) {
	t.Helper()
	seed := uint64(i*1000 + size)
	rng := rand.New(rand.NewPCG(seed, 7))
	s := mutant.New(randomFleet(rng, size))
	if moving && size > 0 {
		revision := 0
		s.Before = func(s *mutant.Server) {
			if revision++; revision%(3+rng.IntN(20)) == 0 {
				relabel(s, rng.IntN(len(s.Objects)), revision)
			}
		}
	}
	hs := httptest.NewServer(s)
	defer hs.Close()
	began := time.Now()
	report := run(t, contract.Target{URL: hs.URL, Token: mutant.GoodToken, ForbiddenToken: mutant.ForbiddenToken}, contract.WithSeed(seed))
	assert.Empty(t, with(report, contract.Fail), "seed %d\n%s", seed, text(t, report))
	assert.Empty(t, with(report, contract.Error), "seed %d\n%s", seed, text(t, report))
	assert.LessOrEqual(t, report.Requests, 400)
	if i == 0 || i == runsOf(t)-1 {
		var mem runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&mem)
		t.Logf("run %d: %s, %d requests, %d told nothing, heap %d MiB", i, time.Since(began).Round(time.Millisecond),
			report.Requests, len(with(report, contract.NotExercised))+len(with(report, contract.Inconclusive)), mem.HeapAlloc>>20)
	}
}
