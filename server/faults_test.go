package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// down is a store that answers nothing but an error.
type down struct {
	store.Store
	err error
}

func (d down) Get(context.Context, store.Key) (*store.Object, error)        { return nil, d.err }
func (d down) List(context.Context, store.ListOptions) (*store.Page, error) { return nil, d.err }
func (d down) Namespaces(context.Context) ([]string, int64, error)          { return nil, 0, d.err }
func (d down) Revision(context.Context) (int64, error)                      { return 0, d.err }

// ofMachines are the paths of what comes from the store of the machines.
var ofMachines = regexp.MustCompile(`/virtualmachineinstances|/v1/namespaces(/\{name\})?$|/nodes`)

// Whatever goes wrong in an operation, the document declares the answer: it is
// never one that is refused by the check of answers, and it is logged once.
func TestFaultsAreDeclared(t *testing.T) {
	doc, err := openapi.Load(openapi.ProfileKubernetes)
	require.NoError(t, err)
	for fault, err := range map[int]error{500: errors.New("disk on fire"), 504: context.DeadlineExceeded} {
		var log bytes.Buffer
		f := startStore(t, down{store.NewMemory(), err}, server.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))))
		for _, op := range doc.Operations() {
			if (strings.HasPrefix(op.Path(), "/api") || strings.Contains(op.Path(), "{group}")) && !ofMachines.MatchString(op.Path()) {
				continue // it has a store of its own, or none
			}
			log.Reset()
			r := f.get(strings.NewReplacer("{namespace}", "vms", "{name}", "a", "{check}", "store").Replace(op.Path()))
			if r.StatusCode == 200 {
				continue // discovery asks no store
			}
			want := fault
			if strings.HasSuffix(strings.TrimSuffix(op.Path(), "/{check}"), "z") {
				want = 500
				assert.Equal(t, "text/plain; charset=utf-8", r.Header.Get("Content-Type"))
			}
			assert.Equal(t, want, r.StatusCode, op.ID())
			assert.NotContains(t, log.String(), "breaks the document", op.ID())
			assert.NotContains(t, string(r.body), "fire")
			assert.LessOrEqual(t, strings.Count(log.String(), "level=ERROR"), 1)
		}
	}
}
