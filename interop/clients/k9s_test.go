package clients_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// looking is what k9s has to be allowed to show machines.
var looking = []rbacv1.PolicyRule{
	may("get,list,watch", "kubevirt.io", "virtualmachineinstances"),
	may("get,list,watch", "", "namespaces,pods"),
	may("list", "", "events"),
}

// k9sBinary is the path of k9s: what VMIKIT_K9S names, else the one that the system has.
func k9sBinary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("VMIKIT_K9S")
	if path == "" {
		path = "k9s"
	}
	path, err := exec.LookPath(path)
	if err != nil {
		absent(t, "k9s", "install it, or name it in VMIKIT_K9S; k9s/build builds one", err, nil)
	}
	return path
}

// k9sConfig has k9s look as often as it can, and ask nobody whether there is a newer one.
const k9sConfig = `k9s:
  refreshRate: 2
  skipLatestRevCheck: true
  ui:
    splashless: true
    noIcons: true
`

// editor is what a person edits with: this one writes that machines have failed.
const editor = "sed -i s/Running/Failed/"

// k9s opens the binary in a terminal, in the namespace lab, as the user client, and has
// the person go to the machines. Its connections go over the wire.
func (s *serving) k9s(t *testing.T, binary string, wire *wire) *terminal {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(k9sConfig), 0o600))
	log := filepath.Join(dir, "k9s.log")
	cmd := exec.Command(binary, "--logLevel", "debug", "--logFile", log, "--namespace", "lab")
	kubectl, err := kubectlBinary() // k9s edits with the one in the PATH
	require.NoError(t, err)
	cmd.Env = append(s.environment(), "KUBECONFIG="+s.kubeconfigOver(t, wire),
		"PATH="+filepath.Dir(kubectl)+string(filepath.ListSeparator)+os.Getenv("PATH"), "K9S_EDITOR="+editor, "K9S_CONFIG_DIR="+dir, "K9S_LOGS_DIR="+dir,
		"XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir)
	t.Cleanup(func() {
		if t.Failed() {
			text, err := os.ReadFile(log)
			t.Logf("the log of k9s: %v\n%s", err, text)
		}
	})
	c := openTerminal(t, cmd)
	c.sees("pods(lab)[0]")
	c.command("vmi")
	return c
}

// command has the person give k9s a command.
func (c *terminal) command(text string) {
	c.t.Helper()
	c.press(":")
	c.sees("│  > ")
	c.press(text)
	c.sees("│  > " + text)
	c.press(enter)
}

// find has the person filter the rows: the title then has their number and the filter.
func (c *terminal) find(text, title string) {
	c.t.Helper()
	c.press("/" + text)
	c.sees("│  / " + text)
	c.press(enter)
	c.sees(title)
}

// TestK9s has a person look at machines, edit one and delete it.
func TestK9s(t *testing.T) {
	t.Parallel()
	binary := k9sBinary(t)
	s := serveFor(t, append(looking, may("patch,delete", "kubevirt.io", "virtualmachineinstances")), "--load", corpus)
	machines := servedMachines(t)
	names := namesOf(labMachines(machines), everything)
	lab := s.machines(t, "").Namespace("lab")
	wire := wireTo(t, s.address)
	c := s.k9s(t, binary, wire)

	c.row("PHASE", "IP", "NODENAME", "READY", "LIVE-MIGRATABLE", "PAUSED", "AGE")
	c.sees(fmt.Sprintf("virtualmachineinstances(lab)[%d]", len(names)))
	c.sees(names...)
	c.row("fedora-agent", "Running", "198.51.100.7", "worker-a", "True", "False")
	c.press("0")
	c.sees(fmt.Sprintf("virtualmachineinstances(all)[%d]", len(machines)))
	c.press("1")
	c.sees(fmt.Sprintf("virtualmachineinstances(lab)[%d]", len(names)))

	one, err := lab.Create(t.Context(), machine("appears"), metav1.CreateOptions{})
	require.NoError(t, err)
	c.sees("appears")
	assert.Positive(t, wire.cut(), "connections that were cut")
	_, err = lab.Patch(t.Context(), "appears", types.MergePatchType, []byte(`{"status":{"phase":"Running","nodeName":"node-9"},"metadata":{"labels":{"tier":"gold"}}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	c.row("appears", "Running", "node-9")

	c.find("appears", "[1] </appears>")
	c.press("y")
	c.sees("YAML(lab/appears)", "kind: VirtualMachineInstance", "uid: "+string(one.GetUID()), "phase: Running")
	c.press(escape)
	c.sees("[1] </appears>")
	s.tell(t, one, "it is looked at")
	c.press("d")
	c.sees("Describe(lab/appears)")
	c.row("Name:", "appears")
	c.row("Phase:", "Running")
	c.sees("it is looked at")
	c.press(escape)
	c.sees("[1] </appears>")

	c.press("e")
	c.row("appears", "Failed", "node-9")
	edited, err := lab.Get(t.Context(), "appears", metav1.GetOptions{})
	require.NoError(t, err)
	phase, _, err := unstructured.NestedString(edited.Object, "status", "phase")
	require.NoError(t, err)
	assert.Equal(t, "Failed", phase)
	c.find("-l tier=gold", "[1] </tier=gold>")

	c.press(ctrlD)
	c.sees("<Delete>", "Delete virtualmachineinstances lab/appears?")
	_, err = lab.Get(t.Context(), "appears", metav1.GetOptions{})
	require.NoError(t, err, "before it is confirmed")
	c.press(tab + enter)
	c.sees("[0] </tier=gold>")
	_, err = lab.Get(t.Context(), "appears", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
	c.command("quit")
}

// TestK9sForbidden has a person try to delete a machine who may not.
func TestK9sForbidden(t *testing.T) {
	t.Parallel()
	binary := k9sBinary(t)
	s := serveFor(t, looking, "--load", corpus)
	c := s.k9s(t, binary, wireTo(t, s.address))
	c.sees("router-lab")
	c.find("router-lab", "[1] </router-lab>")
	c.press(ctrlD)
	c.sees("<Delete>")
	c.press(tab + enter)
	c.sees("(delete) access denied")
	_, err := s.machines(t, "").Namespace("lab").Get(t.Context(), "router-lab", metav1.GetOptions{})
	assert.NoError(t, err)
	c.command("quit")
}

// tell records an event about a machine.
func (s *serving) tell(t *testing.T, about *unstructured.Unstructured, message string) {
	t.Helper()
	admin, err := kubernetes.NewForConfig(s.config(t, ""))
	require.NoError(t, err)
	_, err = admin.CoreV1().Events(about.GetNamespace()).Create(t.Context(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: about.GetName() + "-"},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: about.GetAPIVersion(), Kind: about.GetKind(), Namespace: about.GetNamespace(), Name: about.GetName(), UID: about.GetUID(),
		},
		Type: corev1.EventTypeNormal, Reason: "Seen", Message: message, Count: 1,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}
