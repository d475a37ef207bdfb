package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

// concurrentWriters lets many add one to the same number; each addition must
// be there in the end.
func concurrentWriters(t *testing.T, h Harness) {
	const writers, additions = 4, 25
	mustCreate(t, h.Store, draft("vms", "counter", 0, nil))
	key := store.Key{Namespace: "vms", Name: "counter"}
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range additions {
				assert.NoError(t, add(t, h.Store, key))
			}
		})
	}
	wg.Wait()
	o, err := h.Store.Get(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, writers*additions, number(t, o))
}

func add(t *testing.T, s store.Store, key store.Key) error {
	for {
		o, err := s.Get(t.Context(), key)
		if err != nil {
			return err
		}
		_, err = s.Update(t.Context(), draft(key.Namespace, key.Name, number(t, o)+1, nil), o.Revision)
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// concurrentLists has one writer that always writes the first of two objects
// before the second, so that a list that shows the second ahead of the first,
// or more than one write behind, mixes states. Others come and go meanwhile.
func concurrentLists(t *testing.T, h Harness) {
	const writes = 150
	mustCreate(t, h.Store, draft("vms", "1-first", 0, map[string]string{"pair": "yes"}))
	mustCreate(t, h.Store, draft("vms", "2-second", 0, map[string]string{"pair": "yes"}))
	selector, err := store.ParseSelector("pair=yes")
	require.NoError(t, err)

	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, opts := range []store.ListOptions{{}, {Namespace: "vms"}, {Labels: selector}, {Namespace: "vms", Limit: 1}} {
		wg.Go(func() {
			for ctx.Err() == nil {
				if !assert.NoError(t, checkPair(t, h.Store, opts)) {
					return
				}
			}
		})
	}
	wg.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			d := draft("elsewhere", fmt.Sprintf("vm-%d", i%10), i, map[string]string{"pair": "no"})
			_, err := h.Store.Create(t.Context(), d)
			if errors.Is(err, store.ErrExists) {
				_, err = h.Store.Delete(t.Context(), d.Key, 0)
			}
			assert.NoError(t, err)
		}
	})
	for n := 1; n <= writes; n++ {
		for _, name := range []string{"1-first", "2-second"} {
			_, err := h.Store.Update(t.Context(), draft("vms", name, n, map[string]string{"pair": "yes"}), 0)
			assert.NoError(t, err)
		}
	}
	stop()
	wg.Wait()
}

// checkPair takes one list, in two pages when there is a limit.
func checkPair(t *testing.T, s store.Store, opts store.ListOptions) error {
	page, err := s.List(t.Context(), opts)
	if err != nil {
		return err
	}
	objects := page.Objects
	if page.More {
		opts.Revision, opts.Start = page.Revision, objects[0].Key.After()
		rest, err := s.List(t.Context(), opts)
		if err != nil {
			return err
		}
		objects = append(objects, rest.Objects...)
	}
	var pair []int
	for _, o := range objects {
		if o.Revision > page.Revision {
			return fmt.Errorf("%s at %d in a list of revision %d", o.Key, o.Revision, page.Revision)
		}
		if o.Key.Namespace == "vms" {
			pair = append(pair, number(t, o))
		}
	}
	if len(pair) != 2 || pair[0]-pair[1] < 0 || pair[0]-pair[1] > 1 {
		return fmt.Errorf("a list of revision %d shows %v", page.Revision, pair)
	}
	return nil
}
