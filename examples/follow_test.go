package examples_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/servertest"
)

func machine(name, phase, node string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"shop"},"status":{"phase":%q,"nodeName":%q}}`, name, phase, node)
}

// access writes a kubeconfig for a server, and returns the environment that names it.
func access(t *testing.T, url string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: v1\nkind: Config\ncurrent-context: test\n"+
		"clusters: [{name: test, cluster: {server: '"+url+"'}}]\ncontexts: [{name: test, context: {cluster: test, user: ''}}]\n"), 0o600))
	return []string{"KUBECONFIG=" + file}
}

// begin starts a program that goes on until it is interrupted, which end does, and
// returns its lines.
func begin(t *testing.T, env []string, program string, args ...string) (line func() string, end func() error) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(out)
	return func() string {
			text, err := lines.ReadString('\n')
			require.NoError(t, err)
			return text
		}, func() error {
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			return cmd.Wait()
		}
}

func TestExamplesThatFollow(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(machine("db", "Running", "node-1")))
	env := access(t, s.URL)

	t.Run("watch", func(t *testing.T) {
		line, end := begin(t, env, filepath.Join(bin, "watch"), "-n", "shop")
		assert.Equal(t, "EVENT     NAMESPACE     NAME                      PHASE       NODE\n", line())
		assert.Equal(t, "Added     shop          db                        Running     node-1\n", line())
		s.Create(machine("web", "Pending", ""))
		assert.Equal(t, "Added     shop          web                       Pending     \n", line())
		s.Update(machine("web", "Scheduled", "node-2"))
		assert.Equal(t, "Modified  shop          web                       Scheduled   node-2\n", line())
		s.Delete("shop", "web")
		assert.Equal(t, "Deleted   shop          web                       Scheduled   node-2\n", line())
		assert.NoError(t, end())
	})

	t.Run("wait", func(t *testing.T) {
		program := filepath.Join(bin, "wait")
		s.Reset()
		s.Create(machine("web", "Scheduled", "node-2"), machine("old", "Succeeded", "node-1"))
		line, _ := begin(t, env, program, "shop", "web")
		require.Eventually(t, func() bool { return len(s.Requests()) == 3 }, 10*time.Second, time.Millisecond)
		s.Update(machine("web", "Running", "node-2"))
		assert.Equal(t, "shop/web runs on node-2\n", line())

		_, stderr, status := run(t, env, program, "shop", "old")
		assert.Equal(t, 3, status)
		assert.Equal(t, "wait for vmi shop/old to be Running: last seen Succeeded: it has reached Succeeded, which is final\n", stderr)
		_, stderr, status = run(t, env, program, "-timeout", "100ms", "shop", "none")
		assert.Equal(t, 1, status)
		assert.Equal(t, "wait for vmi shop/none to be Running: not seen: context deadline exceeded\n", stderr)
	})

	t.Run("exporter", func(t *testing.T) {
		s.Reset()
		s.Create(machine("web", "Running", "node-1"), machine("new", "Pending", ""))
		line, end := begin(t, env, filepath.Join(bin, "exporter"), "-listen", "localhost:0")
		url := strings.TrimSpace(line())
		metrics := func() string {
			res, err := http.Get(url)
			require.NoError(t, err)
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			require.NoError(t, err)
			return string(body)
		}
		const want = `# HELP vmi_machines Machines by namespace, phase and node.
# TYPE vmi_machines gauge
vmi_machines{namespace="shop",phase="Pending",node=""} 1
vmi_machines{namespace="shop",phase="Running",node="node-1"} 2
# HELP vmi_watch_retries_total Failures that the watch has survived.
# TYPE vmi_watch_retries_total counter
vmi_watch_retries_total 0
`
		require.Eventually(t, func() bool { return metrics() == want }, 10*time.Second, 10*time.Millisecond, metrics())
		s.Delete("shop", "new")
		require.Eventually(t, func() bool { return !assert.ObjectsAreEqual(want, metrics()) }, 10*time.Second, 10*time.Millisecond)
		assert.NotContains(t, metrics(), "Pending")
		assert.NoError(t, end())
	})
}
