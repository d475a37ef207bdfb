package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A change between a look and the sleep after it is not slept through. There
// is no way to hit that moment from outside.
func TestNobodySleepsThroughAChange(t *testing.T) {
	now := time.Unix(0, 0)
	l := newChangeLog(History{Changes: 2}.withDefaults(), 1, now)
	change := func(revision int64) {
		o := &Object{Key: Key{Namespace: "vms", Name: "web"}, Revision: revision}
		l.append(&record{revision: revision, next: o}, now).wake()
	}
	for _, namespace := range []string{"", "vms"} {
		_, upTo, err := l.read(namespace, l.reached(), make([]*record, 1))
		require.NoError(t, err)
		change(upTo + 1)
		_, ok := l.sleep(namespace, upTo)
		require.False(t, ok, "there is a change")
		_, ok = l.sleep(namespace, upTo+1)
		require.True(t, ok)
		change(upTo + 2)
		change(upTo + 3)
		change(upTo + 4)
		_, ok = l.sleep(namespace, upTo)
		require.False(t, ok, "there was one that is given up")
	}
}
