package house_test

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/vmikit/vmikit/internal/command"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

type action struct {
	Inputs map[string]struct {
		Description string
		Default     string
	}
	Runs struct {
		Steps []struct {
			ID, Shell, Run string
			Env            map[string]string
		}
	}
}

func readAction(t *testing.T) action {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	require.NoError(t, err)
	var a action
	require.NoError(t, yaml.Unmarshal(text, &a))
	return a
}

// Every input is used, and every flag that the action uses is there.
func TestActionFitsTheCommand(t *testing.T) {
	a := readAction(t)
	script := a.Runs.Steps[1]
	used := make(map[string]bool)
	for _, value := range script.Env {
		if m := regexp.MustCompile(`inputs\.([a-z-]+)`).FindStringSubmatch(value); m != nil {
			used[m[1]] = true
		}
	}
	for name, input := range a.Inputs {
		assert.True(t, used[name], "input %s is not used", name)
		assert.NotEmpty(t, input.Description, name)
	}
	assert.Len(t, used, len(a.Inputs))
	var help bytes.Buffer
	require.Equal(t, 0, command.Run(context.Background(), []string{"contract", "--help"}, strings.NewReader(""), &help, &help))
	for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(strings.ReplaceAll(script.Run, "--$1-file", "--token-file --forbidden-token-file"), -1) {
		assert.Contains(t, help.String(), flag+" ", flag)
	}
}

// The script of the action runs, writes its reports and passes the exit code on.
func TestActionRuns(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here")
	}
	handler, err := server.New(store.NewMemory())
	require.NoError(t, err)
	hs := httptest.NewServer(handler)
	t.Cleanup(hs.Close)
	root, err := filepath.Abs("../..")
	require.NoError(t, err)

	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	env := map[string]string{
		"ACTION_PATH": root, "RUNNER_TEMP": dir, "GITHUB_OUTPUT": file("output"), "GITHUB_STEP_SUMMARY": file("summary"),
		"SERVER": hs.URL, "TOKEN": "a-secret-token", "PROFILE": "kubevirt", "REPORTS": file("reports"), "ARGS": "--only schema --rate 0",
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", readAction(t).Runs.Steps[1].Run)
	cmd.Env = os.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, 4, cmd.ProcessState.ExitCode(), string(out)) // the server shows no object
	for _, name := range []string{"contract.xml", "contract.json", "contract.html", "contract.har", "contract.txt"} {
		text, err := os.ReadFile(filepath.Join(dir, "reports", name))
		require.NoError(t, err)
		assert.NotEmpty(t, text, name)
		assert.NotContains(t, string(text), "a-secret-token")
	}
	output, err := os.ReadFile(file("output"))
	require.NoError(t, err)
	assert.Equal(t, "exit-code=4\nreports="+file("reports")+"\n", string(output))
	summary, err := os.ReadFile(file("summary"))
	require.NoError(t, err)
	assert.Contains(t, string(summary), "schema.list")
	left, err := filepath.Glob(filepath.Join(dir, "vmikit.*"))
	require.NoError(t, err)
	assert.Empty(t, left, "the tokens are taken away")
}
