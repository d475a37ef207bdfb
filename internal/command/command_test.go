package command_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/internal/command"
)

// outcome is what a command line led to.
type outcome struct {
	code           int
	stdout, stderr string
}

func vmikit(t *testing.T, args ...string) outcome {
	t.Helper()
	return vmikitWith(t, "", args...)
}

func vmikitWith(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := command.Run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// write makes a file in a new directory and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestWrongUsage(t *testing.T) {
	for _, test := range []struct{ line, message, help string }{
		{"nosuch", `unknown command "nosuch"`, "vmikit"},
		{"srve", `unknown command "srve", did you mean serve?`, "vmikit"},
		{"--nosuch", "unknown flag: --nosuch", "vmikit"},
		{"serve extra", `unexpected argument "extra"`, "vmikit serve"},
		{"serve -x", "unknown shorthand flag: 'x' in -x", "vmikit serve"},
		{"serve --profile v2", `invalid argument "v2" for "--profile" flag: must be one of document, kubernetes, kubevirt`, "vmikit serve"},
		{"serve --enum-unknown drop", `invalid argument "drop" for "--enum-unknown" flag: must be one of fail, warn`, "vmikit serve"},
		{"serve --admission webhooks", `invalid argument "webhooks" for "--admission" flag: must be one of none, kubevirt`, "vmikit serve"},
		{"serve --history-bytes 0", `invalid argument "0" for "--history-bytes" flag: must be a number of bytes above zero, such as 1048576 or 1Mi`, "vmikit serve"},
		{"serve --history-bytes 9999999999Gi", `invalid argument "9999999999Gi" for "--history-bytes" flag: must be a number of bytes above zero, such as 1048576 or 1Mi`, "vmikit serve"},
		{"serve --listen 127.0.0.1", `--listen "127.0.0.1": must be HOST:PORT, such as 127.0.0.1:6443 or [::1]:6443`, "vmikit serve"},
		{"serve --listen 127.0.0.1:70000", `--listen "127.0.0.1:70000": the port must be a number from 0 to 65535, 0 for any free one`, "vmikit serve"},
		{"serve --listen 127.0.0.1:0 --request-timeout 0s", "--request-timeout 0s: must be above zero", "vmikit serve"},
		{"serve --tls-cert-file x", "--tls-cert-file and --tls-private-key-file must be given together", "vmikit serve"},
		{"serve --allowed-hosts a:1", `--allowed-hosts: "a:1" is neither a name nor an address; a port does not belong to it`, "vmikit serve"},
		{"serve --load - --rbac -", "standard input (-) can be given once only", "vmikit serve"},
		{"serve --load - --load x --load -", "standard input (-) can be given once only", "vmikit serve"},
		{"validate", "a file, a directory or - is needed", "vmikit validate"},
		{"validate - -", "standard input (-) can be given once only", "vmikit validate"},
		{"validate -o xml x", `invalid argument "xml" for "-o, --output" flag: must be one of text, json, junit`, "vmikit validate"},
		{"contract", "--server is needed: there is no kubeconfig to take a server from", "vmikit contract"},
		{"contract --server http://x --token a --token-file b", "--token and --token-file exclude each other", "vmikit contract"},
		{"contract --server http://x --certificate-authority a --insecure-skip-tls-verify", "--certificate-authority and --insecure-skip-tls-verify exclude each other", "vmikit contract"},
		{"profiles nosuch", `unknown command "nosuch"`, "vmikit profiles"},
		{"profiles diff document", "two profiles are needed, or none, got 1", "vmikit profiles diff"},
		{"profiles diff document v2", `no profile "v2": want one of document, kubernetes, kubevirt`, "vmikit profiles diff"},
		{"profiles show", "one profile is needed, got 0", "vmikit profiles show"},
		{"profiles rules x", `unexpected argument "x"`, "vmikit profiles rules"},
		{"version 2", `unexpected argument "2"`, "vmikit version"},
	} {
		t.Run(test.line, func(t *testing.T) {
			got := vmikit(t, strings.Fields(test.line)...)
			assert.Equal(t, outcome{2, "", "error: " + test.message + "\nsee '" + test.help + " --help'\n"}, got)
		})
	}
}

func TestHelpHasExamples(t *testing.T) {
	for _, name := range []string{"", "serve", "validate", "contract", "profiles", "profiles diff", "profiles show", "profiles rules", "version"} {
		got := vmikit(t, append(strings.Fields(name), "--help")...)
		assert.Equal(t, 0, got.code, name)
		assert.Empty(t, got.stderr, name)
		assert.Contains(t, got.stdout, "\nExamples:\n", name)
	}
	assert.Equal(t, vmikit(t, "--help"), vmikit(t), "no arguments")
}

func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"serve --profile":         "document\nkubernetes\nkubevirt\n",
		"serve --log-format":      "text\njson\n",
		"serve --admission":       "none\nkubevirt\n",
		"validate -o":             "text\njson\njunit\n",
		"profiles diff document":  "document\nkubernetes\nkubevirt\n",
		"profiles show document":  "",
		"contract --enum-unknown": "fail\nwarn\n",
	} {
		got := vmikit(t, append(append([]string{"__complete"}, strings.Fields(line)...), "")...)
		assert.Equal(t, 0, got.code, line)
		assert.Equal(t, want+":4\n", got.stdout, line)
	}
	assert.Contains(t, vmikit(t, "completion", "bash").stdout, "__start_vmikit")
	assert.Contains(t, vmikit(t, "__complete", "contract", "--only", "").stdout, "selector.equals\n")
}

func TestInterruptEndsWaitingForInput(t *testing.T) {
	for _, args := range [][]string{
		{"validate", "-"},
		{"serve", "--listen", "127.0.0.1:0", "--load", "-"},
		{"serve", "--listen", "127.0.0.1:0", "--rbac", "-"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		reader, writer, err := os.Pipe()
		require.NoError(t, err)
		t.Cleanup(func() { writer.Close() })
		var stdout, stderr bytes.Buffer
		done := make(chan int)
		go func() { done <- command.Run(ctx, args, reader, &stdout, &stderr) }()
		cancel()
		assert.NotZero(t, <-done, args)
		assert.Contains(t, stderr.String(), "interrupted\n", args)
	}
}
