package clients_test

import (
	"bufio"
	"net/url"
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
	address    string   // HOST:PORT that it listens on

	args []string
	stop func()
}

// startLimit is how long a server may take to be ready. It takes a fraction of a
// second; the rest is for machines that do much else.
const startLimit = time.Minute

// serve starts a server on a free port and stops it when the test is over.
func serve(t *testing.T, args ...string) *serving {
	t.Helper()
	dir := t.TempDir()
	s := &serving{kubeconfig: filepath.Join(dir, "kubeconfig"), cache: filepath.Join(dir, "cache")}
	s.args = append([]string{"serve", "--quiet", "--tls", "--tls-dir", filepath.Join(dir, "tls"),
		"--kubeconfig-out", s.kubeconfig}, args...)
	s.start(t, "127.0.0.1:0")
	return s
}

// restart ends the server and starts another with the same flags and certificate on
// the same address. Of what clients have written it knows nothing.
func (s *serving) restart(t *testing.T) {
	t.Helper()
	s.stop()
	s.start(t, s.address)
}

func (s *serving) start(t *testing.T, address string) {
	t.Helper()
	binary, err := vmikitBinary()
	require.NoError(t, err)
	cmd := exec.Command(binary, append(s.args, "--listen", address)...)
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())

	s.said = nil
	ready, ended := make(chan string), make(chan struct{})
	go func() {
		defer close(ended)
		defer close(ready)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			s.said = append(s.said, lines.Text())
			if at, ok := strings.CutPrefix(lines.Text(), "serving VirtualMachineInstances on "); ok && strings.HasPrefix(at, "https://127.0.0.1:") {
				ready <- at
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
	case at, ok := <-ready:
		require.True(t, ok, "the server ended at once: %q", s.said)
		base, err := url.Parse(strings.Fields(at)[0])
		require.NoError(t, err)
		s.address = base.Host
	case <-time.After(startLimit):
		_ = cmd.Process.Kill()
		require.Fail(t, "the server was not ready in time")
	}
}
