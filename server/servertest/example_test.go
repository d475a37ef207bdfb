package servertest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"
	"testing"
	"time"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/servertest"
	"github.com/vmikit/vmikit/server/store"
)

// example stands for the *testing.T that a test has.
type example struct {
	testing.TB
	ends []func()
}

func (e *example) Helper()                      {}
func (e *example) Cleanup(end func())           { e.ends = append(e.ends, end) }
func (e *example) Fatal(args ...any)            { log.Fatal(args...) }
func (e *example) Fatalf(f string, args ...any) { log.Fatalf(f, args...) }

func (e *example) end() {
	for _, end := range slices.Backward(e.ends) {
		end()
	}
}

func Example() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithObjects(
		`{"metadata":{"name":"web"},"status":{"phase":"Running"}}`,
		`{"metadata":{"name":"db","namespace":"shop"},"status":{"phase":"Pending"}}`))

	list, err := s.Client.List(context.Background(), "", client.ListOptions{})
	fmt.Println(len(list.Items), "machines,", err)
	// Output: 2 machines, <nil>
}

func ExampleNew() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t)
	_, err := s.Client.Get(context.Background(), "default", "web")
	fmt.Println(err)
	// Output: get vmi default/web: not found (404)
}

func ExampleWithObjects() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	web := vmi.VirtualMachineInstance{Metadata: vmi.ObjectMeta{Name: "web", Namespace: "shop"}}
	s := servertest.New(t, servertest.WithObjects(web, `{"metadata":{"name":"db"}}`))
	for _, namespace := range []string{"shop", "default"} {
		list, _ := s.Client.List(context.Background(), namespace, client.ListOptions{})
		fmt.Println(namespace, len(list.Items))
	}
	// Output:
	// shop 1
	// default 1
}

func ExampleWithHistory() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithHistory(store.History{Changes: 1}))
	list, _ := s.Client.List(context.Background(), "default", client.ListOptions{})
	s.Create(`{"metadata":{"name":"web"}}`, `{"metadata":{"name":"db"}}`)
	for _, err := range s.Client.Watch(context.Background(), "default", client.WatchOptions{ResourceVersion: list.ResourceVersion}) {
		fmt.Println(errors.Is(err, client.ErrGone))
	}
	// Output: true
}

func ExampleWithServerOptions() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithServerOptions(server.WithStrictNamespaces(), server.WithPathPrefix("/k8s")))
	_, err := s.Client.List(context.Background(), "shop", client.ListOptions{})
	fmt.Println(err, "at", s.URL[:17])
	// Output: list vmis in shop: 404 page not found (404) at http://127.0.0.1:
}

func ExampleWithClientOptions() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithClientOptions(client.WithUserAgent("inventory/1.0")))
	_, err := s.Client.List(context.Background(), "", client.ListOptions{})
	fmt.Println(err)
	// Output: <nil>
}

func ExampleServer_Create() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t)
	s.Create(`{"metadata":{"name":"web","namespace":"shop"}}`)
	_, err := s.Client.Get(context.Background(), "shop", "web")
	fmt.Println(err)
	// Output: <nil>
}

func ExampleServer_Update() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web"},"status":{"phase":"Scheduling"}}`))
	s.Update(`{"metadata":{"name":"web"},"status":{"phase":"Running"}}`)
	list, err := s.Client.List(context.Background(), "default", client.ListOptions{})
	fmt.Println(len(list.Items), err)
	// Output: 1 <nil>
}

func ExampleServer_Delete() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web"}}`))
	s.Delete("default", "web")
	_, err := s.Client.Get(context.Background(), "default", "web")
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output: true
}

func ExampleServer_Inject() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web"}}`))
	lift := s.Inject(servertest.Fault{Verb: "get", Name: "web", Status: 403})
	_, err := s.Client.Get(context.Background(), "default", "web")
	fmt.Println(errors.Is(err, client.ErrForbidden))

	lift()
	_, err = s.Client.Get(context.Background(), "default", "web")
	fmt.Println(err)

	// Every answer comes late, until lifted.
	defer s.Inject(servertest.Fault{Delay: time.Hour})()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err = s.Client.Get(ctx, "default", "web")
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// true
	// <nil>
	// true
}

func ExampleServer_Requests() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t)
	_, _ = s.Client.List(context.Background(), "shop", client.ListOptions{LabelSelector: "app=web"})
	for _, r := range s.Requests() {
		fmt.Println(r.Verb, r.Status, r)
	}
	// Output: list 200 GET /apis/kubevirt.io/v1/namespaces/shop/virtualmachineinstances?labelSelector=app%3Dweb
}

func ExampleServer_DropWatches() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web"}}`))
	for e, err := range s.Client.Watch(context.Background(), "default", client.WatchOptions{}) {
		switch {
		case err != nil:
			log.Fatal(err)
		case e.Type == client.EventSynced:
			s.Create(`{"metadata":{"name":"db"}}`)
		case e.Name == "db" && e.Type == client.EventAdded:
			fmt.Println(s.DropWatches(), "dropped")
			s.Delete("default", "db")
		case e.Type == client.EventDeleted:
			fmt.Println(e.Name, "is gone, as the client has seen")
			return
		}
	}
	// Output:
	// 1 dropped
	// db is gone, as the client has seen
}

func ExampleServer_Expire() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"db"}}`, `{"metadata":{"name":"web"}}`))
	page, _ := s.Client.List(context.Background(), "default", client.ListOptions{Limit: 1})
	s.Expire()
	_, err := s.Client.List(context.Background(), "default", client.ListOptions{Limit: 1, Continue: page.Continue})
	fmt.Println(errors.Is(err, client.ErrGone))
	// Output: true
}

// A server for several tests, which has for each of them what it had for the first.
func ExampleServer_Reset() {
	t := &example{} // in a test, its *testing.T
	defer t.end()
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web"}}`))
	s.Delete("default", "web")
	s.Reset()
	_, err := s.Client.Get(context.Background(), "default", "web")
	fmt.Println(err)
	// Output: <nil>
}
