package server_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// looker writes down what it is told.
type looker struct {
	mu     sync.Mutex
	began  map[server.RequestInfo]int
	ended  map[string]int
	events map[server.RequestInfo]int
	long   time.Duration
}

func newLooker() *looker {
	return &looker{began: map[server.RequestInfo]int{}, ended: map[string]int{}, events: map[server.RequestInfo]int{}}
}

func (l *looker) RequestBegan(i server.RequestInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began[i]++
}

func (l *looker) EventSent(i server.RequestInfo) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events[i]++
}

func (l *looker) RequestEnded(i server.RequestInfo, o server.Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.began[i]--
	l.ended[fmt.Sprintf("%s %s/%s/%s %d", i.Verb, i.Group, i.Version, i.Resource, o.Code)]++
	l.long = max(l.long, o.Took)
}

// open are the requests that began and did not end.
func (l *looker) open() (open int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.began {
		open += n
	}
	return open
}

func TestObserver(t *testing.T) {
	l := newLooker()
	f := start(t, server.WithObserver(l), tokens(t), server.WithPathPrefix("/k8s")).create("vms/a", "vms/b")
	const token = "Authorization: Bearer admintoken"
	const inVMs = "/k8s" + inVMs
	f.get(inVMs, token)
	f.get(inVMs+"/a", token)
	f.get(inVMs+"/nosuch", token)
	f.get(inVMs)
	f.send("DELETE", inVMs+"/b", "", token)
	f.get("/k8s/version", token)
	f.get("/k8s/api/v1/namespaces", token)
	// What clients make up is not told apart.
	for i := range 3 {
		f.do(fmt.Sprint("METHOD", i), "/k8s/version", token)
		f.do(fmt.Sprint("METHOD", i), inVMs, token)
		f.get(fmt.Sprintf("/k8s/apis/made.up/v%d/things%d/x/sub%d", i, i, i), token)
		f.get(fmt.Sprintf("/beside%d", i), token)
		f.get("/k8s/version", token, fmt.Sprintf("Host: made-up-%d.example", i))
	}
	w := f.watch(inVMs+"?watch=1", token)
	w.next(1)
	watches := server.RequestInfo{Verb: "watch", Group: "kubevirt.io", Version: "v1", Resource: "virtualmachineinstances"}
	l.mu.Lock()
	assert.Equal(t, 1, l.began[watches], "a watch that is open")
	assert.Equal(t, 1, l.events[watches])
	l.mu.Unlock()
	w.Body.Close()
	assert.Eventually(t, func() bool { return l.open() == 0 }, 10*time.Second, time.Millisecond)
	assert.Equal(t, map[string]int{
		"list kubevirt.io/v1/virtualmachineinstances 200":   1,
		"get kubevirt.io/v1/virtualmachineinstances 200":    1,
		"get kubevirt.io/v1/virtualmachineinstances 404":    1,
		"list kubevirt.io/v1/virtualmachineinstances 401":   1,
		"delete kubevirt.io/v1/virtualmachineinstances 200": 1,
		"watch kubevirt.io/v1/virtualmachineinstances 200":  1,
		" kubevirt.io/v1/virtualmachineinstances 405":       3,
		"get // 200":              1,
		"list /v1/namespaces 200": 1,
		" // 405":                 3,
		"get // 404":              3,
		" // 404":                 3,
		" // 403":                 3,
	}, l.ended)
	assert.Positive(t, l.long)

	_, err := server.New(store.NewMemory(), server.WithObserver(nil))
	require.EqualError(t, err, "server: the observer is nil")
}
