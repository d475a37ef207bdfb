package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/server/servertest"
)

// machine is one for servertest.
func machine(name, phase string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"vms"},"status":{"phase":%q}}`, name, phase)
}

// following pulls events of a watch, each as text, and fails the test where there are
// none.
type following struct {
	t    *testing.T
	next func() (client.Event, error, bool)
}

func follow(t *testing.T, seq iter.Seq2[client.Event, error]) *following {
	t.Helper()
	next, stop := iter.Pull2(seq)
	t.Cleanup(stop)
	return &following{t, next}
}

func (f *following) event() client.Event {
	f.t.Helper()
	e, err, ok := f.next()
	require.NoError(f.t, err)
	require.True(f.t, ok)
	return e
}

// end returns the error that the range ends with.
func (f *following) end() error {
	f.t.Helper()
	e, err, ok := f.next()
	require.True(f.t, ok)
	require.Error(f.t, err)
	assert.Zero(f.t, e)
	_, _, ok = f.next()
	assert.False(f.t, ok, "nothing follows an error")
	return err
}

// expect reads as many events, as in "Modified vms/a Running" and, from a list,
// "Deleted vms/a from list".
func (f *following) expect(want ...string) {
	f.t.Helper()
	var got []string
	for range want {
		e := f.event()
		text := string(e.Type)
		if e.Name != "" {
			text += " " + e.Namespace + "/" + e.Name
		}
		if e.VMI != nil {
			text += " " + string(e.VMI.Phase())
			assert.Equal(f.t, e.Name, e.VMI.Name())
			assert.Equal(f.t, e.UID, e.VMI.UID())
		}
		if e.FromList && e.Type != client.EventSynced {
			text += " from list"
		}
		assert.Equal(f.t, !e.FromList || e.Type == client.EventSynced, e.ResourceVersion != "")
		got = append(got, text)
	}
	require.Equal(f.t, want, got)
}

// watches are the queries of the watches that a server was asked for.
func watches(s *servertest.Server) []string {
	var queries []string
	for _, r := range s.Requests() {
		if r.Verb == "watch" {
			queries = append(queries, r.Query)
		}
	}
	return queries
}

func TestWatchTellsWhatThereIsAndFollows(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("a", "Running"), machine("b", "Pending"), `{"metadata":{"name":"else"}}`))
	for range 2 {
		s.Reset()
		f := follow(t, s.Client.Watch(t.Context(), "vms", client.WatchOptions{}))
		f.expect("Added vms/a Running from list", "Added vms/b Pending from list")
		synced := f.event()
		assert.Equal(t, client.EventSynced, synced.Type)
		s.Update(machine("b", "Scheduling"))
		s.Create(machine("c", "Pending"), `{"metadata":{"name":"other"}}`)
		s.Delete("vms", "a")
		f.expect("Modified vms/b Scheduling", "Added vms/c Pending", "Deleted vms/a Running")

		requests := s.Requests()
		require.Len(t, requests, 2)
		assert.Equal(t, "GET "+machines+"?limit=500", requests[0].String())
		assert.Regexp(t, `^GET `+machines+`\?allowWatchBookmarks=true&resourceVersion=`+synced.ResourceVersion+`&timeoutSeconds=\d{3}&watch=true$`, requests[1].String())
	}
	all := follow(t, s.Client.Watch(t.Context(), "", client.WatchOptions{LabelSelector: "!app", FieldSelector: "metadata.name=else"}))
	all.expect("Added default/else  from list", "Synced")
}

func TestWatchSelects(t *testing.T) {
	labelled := func(app string) string {
		return `{"metadata":{"name":"a","namespace":"vms","labels":{"app":"` + app + `"}}}`
	}
	s := servertest.New(t, servertest.WithObjects(labelled("web"), machine("b", "Running")))
	f := follow(t, s.Client.Watch(t.Context(), "vms", client.WatchOptions{LabelSelector: "app=web"}))
	f.expect("Added vms/a  from list", "Synced")
	s.Update(labelled("db"))
	f.expect("Deleted vms/a ")
	s.Update(labelled("db"), machine("b", "Running"), labelled("web"))
	f.expect("Added vms/a ")
}

func TestWatchSurvives(t *testing.T) {
	second := 1100 * time.Millisecond
	for name, tc := range map[string]struct {
		faults []servertest.Fault
		atMost time.Duration
	}{
		"nothing but the drop":    {},
		"a drop before an answer": {faults: []servertest.Fault{{Drop: servertest.DropBeforeAnswer}}},
		"a drop in the head":      {faults: []servertest.Fault{{Drop: servertest.DropInBody}}},
		"a drop in an event":      {faults: []servertest.Fault{{Drop: servertest.DropInBody, After: 30}}},
		"500":                     {faults: []servertest.Fault{{Status: 500}}},
		"502 of a proxy":          {faults: []servertest.Fault{{Status: 502, Body: "<html>"}}},
		"429":                     {faults: []servertest.Fault{{Status: 429, RetryAfter: time.Second}}, atMost: second},
		"several":                 {faults: []servertest.Fault{{Status: 503}, {Drop: servertest.DropBeforeAnswer}, {Status: 504}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := servertest.New(t, servertest.WithObjects(machine("a", "Pending")))
			var told []error
			f := follow(t, s.Client.Watch(t.Context(), "vms", client.WatchOptions{OnRetry: func(err error, wait time.Duration) {
				told = append(told, err)
				assert.LessOrEqual(t, wait, max(tc.atMost, 400*time.Millisecond))
				assert.GreaterOrEqual(t, wait, min(tc.atMost, time.Second)*time.Duration(len(told)-1))
			}}))
			f.expect("Added vms/a Pending from list", "Synced")
			s.Update(machine("a", "Scheduling"))
			f.expect("Modified vms/a Scheduling")
			for _, fault := range tc.faults {
				fault.Verb, fault.Times = "watch", 1
				s.Inject(fault)
			}
			require.Equal(t, 1, s.DropWatches())
			s.Update(machine("a", "Running"))
			s.Create(machine("b", "Pending"))
			s.Delete("vms", "a")
			f.expect("Modified vms/a Running", "Added vms/b Pending", "Deleted vms/a Running")
			assert.Len(t, told, 1+len(tc.faults))
			for _, err := range told {
				assert.ErrorContains(t, err, "watch vmis in vms: ")
			}
			lists := 0
			for _, r := range s.Requests() {
				if r.Verb == "list" {
					lists++
				}
			}
			assert.Equal(t, 1, lists)
		})
	}
}

func TestWatchListsAgainWhenItsStateHasExpired(t *testing.T) {
	for name, expire := range map[string]func(*servertest.Server){
		"an event": func(s *servertest.Server) { s.Expire() },
		"a status": func(s *servertest.Server) {
			s.Inject(servertest.Fault{Verb: "watch", Status: 410, Times: 1})
		},
		"a list that fails once": func(s *servertest.Server) {
			s.Expire()
			s.Inject(servertest.Fault{Verb: "list", Status: 503, Times: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := servertest.New(t, servertest.WithObjects(machine("a", "Running"), machine("b", "Running"), machine("c", "Running"), machine("d", "Pending")))
			f := follow(t, s.Client.Watch(t.Context(), "vms", client.WatchOptions{}))
			f.expect("Added vms/a Running from list", "Added vms/b Running from list", "Added vms/c Running from list", "Added vms/d Pending from list", "Synced")
			s.Update(machine("d", "Scheduling"))
			f.expect("Modified vms/d Scheduling")
			before, err := s.Client.Get(t.Context(), "vms", "c")
			require.NoError(t, err)

			s.DropWatches()
			s.Delete("vms", "b")
			s.Delete("vms", "c")
			s.Create(machine("c", "Pending"))
			s.Update(machine("d", "Scheduled"))
			s.Update(machine("d", "Running"))
			s.Create(machine("e", "Pending"))
			s.Create(machine("f", "Pending"))
			s.Delete("vms", "f")
			expire(s)
			gone := f.event()
			assert.Equal(t, client.Event{Type: client.EventDeleted, Namespace: "vms", Name: "c", UID: before.UID(), FromList: true}, gone)
			f.expect("Added vms/c Pending from list", "Modified vms/d Running from list", "Added vms/e Pending from list",
				"Deleted vms/b from list", "Synced")
			s.Update(machine("a", "Failed"))
			f.expect("Modified vms/a Failed")
		})
	}
}

func TestWatchSeesAnotherServerInTheSamePlace(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("a", "Running")))
	f := follow(t, s.Client.Watch(t.Context(), "vms", client.WatchOptions{}))
	f.expect("Added vms/a Running from list", "Synced")
	s.Reset()
	f.expect("Deleted vms/a from list", "Added vms/a Running from list", "Synced")
}

func TestWatchFromAResourceVersion(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("a", "Pending")))
	list, err := s.Client.List(t.Context(), "vms", client.ListOptions{})
	require.NoError(t, err)
	s.Update(machine("a", "Running"))
	f := follow(t, s.Client.Watch(t.Context(), "vms", client.WatchOptions{ResourceVersion: list.ResourceVersion}))
	running := f.event()
	assert.Equal(t, client.EventModified, running.Type)
	assert.False(t, running.FromList)
	s.DropWatches()
	s.Delete("vms", "a")
	f.expect("Deleted vms/a Running")

	again := follow(t, s.Client.Watch(t.Context(), "vms", client.WatchOptions{ResourceVersion: running.ResourceVersion}))
	again.expect("Deleted vms/a Running")
	s.DropWatches()
	s.Expire()
	err = f.end()
	assert.ErrorIs(t, err, client.ErrGone)
	assert.ErrorContains(t, err, "watch vmis in vms: too old resource version")

	assert.EqualError(t, follow(t, s.Client.Watch(t.Context(), "vms", client.WatchOptions{ResourceVersion: "0"})).end(),
		`watch vmis in vms: resourceVersion "0" is no state to go on from`)
}

func TestWatchEndsWithTheContext(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("a", "Running")))
	tired := errors.New("tired")
	for name, when := range map[string]func(*following){
		"in the list": func(f *following) { f.expect("Added vms/a Running from list") },
		"following": func(f *following) {
			f.expect("Added vms/a Running from list", "Synced")
			s.Update(machine("a", "Running"))
			f.expect("Modified vms/a Running")
		},
		"waiting": func(f *following) {
			f.expect("Added vms/a Running from list", "Synced")
			s.Inject(servertest.Fault{Status: 503, RetryAfter: time.Hour})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.Reset()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			f := follow(t, s.Client.Watch(ctx, "vms", client.WatchOptions{}))
			when(f)
			if name == "in the list" {
				f.expect("Synced")
			}
			time.AfterFunc(20*time.Millisecond, func() { cancel(tired) })
			err := f.end()
			assert.ErrorIs(t, err, context.Canceled)
			assert.ErrorIs(t, err, tired)
			assert.ErrorContains(t, err, "watch vmis in vms: ")
		})
	}
}

func TestWatchHangsUpWhenTheLoopBreaks(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("a", "Running")))
	for range s.Client.Watch(t.Context(), "", client.WatchOptions{}) {
		break
	}
	for e := range s.Client.Watch(t.Context(), "", client.WatchOptions{}) {
		if e.Type == client.EventSynced {
			break
		}
	}
	assert.Empty(t, watches(s))
	for e := range s.Client.Watch(t.Context(), "", client.WatchOptions{}) {
		if e.Type == client.EventSynced {
			s.Delete("vms", "a")
		} else if e.Type == client.EventDeleted {
			break
		}
	}
	assert.Len(t, watches(s), 1)
	require.Eventually(t, func() bool { return s.DropWatches() == 0 }, 10*time.Second, time.Millisecond, "the server has noticed")
}

func TestWatchEndsWithWhatNoWaitingMends(t *testing.T) {
	for status, kind := range map[int]error{
		400: client.ErrBadRequest, 401: client.ErrUnauthorized, 403: client.ErrForbidden, 404: client.ErrNotFound, 422: nil, 501: nil, 302: nil,
	} {
		s := servertest.New(t)
		f := follow(t, s.Client.Watch(t.Context(), "vms", client.WatchOptions{}))
		f.expect("Synced")
		s.Inject(servertest.Fault{Verb: "watch", Status: status})
		err := f.end()
		var refused *client.Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, status, refused.Status)
		if kind != nil {
			assert.ErrorIs(t, err, kind)
		}
		assert.Contains(t, err.Error(), "watch vmis in vms: ")
		assert.Len(t, watches(s), 1)
	}
}

// A program with a wrong address should not wait for ever without a word.
func TestWatchMustBeginWell(t *testing.T) {
	attempts := 0
	policy := func(client.Attempt) (client.Wait, bool) { attempts++; return client.Wait{}, attempts < 3 }
	dead := connect(t, "http://127.0.0.1:1", client.WithRetry(policy))
	for _, opts := range []client.WatchOptions{{}, {ResourceVersion: "5"}} {
		attempts = 0
		assert.ErrorContains(t, follow(t, dead.Watch(t.Context(), "vms", opts)).end(), "connection refused")
		assert.Equal(t, 3, attempts)
	}
	assert.ErrorContains(t, follow(t, dead.Watch(t.Context(), "..", client.WatchOptions{})).end(), "watch vmis in ..: the namespace may not be")
}

func TestWatchLogsWhatItSurvives(t *testing.T) {
	var log bytes.Buffer
	s := servertest.New(t, servertest.WithClientOptions(client.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))))
	f := follow(t, s.Client.Watch(t.Context(), "vms", client.WatchOptions{}))
	f.expect("Synced")
	s.Inject(servertest.Fault{Verb: "watch", Status: 503, Times: 1})
	s.Create(machine("a", "Running"))
	f.expect("Added vms/a Running")
	assert.Regexp(t, `level=WARN msg="trying again" attempt=1 wait=\S+ error="watch vmis in vms: .*503`, log.String())
}

// feed serves a list of nothing at revision 12, and then one body after another to
// watches, whose queries it notes; after the last it refuses.
func feed(t *testing.T, queries *[]string, bodies ...string) *client.Client {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path != machines:
			w.WriteHeader(http.StatusNotFound)
			return
		case !r.URL.Query().Has("watch"):
			_, _ = io.WriteString(w, page(""))
			return
		}
		*queries = append(*queries, r.URL.Query().Get("resourceVersion"))
		if len(*queries) > len(bodies) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, bodies[len(*queries)-1])
	})
}

func wire(eventType, name, revision, members string) string {
	return `{"type":"` + eventType + `","object":` + strings.Replace(object(name, members), `"namespace"`, `"resourceVersion":"`+revision+`","uid":"u-`+name+`","namespace"`, 1) + "}\n"
}

func TestWatchGoesOnFromBookmarks(t *testing.T) {
	var queries []string
	bookmark := `{"type":"BOOKMARK","object":{"kind":"VirtualMachineInstance","metadata":{"resourceVersion":"50"}}}`
	f := follow(t, feed(t, &queries, wire("ADDED", "a", "20", ""), "", bookmark, wire("ADDED", "a", "20", "")+wire("DELETED", "a", "60", ""),
		wire("DELETED", "a", "60", "")).Watch(t.Context(), "vms", client.WatchOptions{}))
	f.expect("Synced", "Added vms/a ", "Deleted vms/a ")
	assert.ErrorIs(t, f.end(), client.ErrUnauthorized)
	assert.Equal(t, []string{"12", "20", "20", "50", "60", "60"}, queries)
}

func TestEventsThatGoCannotHoldAreEvents(t *testing.T) {
	var queries []string
	bad := wire("ADDED", "a", "20", `,"spec":{"domain":{"cpu":{"cores":"two"}}}`)
	f := follow(t, feed(t, &queries, bad+wire("MODIFIED", "a", "21", "")).Watch(t.Context(), "vms", client.WatchOptions{}))
	f.expect("Synced")
	e := f.event()
	assert.Equal(t, client.EventAdded, e.Type)
	assert.Contains(t, string(e.VMI.Raw), `"cores":"two"`)
	_, err := e.VMI.View()
	var item *client.ItemError
	require.ErrorAs(t, err, &item)
	assert.Equal(t, "/spec/domain/cpu/cores", item.Pointer)
	f.expect("Modified vms/a ")
}

func TestErrorEventsCountAsStatuses(t *testing.T) {
	failure := func(code int, more string) string {
		return fmt.Sprintf(`{"type":"ERROR","object":{"kind":"Status","message":"oops","code":%d%s}}`, code, more)
	}
	var queries []string
	var told []string
	f := follow(t, feed(t, &queries,
		failure(500, ""), failure(429, `,"details":{"retryAfterSeconds":1}`), failure(0, ""), `{"type":"ERROR","object":{}}`, failure(403, `,"reason":"Forbidden"`)).
		Watch(t.Context(), "vms", client.WatchOptions{OnRetry: func(err error, _ time.Duration) { told = append(told, err.Error()) }}))
	f.expect("Synced")
	var refused *client.Error
	require.ErrorAs(t, f.end(), &refused)
	assert.Equal(t, 403, refused.Status)
	assert.Equal(t, "Forbidden", refused.Reason)
	assert.Equal(t, machines, refused.Path)
	assert.Equal(t, []string{"watch vmis in vms: oops (500)", "watch vmis in vms: oops (429)", "watch vmis in vms: oops (500)", "watch vmis in vms: internal server error (500)"}, told)

	queries = nil
	again := follow(t, feed(t, &queries, failure(0, `,"reason":"Expired"`), failure(410, ""), failure(401, "")).Watch(t.Context(), "vms", client.WatchOptions{}))
	again.expect("Synced", "Synced", "Synced")
	assert.ErrorIs(t, again.end(), client.ErrUnauthorized)
}

func TestStreamsThatAreNone(t *testing.T) {
	for want, body := range map[string]string{
		"answer is not JSON: invalid character '<'":                      "<html>",
		"answer is a VirtualMachineInstanceList, not a stream of events": page(""),
		"answer has no kind, it is not a stream of events":               "{}",
		"an event has no resourceVersion":                                `{"type":"ADDED","object":` + object("a", "") + `}`,
		"an event has no name":                                           `{"type":"ADDED","object":{"metadata":{"resourceVersion":"20"}}}`,
		"an event has a Pod where a VirtualMachineInstance belongs":      `{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","resourceVersion":"20"}}}`,
		"an event has a Status where a VirtualMachineInstance belongs":   `{"type":"BOOKMARK","object":{"kind":"Status","metadata":{}}}`,
		"an event has the unknown type RENAMED":                          wire("RENAMED", "a", "20", ""),
		"an event has more than 16778240 bytes":                          wire("ADDED", "a", "20", `,"spec":"`+strings.Repeat("x", 16<<20+2000)+`"`),
		"answer has no kind, it is not":                                  `{"type":5}`,
		"an event is no JSON object":                                     `[]`,
		"an event has nothing where an object belongs":                   `{"type":"ADDED"}`,
		"an event has null where an object belongs":                      `{"type":"MODIFIED","object":null}`,
	} {
		var queries []string
		f := follow(t, feed(t, &queries, body).Watch(t.Context(), "vms", client.WatchOptions{}))
		f.expect("Synced")
		err := f.end()
		var wrong *client.Error
		require.ErrorAs(t, err, &wrong, want)
		assert.Equal(t, 200, wrong.Status)
		assert.ErrorContains(t, err, "watch vmis in vms: "+want)
		assert.Len(t, queries, 1)
	}
	// What breaks off is a connection that was lost.
	var queries []string
	f := follow(t, feed(t, &queries, wire("ADDED", "a", "20", "")[:60], wire("ADDED", "a", "20", "")).Watch(t.Context(), "vms", client.WatchOptions{}))
	f.expect("Synced", "Added vms/a ")
	assert.Equal(t, []string{"12", "12"}, queries)
}

// A list whose state expires in the middle begins anew; nothing is told twice.
func TestWatchListsInPages(t *testing.T) {
	lists := 0
	a, b, c := wire("ADDED", "a", "1", ""), wire("ADDED", "b", "2", ""), wire("ADDED", "c", "3", "")
	item := func(e string) string {
		return strings.TrimSuffix(strings.TrimPrefix(e, `{"type":"ADDED","object":`), "}\n")
	}
	f := follow(t, serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		switch lists++; lists {
		case 1:
			_, _ = io.WriteString(w, page("next", item(a), item(b)))
		case 2:
			assert.Equal(t, "limit=500&continue=next", r.URL.RawQuery)
			w.WriteHeader(http.StatusGone)
		case 3:
			assert.Equal(t, "limit=500", r.URL.RawQuery)
			_, _ = io.WriteString(w, page("next", item(a)))
		case 4:
			_, _ = io.WriteString(w, page("", item(c)))
		}
	}).Watch(t.Context(), "vms", client.WatchOptions{}))
	f.expect("Added vms/a  from list", "Added vms/b  from list", "Added vms/c  from list", "Deleted vms/b from list", "Synced")
	assert.ErrorIs(t, f.end(), client.ErrForbidden)
	assert.Equal(t, 4, lists)
}

// What a watch keeps of a machine has not to do with how large that is.
func TestWatchRemembersLittle(t *testing.T) {
	const machines = 20_000
	items := func(yield func(string) bool) {
		for i := range machines {
			o := wire("ADDED", fmt.Sprintf("machine-%d", i), "1796222725350102", `,"spec":{"x":"`+strings.Repeat("x", 500)+`"}`)
			if !yield(strings.Replace(strings.TrimSuffix(strings.TrimPrefix(o, `{"type":"ADDED","object":`), "}\n"), `"uid":"`, `"uid":"8db11d10-e1ab-44a4-bcf8-`, 1)) {
				return
			}
		}
	}
	body := page("", slices.Collect(items)...)
	c := serve(t, answer(http.StatusOK, "application/json", body))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for e, err := range c.Watch(t.Context(), "vms", client.WatchOptions{}) {
		require.NoError(t, err)
		if e.Type == client.EventSynced {
			each := (heap() - before) / machines
			t.Logf("%d bytes for each machine", each)
			assert.Less(t, each, int64(250))
			break
		}
	}
	runtime.KeepAlive(body)
}
