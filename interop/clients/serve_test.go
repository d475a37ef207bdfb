package clients_test

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serving is a running `vmikit serve --tls`.
type serving struct {
	kubeconfig string
	cache      string   // of kubectl's discovery
	said       []string // what it printed before it was ready

	stop func()
}

// startLimit is how long a server may take to be ready. It takes a fraction of a
// second; the rest is for machines that do much else.
const startLimit = time.Minute

// serve starts a server on a free port and stops it when the test is over.
func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	binary, err := vmikitBinary()
	require.NoError(t, err)
	dir := t.TempDir()
	s := &serving{kubeconfig: filepath.Join(dir, "kubeconfig"), cache: filepath.Join(dir, "cache")}
	args = append([]string{"serve", "--quiet", "--tls", "--tls-dir", filepath.Join(dir, "tls"),
		"--kubeconfig-out", s.kubeconfig, "--listen", "127.0.0.1:0"}, args...)
	cmd := exec.Command(binary, args...)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	ready, ended := make(chan bool), make(chan struct{})
	go func() {
		defer close(ended)
		defer close(ready)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			s.said = append(s.said, lines.Text())
			if strings.HasPrefix(lines.Text(), "serving VirtualMachineInstances on https://127.0.0.1:") {
				ready <- true
				break
			}
		}
		for lines.Scan() { // the server must not block on a full pipe
		}
	}()
	stopped := false
	s.stop = func() {
		if stopped {
			return
		}
		stopped = true
		assert.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		<-ended
		assert.NoError(t, cmd.Wait(), "how the server ended")
	}
	t.Cleanup(s.stop)

	select {
	case ok := <-ready:
		require.True(t, ok, "the server ended at once: %q", s.said)
	case <-time.After(startLimit):
		_ = cmd.Process.Kill()
		require.Fail(t, "the server was not ready in time")
	}
	return s
}
