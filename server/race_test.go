package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// busyStore has somebody else write just before each of the first writes.
type busyStore struct {
	*store.Memory
	first  func(key store.Key)
	writes int
}

func (b *busyStore) before(key store.Key) {
	if b.writes > 0 {
		b.writes--
		b.first(key)
	}
}

func (b *busyStore) Create(ctx context.Context, d store.Draft) (*store.Object, error) {
	if strings.HasPrefix(d.Key.Name, "gen-") && b.writes > 0 {
		b.writes--
		return nil, fmt.Errorf("%s: %w", d.Key, store.ErrExists)
	}
	return b.Memory.Create(ctx, d)
}

func (b *busyStore) Update(ctx context.Context, d store.Draft, expected int64) (*store.Object, error) {
	b.before(d.Key)
	return b.Memory.Update(ctx, d, expected)
}

func (b *busyStore) Delete(ctx context.Context, key store.Key, expected int64) (*store.Object, error) {
	b.before(key)
	return b.Memory.Delete(ctx, key, expected)
}

// A write that names no version is made to what there is when its turn comes, and is
// given up where that never comes.
func TestWritesBeginAnew(t *testing.T) {
	const apply = "Content-Type: application/apply-patch+yaml"
	for name, write := range map[string]func(f *fixture) reply{
		"patch": func(f *fixture) reply { return f.send("PATCH", inVMs+"/a", `{"metadata":{"labels":{"mine":"1"}}}`) },
		"apply": func(f *fixture) reply {
			return f.send("PATCH", inVMs+"/a?fieldManager=me", vm("a", `"labels":{"mine":"1"}`), apply)
		},
		"delete":        func(f *fixture) reply { return f.send("DELETE", inVMs+"/a", "") },
		"delete of all": func(f *fixture) reply { return f.send("DELETE", inVMs, "") },
	} {
		for _, others := range []int{1, 4, 1000} {
			st := &busyStore{Memory: store.NewMemory()}
			f := startStore(t, st).create("vms/a")
			n := 0
			st.first = func(key store.Key) {
				n++
				o, err := st.Memory.Get(t.Context(), key)
				require.NoError(t, err)
				body := strings.Replace(string(o.JSON), fmt.Sprintf(`"resourceVersion":"%d"`, o.Revision), `"resourceVersion":""`, 1)
				at := strings.Index(body, `"resourceVersion":"`) + len(`"resourceVersion":"`)
				_, err = st.Memory.Update(t.Context(), store.Draft{Key: key, JSON: []byte(body), RevisionAt: at}, 0)
				require.NoError(t, err)
			}
			st.writes = others
			if name == "delete of all" && others == 1000 {
				st.writes = 50 // it goes on as long as its time
			}
			r := write(f)
			if others < 1000 || name == "delete of all" {
				assert.Equal(t, 200, r.StatusCode, "%s %d: %s", name, others, r.body)
				assert.Zero(t, st.writes)
			} else {
				assert.Equal(t, "Conflict", r.status(t).Reason, name)
				assert.Equal(t, 5, n)
			}
		}
	}
}

// A generated name that is taken is made anew, eight times.
func TestGeneratedNamesTaken(t *testing.T) {
	st := &busyStore{Memory: store.NewMemory()}
	f := startStore(t, st)
	st.writes = 7
	f.send("POST", inVMs, vm("", `"generateName":"gen-"`)).written(t, 201)
	st.writes = 8
	assert.Equal(t, "AlreadyExists", f.send("POST", inVMs, vm("", `"generateName":"gen-"`)).status(t).Reason)
}

// What is not said to be long is not read for ever.
func TestLongBodyWithoutLength(t *testing.T) {
	f := start(t)
	body := io.MultiReader(strings.NewReader(`{"a":"`), io.LimitReader(endless{}, 4<<20))
	req, err := http.NewRequest("POST", f.url+inVMs, struct{ io.Reader }{body})
	require.NoError(t, err)
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	assert.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
