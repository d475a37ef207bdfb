package certs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/certs"
)

func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write := func(content string) { require.NoError(t, os.WriteFile(path, []byte(content), 0o600)) }
	var told []error
	early := errors.New("it is too early")
	var noon time.Time
	load := func() (string, error) {
		data, err := os.ReadFile(path)
		if string(data) == "bad" || string(data) == "noon" && time.Now().Before(noon) {
			err = early
		}
		return string(data), err
	}
	tell := func(err error) { told = append(told, err) }

	synctest.Test(t, func(t *testing.T) {
		noon = time.Now().Add(time.Minute)
		_, err := certs.Reload(load, tell, path)
		require.ErrorIs(t, err, os.ErrNotExist)
		write("one")
		r, err := certs.Reload(load, tell, path)
		require.NoError(t, err)
		after := func(d time.Duration) string { time.Sleep(d); return r.Get() }

		write("two")
		assert.Equal(t, "one", after(time.Second/2), "it is not looked at for each request")
		assert.Equal(t, "two", after(time.Second/2))
		assert.Equal(t, []error{nil}, told)

		write("bad")
		assert.Equal(t, "two", after(time.Second))
		assert.Equal(t, "two", after(time.Second))
		assert.Equal(t, []error{nil, early}, told, "once for what is bad")
		require.NoError(t, os.Remove(path))
		assert.Equal(t, "two", after(time.Second))
		require.Len(t, told, 3)
		assert.ErrorIs(t, told[2], os.ErrNotExist)

		write("noon")
		assert.Equal(t, "two", after(time.Second))
		assert.Equal(t, "noon", after(time.Minute), "its time has come")
		assert.Len(t, told, 5)
		assert.NoError(t, told[4])
	})
}
