package clients_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scripting is what the programs in Python and JavaScript have to be allowed.
var scripting = []rbacv1.PolicyRule{
	may("get,list,watch,create,update,patch,delete", "kubevirt.io", "virtualmachineinstances"),
	may("list", "", "namespaces,nodes,pods,secrets,persistentvolumeclaims"),
	may("list,create", "", "events"),
	may("get,create", "coordination.k8s.io", "leases"),
	may("get", "apiextensions.k8s.io", "customresourcedefinitions"),
}

// python is the path of an interpreter that has the client of Kubernetes: what
// VMIKIT_PYTHON names, else the one of Debian.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("VMIKIT_PYTHON")
	if path == "" {
		path = "/usr/bin/python3"
	}
	if out, err := exec.CommandContext(t.Context(), path, "-c", "import kubernetes").CombinedOutput(); err != nil {
		absent(t, "Python with its client of Kubernetes", "install Debian's package python3-kubernetes, or name an interpreter in VMIKIT_PYTHON", err, out)
	}
	return path
}

// absent ends a test whose client is not there: CI must have it, others may not.
func absent(t *testing.T, client, remedy string, err error, out []byte) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("there is no %s here, and CI must have it: %s: %v\n%s", client, remedy, err, out)
	}
	t.Skipf("there is no %s here: %s", client, remedy)
}

// script runs a program as the user client and reads the JSON that it prints.
func (s *serving) script(t *testing.T, into any, program string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = s.environment()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s", &stderr)
	require.NoError(t, json.Unmarshal(stdout.Bytes(), into), "%s", &stdout)
}

// refusal is what a program has made of an error.
type refusal struct {
	Status int
	Reason string
	Name   string
}

// TestPython runs what programs in Python do.
func TestPython(t *testing.T) {
	t.Parallel()
	interpreter := python(t)
	s := serveFor(t, scripting, "--load", corpus, "--validate-responses=full")
	s.actAs(t, clientToken)
	machines := servedMachines(t)
	lab := labMachines(machines)

	t.Run("reads", func(t *testing.T) {
		t.Parallel()
		var got struct {
			Names, Selected []string
			Pages           int
			Same            bool
			One             map[string]any
			Missing         refusal
		}
		s.script(t, &got, interpreter, "python/client.py", "reads")
		assert.Equal(t, namesOf(machines, everything), got.Names)
		assert.Equal(t, (len(machines)+9)/10, got.Pages)
		assert.True(t, got.Same, "pages together are the list")
		assert.Equal(t, namesOf(lab, labelled(t, "kubevirt.io/nodeName=worker-a")), got.Selected)
		assert.Equal(t, refusal{404, "NotFound", "nosuch"}, got.Missing)
		assert.Equal(t, "fedora-agent", (&unstructured.Unstructured{Object: got.One}).GetName())
		assert.Contains(t, got.One, "status")
	})
	t.Run("around", func(t *testing.T) {
		t.Parallel()
		var got struct {
			Namespaces, Nodes, Events, Versions []string
			Lease, Version                      string
			Allowed                             bool
			Empty                               []int
		}
		s.script(t, &got, interpreter, "python/client.py", "around")
		assert.Subset(t, got.Namespaces, []string{"default", "lab"})
		assert.Contains(t, got.Nodes, "worker-a")
		assert.Equal(t, []string{"by Python"}, got.Events)
		assert.Equal(t, "me", got.Lease)
		assert.False(t, got.Allowed, "nobody may escalate")
		assert.Equal(t, []string{"v1", "v1alpha3"}, got.Versions)
		assert.Equal(t, []int{0, 0, 0}, got.Empty)
		assert.Equal(t, "1", got.Version)
	})
	// The parts that write take turns, as one of them watches.
	t.Run("watches", func(t *testing.T) {
		var got struct {
			Events [][]any
			Again  int
		}
		s.script(t, &got, interpreter, "python/client.py", "watches")
		assert.Equal(t, [][]any{{"ADDED", "watched", nil}, {"MODIFIED", "watched", "Running"}, {"DELETED", "watched", "Running"}}, got.Events)
		assert.Equal(t, 3, got.Again, "events of the second watch")
	})
	t.Run("writes", func(t *testing.T) {
		var got struct {
			Generations                  []int
			Labels                       map[string]string
			Phase, Deleted               string
			Exists, Invalid, Stale, Gone refusal
		}
		s.script(t, &got, interpreter, "python/client.py", "writes")
		assert.Equal(t, []int{1, 1, 2}, got.Generations, "after create, patch of labels, replace")
		assert.Equal(t, map[string]string{"app": "python", "tier": "gold"}, got.Labels)
		assert.Equal(t, "Running", got.Phase)
		assert.Equal(t, "Success", got.Deleted)
		assert.Equal(t, refusal{409, "AlreadyExists", "written"}, got.Exists)
		assert.Equal(t, refusal{422, "Invalid", "written-wrong"}, got.Invalid)
		assert.Equal(t, refusal{409, "Conflict", "written"}, got.Stale)
		assert.Equal(t, refusal{404, "NotFound", "written"}, got.Gone)
	})
	t.Run("dynamic", func(t *testing.T) {
		var got struct {
			Short, Names []string
			Note         string
			Events       [][]string
		}
		s.script(t, &got, interpreter, "python/client.py", "dynamic")
		assert.Equal(t, []string{"vmi", "vmis"}, got.Short)
		assert.Equal(t, namesOf(lab, everything), got.Names)
		assert.Equal(t, "x", got.Note)
		assert.Equal(t, [][]string{{"MODIFIED", "dynamic"}, {"DELETED", "dynamic"}}, got.Events)
	})
}

// namesOf are the names of the machines that a selector matches.
func namesOf(machines []*unstructured.Unstructured, matches func(*unstructured.Unstructured) bool) []string {
	var names []string
	for _, machine := range machines {
		if matches(machine) {
			names = append(names, machine.GetName())
		}
	}
	return names
}
