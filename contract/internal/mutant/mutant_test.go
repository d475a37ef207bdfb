package mutant_test

import (
	"cmp"
	"io"
	"log"
	"reflect"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract/internal/mutant"
)

var quiet = log.New(io.Discard, "", 0)

var subjects = []string{mutant.Schema, mutant.JSON, mutant.ContentType, mutant.Error, mutant.Selector, mutant.Paging, mutant.Consistency,
	mutant.Namespace, mutant.Prose, mutant.Auth, mutant.Edge, mutant.Method, mutant.Fixtures, mutant.Latency, mutant.Write, mutant.Watch}

func TestTheListIsInOrder(t *testing.T) {
	names, count, document := map[string]bool{}, map[string]int{}, 0
	spelling := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	for _, m := range mutant.All() {
		assert.Regexp(t, spelling, m.Name)
		assert.False(t, names[m.Name], "%s is there twice", m.Name)
		names[m.Name] = true
		assert.Contains(t, subjects, m.Subject, m.Name)
		assert.Contains(t, []string{"", "document"}, m.Profile, m.Name)
		assert.Contains(t, []string{"", mutant.NeedsFixtures, mutant.NeedsProbeMethods, mutant.NeedsForbiddenToken, mutant.NeedsWrite}, m.Needs, m.Name)
		count[m.Subject]++
		if m.Profile != "" {
			document++
		}
	}
	assert.GreaterOrEqual(t, len(names), 150)
	assert.GreaterOrEqual(t, document, 10)
	for _, subject := range subjects {
		assert.GreaterOrEqual(t, count[subject], 5, subject)
	}
	t.Log(len(names), count, "document", document)
}

// rightAnswers are those of the right server to all requests, by profile; it is
// asked once.
var rightAnswers = map[string]func(*testing.T) [][]seen{"": askRight(""), "document": askRight("document")}

func askRight(profile string) func(*testing.T) [][]seen {
	var once sync.Once
	var answers [][]seen
	return func(t *testing.T) [][]seen {
		once.Do(func() {
			c := call(t, mutant.Mutant{Profile: profile}.Right())
			for _, r := range requests() {
				answers = append(answers, c.all(t, r))
			}
		})
		return answers
	}
}

// Every fault shows: at least one answer is another than the right server's to the
// same request, and none of those that a tester gets without what the fault needs.
func TestEveryFaultShows(t *testing.T) {
	t.Parallel()
	requests := requests()
	for _, m := range mutant.All() {
		if m.Needs == mutant.NeedsWrite {
			continue // they show in what was written and watched: the tester's tests are the proof
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			c := call(t, m.Server())
			shows := func(i int) bool {
				start := time.Now()
				answers := c.all(t, requests[i])
				slow := m.Subject == mutant.Latency && time.Since(start) >= mutant.Slow
				return slow || !reflect.DeepEqual(rightAnswers[m.Profile](t)[i], answers)
			}
			// What is about its subject is asked first; the answers of the right
			// server do not depend on the order.
			order := make([]int, len(requests))
			for i := range order {
				order[i] = i
			}
			rank := func(i int) int {
				switch requests[i].subject {
				case m.Subject:
					return 0
				case "":
					return 1
				}
				return 2
			}
			slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(rank(i), rank(j)) })
			for _, i := range order {
				if !shows(i) {
					continue
				}
				if needs := requests[i].needs; needs != m.Needs && m.Needs != mutant.NeedsFixtures {
					assert.Fail(t, "it shows without what it needs", "%q at %s", m.Needs, requests[i])
				}
				t.Log("shows at", requests[i])
				return
			}
			assert.Fail(t, "it never shows")
		})
	}
}

// The right server gives the same answers to the same requests, and never fails.
func TestTheRightServerDoesNotChange(t *testing.T) {
	t.Parallel()
	for profile, answers := range rightAnswers {
		c := call(t, mutant.Mutant{Profile: profile}.Right())
		for i, r := range requests() {
			again := c.all(t, r)
			require.Equal(t, answers(t)[i], again, r.String())
			for _, s := range again {
				require.False(t, s.Broken, r.String())
				require.Less(t, s.Code, 500, r.String())
			}
		}
	}
}
