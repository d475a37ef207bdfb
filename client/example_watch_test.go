package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/servertest"
)

// exampleCluster starts a server with machines, whose phases and conditions the
// example changes.
func exampleCluster(objects ...any) (s *servertest.Server, stop func()) {
	t := &exampleRun{}
	s = servertest.New(t, servertest.WithObjects(objects...))
	return s, t.end
}

const (
	exampleDB      = `{"metadata":{"name":"db","namespace":"shop"},"status":{"phase":"Running"}}`
	exampleWeb     = `{"metadata":{"name":"web","namespace":"shop"},"status":{"phase":"Scheduling"}}`
	exampleWebRuns = `{"metadata":{"name":"web","namespace":"shop"},"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"},{"type":"AgentConnected","status":"True"}]}}`
)

func ExampleClient_Watch() {
	s, stop := exampleCluster(exampleDB, exampleWeb)
	defer stop()

	for e, err := range s.Client.Watch(context.Background(), "shop", client.WatchOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		switch e.Type {
		case client.EventSynced:
			fmt.Println("that is all of them")
			s.Update(exampleWebRuns) // somebody does
		case client.EventModified:
			fmt.Println(e.Type, e.Name, e.VMI.Phase())
			s.DropWatches() // a connection that is lost is no end
			s.Delete("shop", "db")
		case client.EventDeleted:
			fmt.Println(e.Type, e.Name)
			return // or go on until the context ends
		case client.EventAdded:
			fmt.Println(e.Type, e.Name, e.VMI.Phase())
		}
	}
	// Output:
	// Added db Running
	// Added web Scheduling
	// that is all of them
	// Modified web Running
	// Deleted db
}

// A server that has forgotten what happened meanwhile is no end of a watch: what is
// different now is told.
func ExampleEvent() {
	s, stop := exampleCluster(exampleDB, exampleWeb)
	defer stop()

	lost := false
	for e, err := range s.Client.Watch(context.Background(), "shop", client.WatchOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Type, e.Name, "from a list:", e.FromList, "object:", e.VMI != nil)
		if e.Type != client.EventSynced {
			continue
		}
		if lost {
			break
		}
		lost = true
		s.Inject(servertest.Fault{Verb: "watch", Status: 503, Times: 1})
		s.Update(exampleWebRuns)
		s.Delete("shop", "db")
		s.Expire()
	}
	// Output:
	// Added db from a list: true object: true
	// Added web from a list: true object: true
	// Synced  from a list: true object: false
	// Modified web from a list: true object: true
	// Deleted db from a list: true object: false
	// Synced  from a list: true object: false
}

func ExampleWatchOptions() {
	s, stop := exampleCluster()
	defer stop()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	s.Inject(servertest.Fault{Verb: "watch", Status: 503, Times: 1})
	opts := client.WatchOptions{
		LabelSelector: "app=web",
		OnRetry: func(err error, wait time.Duration) {
			fmt.Println(err)
			cancel()
		},
	}
	for _, err := range s.Client.Watch(ctx, "shop", opts) {
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// watch vmis in shop: Service Unavailable (a fault of the test) (503)
	// watch vmis in shop: context canceled
}

func ExampleClient_WaitFor() {
	s, stop := exampleCluster(exampleWeb)
	defer stop()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	time.AfterFunc(time.Millisecond, func() { s.Update(exampleWebRuns) })
	vm, err := s.Client.WaitFor(ctx, "shop", "web", client.PhaseIs(vmi.PhaseRunning))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Name(), vm.Phase())
	// Output: web Running
}

func ExampleWaitError() {
	s, stop := exampleCluster(exampleWeb)
	defer stop()

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := s.Client.WaitFor(ctx, "shop", "web", client.Ready())
	fmt.Println(err)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// wait for vmi shop/web to be ready: last seen Scheduling: context deadline exceeded
	// true
}

func ExampleFinalPhaseError() {
	s, stop := exampleCluster(`{"metadata":{"name":"job","namespace":"shop"},"status":{"phase":"Failed"}}`)
	defer stop()

	_, err := s.Client.WaitFor(context.Background(), "shop", "job", client.PhaseIs(vmi.PhaseRunning))
	fmt.Println(err)
	var final *client.FinalPhaseError
	fmt.Println(errors.As(err, &final) && final.Phase == vmi.PhaseFailed)
	// Output:
	// wait for vmi shop/job to be Running: last seen Failed: it has reached Failed, which is final
	// true
}

// show waits for what holds already.
func show(s *servertest.Server, until client.Condition) {
	_, err := s.Client.WaitFor(context.Background(), "shop", "web", until)
	fmt.Println("wait to "+until.What+":", err)
}

func ExampleCondition() {
	s, stop := exampleCluster(`{"metadata":{"name":"web","namespace":"shop"},"status":{"interfaces":[{"ipAddress":"10.0.0.7"}]}}`)
	defer stop()

	addressed := client.Condition{What: "have an address", Met: func(vm *client.VMI) (bool, error) {
		if vm == nil {
			return false, nil // there is no such machine yet
		}
		view, _ := vm.View()
		return len(view.Status.Interfaces) > 0 && view.Status.Interfaces[0].IPAddress != "", nil
	}}
	show(s, addressed)
	// Output: wait to have an address: <nil>
}

func ExamplePhaseIs() {
	s, stop := exampleCluster(exampleWebRuns)
	defer stop()

	show(s, client.PhaseIs(vmi.PhaseScheduled, vmi.PhaseRunning))
	// Output: wait to be Scheduled or Running: <nil>
}

func ExampleReady() {
	s, stop := exampleCluster(exampleWebRuns)
	defer stop()

	show(s, client.Ready())
	// Output: wait to be ready: <nil>
}

func ExampleAgentConnected() {
	s, stop := exampleCluster(exampleWebRuns)
	defer stop()

	show(s, client.AgentConnected())
	// Output: wait to have its guest agent connected: <nil>
}

func ExampleConditionIs() {
	s, stop := exampleCluster(exampleWebRuns)
	defer stop()

	show(s, client.ConditionIs("Ready", vmi.ConditionStatusTrue))
	// Output: wait to have condition Ready True: <nil>
}

func ExampleDeleted() {
	s, stop := exampleCluster(exampleDB)
	defer stop()

	show(s, client.Deleted())
	// Output: wait to be deleted: <nil>
}

// A range that takes longer than the server remembers goes on in the present, if it may.
func ExampleListOptions() {
	s, stop := exampleCluster(exampleDB, exampleWeb)
	defer stop()

	opts := client.ListOptions{Limit: 1, AllowInconsistent: true}
	for vm, err := range s.Client.All(context.Background(), "shop", opts) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(vm.Name(), vm.Phase())
		if vm.Name() == "db" {
			s.Update(exampleWebRuns)
			s.Expire()
		}
	}
	// Output:
	// db Running
	// web Running
}
