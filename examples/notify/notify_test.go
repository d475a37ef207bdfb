package notify_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/examples/notify"
	"github.com/vmikit/vmikit/server/servertest"
)

func machine(name, phase string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"status":{"phase":%q}}`, name, phase)
}

// start runs Failures and returns what it tells.
func start(t *testing.T, s *servertest.Server) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	told, ended := make(chan string, 10), make(chan error)
	go func() {
		ended <- notify.Failures(ctx, s.Client, func(machine string) { told <- machine })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return told
}

func expect(t *testing.T, told <-chan string, want string) {
	t.Helper()
	if got := <-told; got != want {
		t.Errorf("told of %q, not of %q", got, want)
	}
}

func TestEachFailureIsToldOnce(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("a", "Failed"), machine("b", "Running")))
	told := start(t, s)
	expect(t, told, "default/a")

	s.Update(machine("b", "Failed"))
	expect(t, told, "default/b")

	// Made anew, it may fail anew.
	s.Delete("default", "a")
	s.Create(machine("a", "Running"))
	s.Update(machine("a", "Failed"))
	expect(t, told, "default/a")
}

func TestFailuresBehindALostConnectionAreTold(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("a", "Failed"), machine("b", "Running")))
	told := start(t, s)
	expect(t, told, "default/a")

	// The server is away, and has forgotten what happened when it comes back.
	lift := s.Inject(servertest.Fault{Verb: "watch", Status: 503})
	s.DropWatches()
	s.Update(machine("b", "Failed"))
	s.Expire()
	lift()
	expect(t, told, "default/b")
}

func TestItEndsWhereItMayNotLook(t *testing.T) {
	s := servertest.New(t)
	s.Inject(servertest.Fault{Status: 403})
	err := notify.Failures(t.Context(), s.Client, func(string) {})
	if !errors.Is(err, client.ErrForbidden) {
		t.Error(err)
	}
}
