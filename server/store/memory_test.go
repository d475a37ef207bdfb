package store_test

import (
	"testing"
	"time"

	"github.com/vmikit/vmikit/server/store"
	"github.com/vmikit/vmikit/server/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Harness {
		clock := newClock()
		return storetest.Harness{
			Store:  store.NewMemory(store.WithClock(clock.Now), store.WithHistory(store.History{Age: time.Minute})),
			Expire: func() { clock.Advance(time.Minute + 1) },
		}
	})
}
