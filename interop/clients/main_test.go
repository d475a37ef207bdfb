package clients_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// binaries is where programs are built, once for all tests that need them.
var binaries string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if binaries, err = os.MkdirTemp("", "vmikit-clients-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(binaries)
	log.SetLogger(logr.Discard())
	if code := m.Run(); code != 0 {
		return code
	}
	// Whatever a client has started ends with it, but for controller-runtime's informers
	// of metadata: an event that they are given while they stop is never taken.
	if err := goleak.Find(goleak.IgnoreTopFunction("k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// kubectlBinary is the path of kubectl: of this module's own, or of the one that
// VMIKIT_KUBECTL names.
var kubectlBinary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("VMIKIT_KUBECTL"); path != "" {
		return filepath.Abs(path)
	}
	// A build without a version is one that cannot parse its own.
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubectl").Output()
	if err != nil {
		return "", fmt.Errorf("version of k8s.io/kubectl: %w", err)
	}
	version := strings.Replace(strings.TrimSpace(string(out)), "v0.", "v1.", 1)
	return build(".", "kubectl", "-ldflags=-X k8s.io/component-base/version.gitVersion="+version)
})

// vmikitBinary is the path of the server, built with the versions that its own
// module asks for.
var vmikitBinary = sync.OnceValues(func() (string, error) {
	return build(filepath.Join("..", ".."), "vmikit")
})

// build compiles cmd/NAME of the module in dir.
func build(dir, name string, flags ...string) (string, error) {
	path := filepath.Join(binaries, name)
	args := slices.Concat([]string{"build", "-buildvcs=false", "-o", path}, flags, []string{"./cmd/" + name})
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return path, nil
}
