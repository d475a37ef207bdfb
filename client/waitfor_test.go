package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/servertest"
)

// conditioned is a running machine with conditions, each as in "Ready=True".
func conditioned(phase string, conditions ...string) string {
	list := ""
	for i, c := range conditions {
		if i > 0 {
			list += ","
		}
		list += c
	}
	return fmt.Sprintf(`{"metadata":{"name":"a","namespace":"vms"},"status":{"phase":%q,"conditions":[%s]}}`, phase, list)
}

const (
	ready        = `{"type":"Ready","status":"True"}`
	notReady     = `{"type":"Ready","status":"False"}`
	agent        = `{"type":"AgentConnected","status":"True"}`
	notMigratory = `{"type":"LiveMigratable","status":"False"}`
)

// waiting starts a WaitFor and returns when its watch is there.
func waiting(t *testing.T, s *servertest.Server, until client.Condition) (result func() (*client.VMI, error)) {
	t.Helper()
	type answer struct {
		vm  *client.VMI
		err error
	}
	done := make(chan answer, 1)
	go func() {
		vm, err := s.Client.WaitFor(t.Context(), "vms", "a", until)
		done <- answer{vm, err}
	}()
	require.Eventually(t, func() bool { return len(watches(s)) > 0 || len(done) > 0 }, 10*time.Second, time.Millisecond)
	return func() (*client.VMI, error) { a := <-done; return a.vm, a.err }
}

func TestWaitForWhatHoldsAlready(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(conditioned("Running", ready, agent, notMigratory)))
	for _, until := range []client.Condition{
		client.PhaseIs(vmi.PhaseRunning), client.PhaseIs(vmi.PhasePending, vmi.PhaseRunning), client.Ready(), client.AgentConnected(),
		client.ConditionIs("LiveMigratable", vmi.ConditionStatusFalse),
	} {
		vm, err := s.Client.WaitFor(t.Context(), "vms", "a", until)
		require.NoError(t, err, until.What)
		assert.Equal(t, "a", vm.Name())
	}
	vm, err := s.Client.WaitFor(t.Context(), "vms", "nosuch", client.Deleted())
	require.NoError(t, err)
	assert.Nil(t, vm)
	for _, r := range s.Requests() {
		assert.Equal(t, "get", r.Verb, "nothing else is asked, and no other permission needed")
	}
}

func TestWaitForWhatComes(t *testing.T) {
	for name, tc := range map[string]struct {
		until client.Condition
		then  []string // states; the condition holds of the last
	}{
		"a phase":         {client.PhaseIs(vmi.PhaseRunning), []string{machine("a", "Scheduling"), machine("a", "Scheduled"), machine("a", "Running")}},
		"the end":         {client.PhaseIs(vmi.PhaseSucceeded, vmi.PhaseFailed), []string{machine("a", "Running"), machine("a", "Failed")}},
		"readiness":       {client.Ready(), []string{conditioned("Running", notReady), conditioned("Running", notReady, agent), conditioned("Running", ready)}},
		"the guest agent": {client.AgentConnected(), []string{conditioned("Running", ready), conditioned("Running", ready, agent)}},
		"no migration":    {client.ConditionIs("LiveMigratable", "False"), []string{conditioned("Running"), conditioned("Running", notMigratory)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := servertest.New(t, servertest.WithObjects(machine("a", "Pending"), machine("b", "Running")))
			result := waiting(t, s, tc.until)
			s.DropWatches()
			for _, state := range tc.then {
				s.Update(state)
			}
			vm, err := result()
			require.NoError(t, err)
			assert.Equal(t, "a", vm.Name())
			met, err := tc.until.Met(vm)
			assert.True(t, met)
			assert.NoError(t, err)
			for _, r := range s.Requests()[1:] {
				assert.Contains(t, r.Query, "fieldSelector=metadata.name%3Da")
			}
		})
	}
}

func TestWaitForAMachineThatIsNotThereYet(t *testing.T) {
	s := servertest.New(t)
	result := waiting(t, s, client.PhaseIs(vmi.PhaseRunning))
	s.Create(machine("b", "Running"), machine("a", "Scheduling"))
	s.Delete("vms", "a")
	s.Create(machine("a", "Running"))
	vm, err := result()
	require.NoError(t, err)
	assert.Equal(t, "a", vm.Name())
}

func TestWaitForDeletion(t *testing.T) {
	for name, again := range map[string]bool{"seen": false, "made again while nobody looked": true} {
		t.Run(name, func(t *testing.T) {
			s := servertest.New(t, servertest.WithObjects(machine("a", "Running")))
			result := waiting(t, s, client.Deleted())
			if again {
				lift := s.Inject(servertest.Fault{Verb: "watch", Status: 503})
				s.DropWatches()
				s.Delete("vms", "a")
				s.Create(machine("a", "Pending"))
				s.Expire()
				lift()
			} else {
				s.Delete("vms", "a")
			}
			vm, err := result()
			require.NoError(t, err)
			assert.Nil(t, vm)
		})
	}
}

// Between the read and the list of the watch it was made anew.
func TestWaitForDeletionThatThePollMisses(t *testing.T) {
	uids := []string{"1", "2"}
	vm, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		o := `{"kind":"VirtualMachineInstance","metadata":{"name":"a","namespace":"vms","resourceVersion":"5","uid":"` + uids[0] + `"}}`
		uids = uids[1:]
		if r.URL.Path == machines {
			o = page("", o)
		}
		_, _ = w.Write([]byte(o))
	}).WaitFor(t.Context(), "vms", "a", client.Deleted())
	require.NoError(t, err)
	assert.Nil(t, vm)
}

func TestWaitForSaysWhatItWaitedFor(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("a", "Scheduling"), machine("end", "Failed"), `{"metadata":{"name":"new","namespace":"vms"}}`))
	deadline := func(name string, until client.Condition) error {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		vm, err := s.Client.WaitFor(ctx, "vms", name, until)
		assert.Nil(t, vm)
		return err
	}
	for _, tc := range []struct {
		name  string
		until client.Condition
		want  string
	}{
		{"a", client.PhaseIs("Running"), "wait for vmi vms/a to be Running: last seen Scheduling: context deadline exceeded"},
		{"a", client.PhaseIs("Running", "Failed"), "wait for vmi vms/a to be Running or Failed: last seen Scheduling: context deadline exceeded"},
		{"a", client.Ready(), "wait for vmi vms/a to be ready: last seen Scheduling: context deadline exceeded"},
		{"a", client.AgentConnected(), "wait for vmi vms/a to have its guest agent connected: last seen Scheduling: context deadline exceeded"},
		{"end", client.ConditionIs("Paused", "True"), "wait for vmi vms/end to have condition Paused True: last seen Failed: context deadline exceeded"},
		{"new", client.Deleted(), "wait for vmi vms/new to be deleted: last seen without a phase: context deadline exceeded"},
		{"nosuch", client.Ready(), "wait for vmi vms/nosuch to be ready: not seen: context deadline exceeded"},
		{"x,y=z", client.Ready(), "wait for vmi vms/x,y=z to be ready: not seen: context deadline exceeded"},
	} {
		err := deadline(tc.name, tc.until)
		assert.EqualError(t, err, tc.want)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		var wait *client.WaitError
		require.ErrorAs(t, err, &wait)
		assert.Equal(t, []string{"vms", tc.name, tc.until.What}, []string{wait.Namespace, wait.Name, wait.What})
	}
	err := deadline("a", client.Condition{What: "vanish", Met: func(vm *client.VMI) (bool, error) {
		if vm != nil {
			s.Delete("vms", "a")
		}
		return false, nil
	}})
	assert.EqualError(t, err, "wait for vmi vms/a to vanish: gone, last seen Scheduling: context deadline exceeded")
}

func TestWaitForGivesUpWhereThereIsNoHope(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("a", "Running")))
	for _, final := range []vmi.Phase{vmi.PhaseSucceeded, vmi.PhaseFailed} {
		for want, until := range map[string]client.Condition{
			"be Scheduled": client.PhaseIs(vmi.PhaseScheduled), "be ready": client.Ready(), "have its guest agent connected": client.AgentConnected(),
		} {
			s.Reset()
			result := waiting(t, s, until)
			s.Update(machine("a", string(final)))
			_, err := result()
			var is *client.FinalPhaseError
			require.ErrorAs(t, err, &is)
			assert.Equal(t, final, is.Phase)
			assert.EqualError(t, err, "wait for vmi vms/a to "+want+": last seen "+string(final)+": it has reached "+string(final)+", which is final")
		}
	}
}

func TestWaitForEndsWithOtherErrors(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("a", "Pending")))
	odd := errors.New("odd")
	_, err := s.Client.WaitFor(t.Context(), "vms", "a", client.Condition{What: "be even", Met: func(*client.VMI) (bool, error) { return false, odd }})
	assert.ErrorIs(t, err, odd)
	_, err = s.Client.WaitFor(t.Context(), "vms", "a", client.Condition{})
	assert.ErrorContains(t, err, "the condition has no function")
	_, err = s.Client.WaitFor(t.Context(), "vms", "a", client.PhaseIs())
	assert.ErrorContains(t, err, "no phase was given")
	_, err = s.Client.WaitFor(t.Context(), "vms", "..", client.Ready())
	assert.ErrorContains(t, err, "the name may not be")
	defer s.Inject(servertest.Fault{Verb: "watch", Status: 403})()
	_, err = s.Client.WaitFor(t.Context(), "vms", "a", client.Ready())
	assert.ErrorIs(t, err, client.ErrForbidden)
	s.Inject(servertest.Fault{Verb: "get", Status: 401})
	_, err = s.Client.WaitFor(t.Context(), "vms", "a", client.Ready())
	assert.ErrorIs(t, err, client.ErrUnauthorized)
}

func TestWaitForReadsPastValuesThatGoCannotHold(t *testing.T) {
	c := serve(t, answer(200, "application/json", object("a", `,"spec":{"domain":{"cpu":{"cores":"two"}}},"status":{"phase":"Running","conditions":[`+ready+`]}`)))
	_, err := c.WaitFor(t.Context(), "vms", "a", client.Ready())
	assert.NoError(t, err)
}

// Whoever stands between the client and an API server may have dropped the selector.
func TestWaitForTakesNoOtherMachine(t *testing.T) {
	queries := []string{}
	c := feed(t, &queries, wire("ADDED", "b", "20", `,"status":{"phase":"Running"}`)+wire("DELETED", "b", "21", "")+
		wire("ADDED", "a", "22", `,"status":{"phase":"Running"}`))
	vm, err := c.WaitFor(t.Context(), "vms", "a", client.PhaseIs(vmi.PhaseRunning))
	require.NoError(t, err)
	assert.Equal(t, "a", vm.Name())
}
