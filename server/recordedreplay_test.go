package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/rbac"
	"github.com/vmikit/vmikit/server/store"
)

// replay asks our server what was asked of the recorded one. Its clock, its ids and
// its revisions are those of the recording, so that answers can be compared as they
// are.
type replay struct {
	t    *testing.T
	addr string
	now  atomic.Int64 // seconds since 1970

	mu    sync.Mutex
	ids   []string
	drawn chan struct{} // closed when the first of ids is taken

	slow  sync.WaitGroup
	found sync.Map // id of a recording -> []string, where we differ
}

// recordedRevision is that of etcd before the recorder's first write.
const recordedRevision = 4

// newReplay starts a server like the recorded one was: its three users, and what its
// authorizer let them do, and whether it let people in unknown.
func newReplay(t *testing.T, anonymous bool) *replay {
	t.Helper()
	p := &replay{t: t}
	policy, err := rbac.New(
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"view","namespace":"vms"},
			"rules":[{"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances"],"verbs":["get","list","watch"]}]}`),
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"view","namespace":"vms"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"view"},
			"subjects":[{"kind":"User","name":"viewer","apiGroup":"rbac.authorization.k8s.io"}]}`),
	)
	require.NoError(t, err)
	life, end := context.WithCancel(context.Background())
	options := []server.Option{
		tokens(t), server.WithPolicy(policy), server.WithLifetime(life), server.WithResponseValidation(server.ValidateFull),
		server.WithClock(func() time.Time { return time.Unix(p.now.Load(), 0) }), server.WithIDs(p.nextID),
	}
	if anonymous {
		options = append(options, server.WithAnonymous())
	}
	h, err := server.New(store.NewMemory(store.WithClock(func() time.Time { return time.UnixMicro(recordedRevision) })), options...)
	require.NoError(t, err)
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		end()
		srv.Close()
	})
	p.addr = srv.Listener.Addr().String()
	return p
}

// nextID is the next id of the recording: that of the request, then the uid of what
// it made.
func (p *replay) nextID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.ids) == 0 {
		return uuid.NewString()
	}
	id := p.ids[0]
	p.ids = p.ids[1:]
	if p.drawn != nil {
		close(p.drawn)
		p.drawn = nil
	}
	return id
}

// draw says which ids come next. The channel is closed when the first is taken.
func (p *replay) draw(ids ...string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids, p.drawn = ids, make(chan struct{})
	return p.drawn
}

const recordedMachines = "/apis/kubevirt.io/v1/namespaces/vms/virtualmachineinstances"

// setUp makes the objects that the recorder made first, and brings them to the state
// in which it asked what is in a file.
func (p *replay) setUp(file string) {
	for _, r := range readRecordings(p.t, "00-setup") {
		p.ask(r)
	}
	if file > "02-paging" {
		p.annotate()
	}
	if file > "08-watch" {
		p.comeAndGo(readRecordings(p.t, "08-watch"))
	}
}

// fetch reads what is there.
func (p *replay) fetch(target string) []byte { return p.do(http.MethodGet, target, "", "") }

// do sends a request that was not recorded, and returns the body of the answer.
func (p *replay) do(method, target, media, body string) []byte {
	p.t.Helper()
	r := &recording{method: method, target: target, body: body, headers: []string{
		"Authorization: Bearer admintoken", "User-Agent: rec/1", "Content-Type: " + media, "Content-Length: " + strconv.Itoa(len(body)),
	}}
	res, conn := p.send(r)
	defer conn.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(p.t, err)
	require.Less(p.t, res.StatusCode, 300, "%s %s: %s", method, target, text)
	return text
}

// ask sends a recorded request and compares the answer. What a server is in no hurry
// to answer is waited for in the background.
func (p *replay) ask(r *recording) {
	p.t.Helper()
	write := r.method != http.MethodGet
	if write {
		p.slow.Wait()
	}
	asked := *r
	asked.target = p.target(r)
	r = &asked
	if date, err := http.ParseTime(r.header.Get("Date")); err == nil {
		p.now.Store(date.Unix())
	}
	ids := r.header.Values("Audit-Id")
	if v, _, ok := parseValue([]byte(r.text)); ok && write && r.status == http.StatusCreated {
		ids = append(ids, v.get("metadata", "uid").text())
	}
	drawn := p.draw(ids...)

	if r.status == http.StatusGatewayTimeout {
		p.slow.Go(func() { p.found.Store(r.id, compareAnswers(r, p.whole(r))) })
		<-drawn
		return
	}
	if r.stream {
		p.watch(r)
		return
	}
	p.found.Store(r.id, compareAnswers(r, p.whole(r)))
}

// replayed is our answer to a recorded request.
type replayed struct {
	status int
	header http.Header
	body   []byte
	// events are the lines of a stream; closed says that we ended it.
	events []string
	closed bool
}

// whole reads an answer to its end.
func (p *replay) whole(r *recording) replayed {
	res, conn := p.send(r)
	defer conn.Close()
	body, err := io.ReadAll(res.Body)
	assert.NoError(p.t, err, "%s: the body of our answer", r)
	return replayed{status: res.StatusCode, header: res.Header, body: body}
}

// watch reads as many events as were recorded, and goes on in the background for
// what should not come.
func (p *replay) watch(r *recording) {
	res, conn := p.send(r)
	ours := replayed{status: res.StatusCode, header: res.Header}
	if res.StatusCode != http.StatusOK {
		ours.body, _ = io.ReadAll(res.Body)
		conn.Close()
		p.found.Store(r.id, compareAnswers(r, ours))
		return
	}
	if happens := during[r.title]; happens != nil {
		happens(p)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for range r.lines {
		if !lines.Scan() {
			break
		}
		ours.events = append(ours.events, lines.Text())
	}
	p.slow.Go(func() {
		defer conn.Close()
		for r.closed && lines.Scan() {
			ours.events = append(ours.events, lines.Text())
		}
		ours.closed = r.closed && lines.Err() == nil
		p.found.Store(r.id, compareAnswers(r, ours))
	})
}

var (
	// Every watch is as short as can be.
	watchTime = regexp.MustCompile(`timeoutSeconds=\d+`)
	// The hash of a document is that of ours.
	documentHash = regexp.MustCompile(`^/openapi/v3/(.*)\?hash=[0-9A-F]{128}\b`)
)

// target is what we are asked where the recorded server was asked something that only
// it could answer.
func (p *replay) target(r *recording) string {
	target := r.target
	if r.stream {
		target = watchTime.ReplaceAllString(target, "timeoutSeconds=1")
	}
	if onlyTried[r.title] {
		target += "?dryRun=All"
	}
	if r.bare {
		target = p.current(target)
	}
	if m := documentHash.FindStringSubmatch(target); m != nil {
		var index struct {
			Paths map[string]struct{ ServerRelativeURL string }
		}
		require.NoError(p.t, json.Unmarshal(p.fetch("/openapi/v3"), &index))
		target = documentHash.ReplaceAllLiteralString(target, index.Paths[m[1]].ServerRelativeURL)
	}
	return target
}

// send writes a request as it was recorded, byte by byte where nothing speaks against
// it, on a connection of its own.
func (p *replay) send(r *recording) (*http.Response, net.Conn) {
	p.t.Helper()
	conn, err := net.Dial("tcp", p.addr)
	require.NoError(p.t, err)
	require.NoError(p.t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	// The address of the recorded server.
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: 127.0.0.1:26443\r\n", r.method, r.target)
	for _, h := range r.headers {
		head += h + "\r\n"
	}
	// A server may answer before it has read all of a body.
	go func() { _, _ = io.WriteString(conn, head+"\r\n"+r.body) }()
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method})
	require.NoError(p.t, err, "%s", r)
	return res, conn
}
