package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// relabel changes an object as a controller would: another label, another
// resourceVersion.
func relabel(s *mutant.Server, i, revision int) {
	o := s.Objects[i]
	value := fmt.Sprintf("v%d", revision%3)
	s.Objects[i] = mutant.Machine(i+1, o.Namespace, o.Name, map[string]string{"app": value, "moved": value})
	s.Objects[i] = s.Objects[i].Edited(fmt.Sprintf(`"resourceVersion":"%d"`, 101+i), fmt.Sprintf(`"resourceVersion":"%d"`, 10000+revision))
}

// movements are ways in which objects change before every nth request.
var movements = map[string]func(s *mutant.Server, n int){
	"one object changes": func(s *mutant.Server, n int) { relabel(s, 3, n) },
	"objects change":     func(s *mutant.Server, n int) { relabel(s, n%len(s.Objects), n) },
	"objects come and go": func(s *mutant.Server, n int) {
		s.Objects = slices.DeleteFunc(s.Objects, func(o mutant.Object) bool { return strings.HasPrefix(o.Name, "guest") })
		guest := mutant.Machine(n, "prod", fmt.Sprintf("guest%d", n), map[string]string{"app": "web"})
		s.Objects = append([]mutant.Object{guest}, s.Objects...)
	},
	"an object is made anew": func(s *mutant.Server, n int) {
		s.Objects[5] = s.Objects[5].Edited(s.Objects[5].Body[strings.Index(s.Objects[5].Body, `"uid"`):strings.Index(s.Objects[5].Body, `},"spec"`)],
			fmt.Sprintf(`"uid":"00000000-0000-4000-9000-%012d"`, n))
		s.Objects[5].Body = resourceVersion.ReplaceAllString(s.Objects[5].Body, fmt.Sprintf(`"resourceVersion":"%d"`, 10000+n))
	},
}

// Objects that change under the test are no fault of the server, however often
// they change.
func TestMovingObjects(t *testing.T) {
	for name, move := range movements {
		for _, every := range []int{7, 1, 30} {
			if testing.Short() && every != 7 {
				continue
			}
			t.Run(fmt.Sprintf("%s/every %d", name, every), func(t *testing.T) {
				t.Parallel()
				s := mutant.New(mutant.Fleet())
				n := 0
				s.Before = func(s *mutant.Server) {
					if n++; n%every == 0 {
						move(s, n)
					}
				}
				report := run(t, targetOf(t, s))
				assert.Empty(t, with(report, contract.Fail), text(t, report))
				assert.Equal(t, contract.ExitGood, report.ExitCode())
			})
		}
	}
}

// An object that is there for one request only is in no full list, yet no fault.
func TestPassingGuests(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	residents, n := s.Objects, 0
	s.Before = func(s *mutant.Server) {
		s.Objects = residents
		if n++; n%7 == 0 {
			guest := mutant.Machine(n, "prod", fmt.Sprintf("vm99-%d", n), map[string]string{"app": "web", "tier": "gold"})
			s.Objects = slices.Insert(slices.Clone(residents), 12, guest) // at its place in the order
		}
	}
	report := run(t, targetOf(t, s))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
}

// Where hardly anything stands still nothing can be said, and that is said.
func TestUnstable(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	n := 0
	s.Before = func(s *mutant.Server) {
		n++
		for i := range s.Objects {
			relabel(s, i, n)
		}
	}
	report := run(t, targetOf(t, s))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	assert.Contains(t, with(report, contract.Inconclusive), "consistency.get")
	for _, r := range report.Results {
		if r.Outcome == contract.Inconclusive {
			assert.Contains(t, r.Message, "unstable")
		}
	}
}

// What was left out is told.
func TestLeftOut(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	n := 0
	s.Before = func(s *mutant.Server) { n++; relabel(s, 3, n) }
	report := run(t, targetOf(t, s), contract.WithOnly("consistency"))
	assert.Empty(t, with(report, contract.Inconclusive), text(t, report))
	assert.Contains(t, text(t, report), "20 of 20 objects; left out 1 object that changed meanwhile")
}

// A fault shows through changes that do not explain it; one for each check.
func TestFaultsAmongMovingObjects(t *testing.T) {
	ids, tried := catches(), make(map[string]bool)
	for _, m := range mutant.All() {
		id := ids[m.Name]
		if tried[id] || m.Profile != "" || m.Needs == mutant.NeedsFixtures || m.Needs == mutant.NeedsWrite || m.Warns || m.Subject == mutant.Schema || m.Subject == mutant.Latency {
			continue
		}
		tried[id] = true
		if testing.Short() && len(tried)%4 != 1 {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			s := m.Server()
			before, n := s.Before, 0
			s.Before = func(s *mutant.Server) {
				before(s)
				if n++; n%10 == 0 {
					relabel(s, 5, n)
				}
			}
			report := run(t, targetOf(t, s), contract.WithProbeMethods())
			assert.NotEmpty(t, with(report, contract.Fail), text(t, report))
		})
	}
}
