package client_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/server/servertest"
	kept "github.com/vmikit/vmikit/server/store"
)

// fleet changes machines at random and knows what it has done: to each machine, in
// order, the numbers of its changes, a number being the machine's label n.
type fleet struct {
	server *servertest.Server
	random *rand.Rand

	mu      sync.Mutex
	number  int
	changes map[string][]change // by namespace and name
}

type change struct {
	number int
	what   client.EventType
}

func (f *fleet) key(i int) (namespace, name string) {
	return fmt.Sprintf("ns-%d", i%3), fmt.Sprintf("vm-%d", i)
}

// step changes one of so many machines.
func (f *fleet) step(machines int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	namespace, name := f.key(f.random.IntN(machines))
	key := namespace + "/" + name
	done := f.changes[key]
	f.number++
	state := fmt.Sprintf(`{"metadata":{"name":%q,"namespace":%q,"labels":{"n":"%d"}}}`, name, namespace, f.number)
	c := change{f.number, client.EventModified}
	switch {
	case len(done) == 0 || done[len(done)-1].what == client.EventDeleted:
		c.what = client.EventAdded
		f.server.Create(state)
	case f.random.IntN(4) == 0:
		c = change{done[len(done)-1].number, client.EventDeleted} // it has its last state
		f.server.Delete(namespace, name)
	default:
		f.server.Update(state)
	}
	f.changes[key] = append(done, c)
}

// believer is what somebody believes who reads a watch: for each machine how many of
// its changes have been told.
type believer struct {
	t     *testing.T
	fleet *fleet
	told  map[string]int
	// absent are the machines that a list did not show. What was made and deleted
	// before it was not told and is not missed.
	absent map[string]bool
	seen   int  // changes that were told one by one
	inList bool // the last event was from a list that has not ended
	synced int
}

func numberOf(t *testing.T, vm *client.VMI) int {
	var object struct {
		Metadata struct{ Labels struct{ N string } }
	}
	require.NoError(t, json.Unmarshal(vm.Raw, &object))
	n, err := strconv.Atoi(object.Metadata.Labels.N)
	require.NoError(t, err)
	return n
}

// take checks an event. One that was watched is the change behind the last that was
// told of the machine; one from a list may be any later one that left the machine so.
func (b *believer) take(e client.Event) {
	b.fleet.mu.Lock()
	defer b.fleet.mu.Unlock()
	require.True(b.t, e.FromList || !b.inList, "a list ends with Synced")
	b.inList = e.FromList && e.Type != client.EventSynced
	if e.Type == client.EventSynced {
		b.synced++
		for key, changes := range b.fleet.changes {
			b.absent[key] = b.told[key] == 0 || changes[b.told[key]-1].what == client.EventDeleted
		}
		return
	}
	key := e.Namespace + "/" + e.Name
	changes, at := b.fleet.changes[key], b.told[key]
	for ; at < len(changes); at++ {
		fits := changes[at].what == e.Type
		switch {
		case e.VMI != nil && !e.FromList:
			fits = changes[at] == change{numberOf(b.t, e.VMI), e.Type}
		case e.VMI != nil:
			fits = changes[at].what != client.EventDeleted && changes[at].number == numberOf(b.t, e.VMI)
		}
		if fits || !e.FromList && !b.absent[key] {
			require.True(b.t, fits, "%s of %s is not change %d, %v", e.Type, key, at, changes[at])
			break
		}
	}
	require.Less(b.t, at, len(changes), "%s of %s was told before, or never was", e.Type, key)
	b.told[key] = at + 1
	if !e.FromList {
		b.absent[key] = false
		b.seen++
	}
}

// current reports whether nothing is left to be told.
func (b *believer) current() bool {
	b.fleet.mu.Lock()
	defer b.fleet.mu.Unlock()
	for key, changes := range b.fleet.changes {
		gone := changes[len(changes)-1].what == client.EventDeleted
		if b.told[key] != len(changes) && !(gone && b.absent[key]) {
			return false
		}
	}
	return true
}

// chaos takes connections away from watches.
type chaos struct {
	fleet           *fleet
	machines        int
	lost, forgotten int
	heaps           []int64
	goroutines      []int
	told            atomic.Int64 // events
	over            atomic.Bool
}

// run changes machines, loses connections, every tenth of which come back too late,
// and changes machines once more when it is over.
func (c *chaos) run(disconnects int) {
	s, random := c.fleet.server, c.fleet.random
	for c.lost < disconnects {
		before := c.told.Load()
		for range 1 + random.IntN(5) {
			c.fleet.step(c.machines)
		}
		// Mostly the watch gets on between two losses, or it would wait longer and
		// longer.
		for patient := random.IntN(5) > 0; patient && c.told.Load() == before; {
			time.Sleep(time.Millisecond)
		}
		if c.lost%10 == 9 {
			c.drop()
			lift := s.Inject(servertest.Fault{Verb: "watch", Drop: servertest.DropBeforeAnswer})
			s.DropWatches() // one that was quicker
			for range 5 {
				c.fleet.step(c.machines)
			}
			s.Expire()
			lift()
			c.forgotten++
		} else {
			switch random.IntN(6) {
			case 0:
				s.Inject(servertest.Fault{Verb: "watch", Times: 1, Status: 503})
			case 1:
				s.Inject(servertest.Fault{Verb: "watch", Times: 1, Drop: servertest.DropBeforeAnswer})
			case 2:
				s.Inject(servertest.Fault{Verb: "watch", Times: 1, Drop: servertest.DropInBody, After: random.IntN(3000)})
			}
			c.drop()
		}
		if c.lost%max(disconnects/10, 1) == 0 {
			c.sample()
		}
	}
	c.over.Store(true)
	c.fleet.step(c.machines)
}

// drop loses the connection of the watch, as soon as there is one.
func (c *chaos) drop() {
	for c.fleet.server.DropWatches() == 0 {
		time.Sleep(time.Millisecond)
	}
	c.lost++
}

func (c *chaos) sample() {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	c.heaps = append(c.heaps, int64(m.HeapAlloc))
	c.goroutines = append(c.goroutines, runtime.NumGoroutine())
}

// Whatever becomes of its connections, a watch tells each change once and in order, or
// lists again. WATCH_SOAK is the number of connections to lose, a tenth of which come
// back to a server that has forgotten what was before; make soak has 2,000.
func TestWatchLosesNothing(t *testing.T) {
	disconnects, machines := 50, 30
	if text := os.Getenv("WATCH_SOAK"); text != "" {
		var err error
		disconnects, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	s := servertest.New(t, servertest.WithHistory(kept.History{Changes: 2000}))
	f := &fleet{server: s, random: rand.New(rand.NewPCG(1, 2)), changes: map[string][]change{}}
	for range 2 * machines {
		f.step(machines)
	}
	b := &believer{t: t, fleet: f, told: map[string]int{}, absent: map[string]bool{}}
	c := &chaos{fleet: f, machines: machines}
	var chaos sync.WaitGroup
	retries := 0
	for e, err := range s.Client.Watch(t.Context(), "", client.WatchOptions{OnRetry: func(error, time.Duration) { retries++ }}) {
		require.NoError(t, err)
		b.take(e)
		c.told.Add(1)
		if e.Type == client.EventSynced && b.synced == 1 {
			chaos.Go(func() { c.run(disconnects) })
		}
		if !b.inList && c.over.Load() && b.current() {
			break
		}
	}
	chaos.Wait()
	assert.GreaterOrEqual(t, retries, disconnects)
	assert.Equal(t, disconnects/10, c.forgotten)
	assert.Equal(t, 1+c.forgotten, b.synced, "lists")
	assert.Greater(t, b.seen, f.number/3, "most changes are seen as they come")
	t.Logf("%d connections lost, history forgotten %d times, %d retries, %d changes, of which %d seen one by one; heap %d KiB, goroutines %d",
		c.lost, c.forgotten, retries, f.number, b.seen, kib(c.heaps), c.goroutines)
	// Nothing grows but what the test itself remembers.
	assert.Less(t, c.heaps[len(c.heaps)-1]-c.heaps[0], int64(4<<20))
	assert.InDelta(t, c.goroutines[0], c.goroutines[len(c.goroutines)-1], 10)
}

func kib(bytes []int64) []int64 {
	kib := make([]int64, len(bytes))
	for i, n := range bytes {
		kib[i] = n >> 10
	}
	return kib
}
