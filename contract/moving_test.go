package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vmikit/vmikit/contract"
)

// relabel changes an object as a controller would: another label, another
// resourceVersion.
func (s *server) relabel(i, revision int) {
	o := s.objects[i]
	value := fmt.Sprintf("v%d", revision%3)
	s.objects[i] = machine(i+1, o.namespace, o.name, map[string]string{"app": value, "moved": value})
	s.objects[i] = s.objects[i].edited(fmt.Sprintf(`"resourceVersion":"%d"`, 101+i), fmt.Sprintf(`"resourceVersion":"%d"`, 10000+revision))
}

// movements are ways in which objects change before every nth request.
var movements = map[string]func(s *server, n int){
	"one object changes": func(s *server, n int) { s.relabel(3, n) },
	"objects change":     func(s *server, n int) { s.relabel(n%len(s.objects), n) },
	"objects come and go": func(s *server, n int) {
		s.objects = slices.DeleteFunc(s.objects, func(o object) bool { return strings.HasPrefix(o.name, "guest") })
		guest := machine(n, "prod", fmt.Sprintf("guest%d", n), map[string]string{"app": "web"})
		s.objects = append([]object{guest}, s.objects...)
	},
	"an object is made anew": func(s *server, n int) {
		s.objects[5] = s.objects[5].edited(s.objects[5].body[strings.Index(s.objects[5].body, `"uid"`):strings.Index(s.objects[5].body, `},"spec"`)],
			fmt.Sprintf(`"uid":"00000000-0000-4000-9000-%012d"`, n))
		s.objects[5].body = resourceVersion.ReplaceAllString(s.objects[5].body, fmt.Sprintf(`"resourceVersion":"%d"`, 10000+n))
	},
}

// Objects that change under the test are no fault of the server, however often
// they change.
func TestMovingObjects(t *testing.T) {
	for name, move := range movements {
		for _, every := range []int{1, 7, 30} {
			t.Run(fmt.Sprintf("%s/every %d", name, every), func(t *testing.T) {
				t.Parallel()
				s := newServer(fleet())
				n := 0
				s.before = func(s *server) {
					if n++; n%every == 0 {
						move(s, n)
					}
				}
				report := run(t, s.target(t))
				assert.Empty(t, with(report, contract.Fail), text(t, report))
				assert.Equal(t, contract.ExitGood, report.ExitCode())
			})
		}
	}
}

// An object that is there for one request only is in no full list, yet no fault.
func TestPassingGuests(t *testing.T) {
	s := newServer(fleet())
	residents, n := s.objects, 0
	s.before = func(s *server) {
		s.objects = residents
		if n++; n%7 == 0 {
			guest := machine(n, "prod", fmt.Sprintf("vm99-%d", n), map[string]string{"app": "web", "tier": "gold"})
			s.objects = slices.Insert(slices.Clone(residents), 12, guest) // at its place in the order
		}
	}
	report := run(t, s.target(t))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
}

// Where hardly anything stands still nothing can be said, and that is said.
func TestUnstable(t *testing.T) {
	s := newServer(fleet())
	n := 0
	s.before = func(s *server) {
		n++
		for i := range s.objects {
			s.relabel(i, n)
		}
	}
	report := run(t, s.target(t))
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
	s := newServer(fleet())
	n := 0
	s.before = func(s *server) { n++; s.relabel(3, n) }
	report := run(t, s.target(t), contract.WithOnly("consistency"))
	assert.Empty(t, with(report, contract.Inconclusive), text(t, report))
	assert.Contains(t, text(t, report), "20 of 20 objects; left out 1 object that changed meanwhile")
}

// A fault shows through changes that do not explain it; one for each check.
func TestFaultsAmongMovingObjects(t *testing.T) {
	tried := make(map[string]bool)
	for _, m := range mutants {
		id := m.fails[0]
		if tried[id] || m.under != "" || strings.HasPrefix(id, "schema.") {
			continue
		}
		tried[id] = true
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(fleet())
			m.fault(s)
			n := 0
			s.before = func(s *server) {
				if n++; n%10 == 0 {
					s.relabel(0, n)
				}
			}
			report := run(t, s.target(t), contract.WithProbeMethods())
			assert.NotEmpty(t, with(report, contract.Fail), text(t, report))
		})
	}
}
