package store_test

import (
	"cmp"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/vmikit/vmikit/server/store"
)

func TestKeyCompare(t *testing.T) {
	parts := []string{"", "a", "a-b", "a.b", "a0", "ab", "a/b", "b", "-", "0", "\xff"}
	var keys []store.Key
	for _, namespace := range parts {
		for _, name := range parts {
			keys = append(keys, store.Key{Namespace: namespace, Name: name})
		}
	}
	for _, a := range keys {
		for _, b := range keys {
			assert.Equal(t, cmp.Compare(a.String(), b.String()), a.Compare(b), "%q and %q", a, b)
		}
		assert.Greater(t, a.After(), a.String())
		assert.Less(t, a.After(), a.String()+"\x00\x00")
	}
}
