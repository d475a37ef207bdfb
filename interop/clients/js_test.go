package clients_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// node is the path of a Node.js that finds the client that `npm ci` has put into js.
func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	var out []byte
	if err == nil {
		cmd := exec.CommandContext(t.Context(), path, "--input-type=module", "--eval", "import '@kubernetes/client-node'")
		cmd.Dir = "js"
		out, err = cmd.CombinedOutput()
	}
	if err != nil {
		absent(t, "Node.js with @kubernetes/client-node", "install Node.js 20.3 or later, and run npm ci in interop/clients/js", err, out)
	}
	return path
}

// TestJavaScript runs what programs in JavaScript do.
func TestJavaScript(t *testing.T) {
	t.Parallel()
	node := node(t)
	s := serveFor(t, scripting, "--load", corpus, "--validate-responses=full")
	s.actAs(t, clientToken)
	machines := servedMachines(t)

	t.Run("reads", func(t *testing.T) {
		t.Parallel()
		var got struct {
			Names, Paged, Selected, Namespaces, Nodes []string
			Pages                                     int
			One                                       map[string]any
			Missing, Forbidden, Unknown               refusal
		}
		s.script(t, &got, node, "js/client.js", "reads")
		assert.Equal(t, namesOf(machines, everything), got.Names)
		assert.Equal(t, got.Names, got.Paged)
		assert.Equal(t, (len(machines)+9)/10, got.Pages)
		assert.Equal(t, namesOf(labMachines(machines), labelled(t, "kubevirt.io/nodeName=worker-a")), got.Selected)
		assert.Equal(t, "fedora-agent", (&unstructured.Unstructured{Object: got.One}).GetName())
		assert.Contains(t, got.One, "status")
		assert.Subset(t, got.Namespaces, []string{"default", "lab"})
		assert.Contains(t, got.Nodes, "worker-a")
		assert.Equal(t, refusal{404, "NotFound", "nosuch"}, got.Missing)
		assert.Equal(t, refusal{403, "Forbidden", ""}, got.Forbidden)
		assert.Equal(t, refusal{Status: 401}, got.Unknown)
	})
	// The parts that write take turns, as one of them watches.
	t.Run("watches", func(t *testing.T) {
		var got struct{ Events [][]any }
		s.script(t, &got, node, "js/client.js", "watches")
		assert.Equal(t, [][]any{{"ADDED", "watched", nil}, {"MODIFIED", "watched", "Running"}, {"DELETED", "watched", "Running"}}, got.Events)
	})
	t.Run("writes", func(t *testing.T) {
		var got struct {
			Labels                       map[string]string
			Note, Phase, Deleted         string
			Same                         bool
			Listed                       []string
			Exists, Invalid, Stale, Gone refusal
		}
		s.script(t, &got, node, "js/client.js", "writes")
		assert.Equal(t, map[string]string{"app": "js", "tier": "gold"}, got.Labels)
		assert.Equal(t, "x", got.Note)
		assert.Equal(t, "Running", got.Phase)
		assert.True(t, got.Same, "what is read is what was written last")
		assert.Equal(t, []string{"written"}, got.Listed)
		assert.Equal(t, "Success", got.Deleted)
		assert.Equal(t, refusal{409, "AlreadyExists", "written"}, got.Exists)
		assert.Equal(t, refusal{422, "Invalid", "written-wrong"}, got.Invalid)
		assert.Equal(t, refusal{409, "Conflict", "written"}, got.Stale)
		assert.Equal(t, refusal{404, "NotFound", "written"}, got.Gone)
	})
}

// TestJavaScriptInformer breaks the connection of an informer while machines come, change
// and go: it goes on where it was. Then it meets a server that has forgotten them.
func TestJavaScriptInformer(t *testing.T) {
	t.Parallel()
	node := node(t)
	s := serveFor(t, informing, "--load", corpus)
	lab := s.machines(t, "").Namespace("lab")
	wire := wireTo(t, s.address)
	told := s.inform(t, node, wire)

	want := namesOf(labMachines(servedMachines(t)), everything)
	for _, name := range want {
		told.is(t, "add", name)
	}
	told.is(t, "started")
	const cuts = 10
	for i := range cuts {
		name := fmt.Sprintf("made-%d", i)
		_, err := lab.Create(t.Context(), machine(name), metav1.CreateOptions{})
		require.NoError(t, err)
		told.is(t, "add", name, nil)
		assert.Positive(t, wire.cut(), "connections that were cut")
		_, err = lab.Patch(t.Context(), name, types.MergePatchType, []byte(`{"status":{"phase":"Running"}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		told.is(t, "update", name, "Running")
		if i%2 == 1 {
			require.NoError(t, lab.Delete(t.Context(), name, metav1.DeleteOptions{}))
			told.is(t, "delete", name, "Running")
		}
	}

	s.restart(t)
	for i := 0; i < cuts; i += 2 {
		told.is(t, "delete", fmt.Sprintf("made-%d", i))
	}
	for _, name := range want {
		told.is(t, "update", name)
	}
	lab = s.machines(t, "").Namespace("lab")
	_, err := lab.Create(t.Context(), machine("last"), metav1.CreateOptions{})
	require.NoError(t, err)
	told.is(t, "add", "last", nil)
	require.NoError(t, lab.Delete(t.Context(), "last", metav1.DeleteOptions{}))
	told.is(t, "delete", "last", nil)

	var end struct {
		Lists int
		Names []string
	}
	require.NoError(t, told.Decode(&end))
	assert.Equal(t, 2, end.Lists, "at first, and of the server that has forgotten")
	slices.Sort(want)
	assert.Equal(t, want, end.Names)
}

// notifications are what an informer says that it is told.
type notifications struct{ *json.Decoder }

// is reads the next one, which must begin with this.
func (n notifications) is(t *testing.T, want ...any) {
	t.Helper()
	var got []any
	require.NoError(t, n.Decode(&got), "want %v", want)
	require.GreaterOrEqual(t, len(got), len(want), "%v", got)
	require.Equal(t, want, got[:len(want)])
}

// inform starts the informer of JavaScript, as the user client, behind a wire.
func (s *serving) inform(t *testing.T, node string, wire *wire) notifications {
	t.Helper()
	cmd := exec.Command(node, "js/client.js", "informs")
	cmd.Env = append(s.environment(), "KUBECONFIG="+s.kubeconfigOver(t, wire))
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if t.Failed() {
			_ = cmd.Process.Kill()
		}
		assert.NoError(t, cmd.Wait(), "how the informer ended")
	})
	return notifications{json.NewDecoder(stdout)}
}
