package clients_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// answer is what came of a kubectl command.
type answer struct {
	stdout, stderr string
	code           int
}

// kubectl runs a command against the server, with the discovery that earlier
// commands have cached.
func (s *serving) kubectl(t *testing.T, args ...string) answer {
	t.Helper()
	return s.kubectlIn(t, s.cache, args...)
}

// kubectlIn runs a command with a discovery cache of its own. No file of the
// person who runs the tests is looked at.
func (s *serving) kubectlIn(t *testing.T, cache string, args ...string) answer {
	t.Helper()
	binary, err := kubectlBinary()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"--cache-dir", cache}, args...)...)
	cmd.Env = s.environment()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); !exited {
		require.NoError(t, err)
	}
	return answer{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// environment is that of clients that read a kubeconfig, and write nowhere else.
func (s *serving) environment() []string {
	return append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "HOME="+filepath.Dir(s.kubeconfig), "LC_ALL=C", "TZ=UTC")
}

// get runs a command that must succeed, and say nothing beside its output.
func (s *serving) get(t *testing.T, args ...string) string {
	t.Helper()
	a := s.kubectl(t, args...)
	require.Zero(t, a.code, "kubectl %q: %s", args, a.stderr)
	require.Empty(t, a.stderr, "kubectl %q", args)
	return a.stdout
}

// fails runs a command that must fail, with this on its standard error.
func (s *serving) fails(t *testing.T, stderr string, args ...string) {
	t.Helper()
	a := s.kubectl(t, args...)
	assert.Equal(t, 1, a.code, "kubectl %q", args)
	assert.Empty(t, a.stdout, "kubectl %q", args)
	assert.Equal(t, stderr, strings.TrimSpace(a.stderr), "kubectl %q", args)
}

// table reads the columns that kubectl prints: each begins where its title does.
func table(t *testing.T, out string) (titles []string, rows []map[string]string) {
	t.Helper()
	lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
	var starts []int
	for i, c := range lines[0] {
		if c != ' ' && (i == 0 || lines[0][i-1] == ' ') {
			starts = append(starts, i)
		}
	}
	titles = strings.Fields(lines[0])
	require.Len(t, starts, len(titles))
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, title := range titles {
			end := len(line)
			if i+1 < len(starts) {
				end = min(end, starts[i+1])
			}
			row[title] = strings.TrimSpace(line[min(starts[i], end):end])
		}
		rows = append(rows, row)
	}
	return titles, rows
}
