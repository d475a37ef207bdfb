// Package examples_test builds the programs in the folders beside it and runs them.
package examples_test

import (
	"bytes"
	"encoding/pem"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	db  = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"db","namespace":"shop"},"spec":{"architecture":"arm64"},"status":{"interfaces":[{"ipAddress":"10.0.0.1"}],"nodeName":"node-1","phase":"Running"}}`
	odd = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"odd","namespace":"shop"},"spec":{"domain":{"cpu":{"cores":"2"}}},"status":{"phase":"Failed"}}`
	web = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web","namespace":"site"},"status":{"phase":"Pending"}}`
)

func list(items ...string) string {
	return `{"apiVersion":"kubevirt.io/v1","items":[` + strings.Join(items, ",") +
		`],"kind":"VirtualMachineInstanceList","metadata":{"continue":"","resourceVersion":"42"}}`
}

// start runs an API server and returns its URL and a file with its CA.
func start(t *testing.T) (url, ca string) {
	t.Helper()
	answers := map[string]string{
		"/apis/kubevirt.io/v1/virtualmachineinstances?limit=500":                                                  list(db, web),
		"/apis/kubevirt.io/v1/namespaces/shop/virtualmachineinstances?labelSelector=app+in+%28a%2Cb%29&limit=500": list(db, odd),
		"/apis/kubevirt.io/v1/namespaces/shop/virtualmachineinstances/db":                                         db,
		"/apis/kubevirt.io/v1/namespaces/shop/virtualmachineinstances/odd":                                        odd,
	}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := answers[r.RequestURI]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if strings.Contains(r.URL.RawQuery, "labelSelector") {
			assert.Equal(t, "Bearer s3cr3t", r.Header.Get("Authorization"))
		}
		_, _ = w.Write([]byte(body + "\n"))
	}))
	t.Cleanup(srv.Close)
	ca = filepath.Join(t.TempDir(), "ca.crt")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(block), 0o600))
	return srv.URL, ca
}

// bin has all examples, compiled together, the go command's way of sharing work.
var bin string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if bin, err = os.MkdirTemp("", "examples"); err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(bin)
		if out, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./...").CombinedOutput(); err != nil {
			log.Fatalf("%v: %s", err, out)
		}
		return m.Run()
	}())
}

// run returns what a program writes and its exit status.
func run(t *testing.T, env []string, program string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

func TestExamples(t *testing.T) {
	server, ca := start(t)
	token := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(token, []byte("s3cr3t\n"), 0o600))

	t.Run("quickstart", func(t *testing.T) {
		program := filepath.Join(bin, "quickstart")
		stdout, stderr, status := run(t, []string{"VMIKIT_SERVER=" + server, "VMIKIT_CA=" + ca}, program)
		assert.Equal(t, 0, status, stderr)
		assert.Equal(t, "shop/db\tRunning\t10.0.0.1\nsite/web\tPending\t-\n", stdout)

		_, stderr, status = run(t, []string{"VMIKIT_SERVER=" + server, "VMIKIT_CA=nosuch.crt"}, program)
		assert.Equal(t, 1, status)
		assert.Contains(t, stderr, "nosuch.crt")
	})

	t.Run("list", func(t *testing.T) {
		stdout, stderr, status := run(t, nil, filepath.Join(bin, "list"),
			"-server", server, "-ca", ca, "-token-file", token, "-n", "shop", "-l", "app in (a,b)")
		assert.Equal(t, 0, status, stderr)
		assert.Equal(t, "NAMESPACE  NAME  PHASE    NODE\nshop       db    Running  node-1\nshop       odd   Failed   \n", stdout)
	})

	t.Run("get", func(t *testing.T) {
		program := filepath.Join(bin, "get")
		for name, want := range map[string]string{"db": db, "odd": odd} {
			stdout, stderr, status := run(t, nil, program, "-server", server, "-ca", ca, "shop", name)
			assert.Equal(t, 0, status, stderr)
			assert.Equal(t, want+"\n", stdout)
		}
		_, stderr, status := run(t, nil, program, "-server", server, "-ca", ca, "shop", "nosuch")
		assert.Equal(t, 3, status)
		assert.Equal(t, "get vmi shop/nosuch: not found (404)\n", stderr)
	})
}
