package clients_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
)

// TestKubectlAround asks for what is beside machines.
func TestKubectlAround(t *testing.T) {
	t.Parallel()
	s := serveWithUsers(t, "--validate-responses=full")
	for name, test := range map[string]func(*testing.T, *serving){
		"events": askForEvents, "namespaces": makeNamespaces, "nodes": askForNodes, "others": askForOthers, "watch": watchMachines,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// askForEvents reads one event in all the ways there are.
func askForEvents(t *testing.T, s *serving) {
	const name = "fedora-agent"
	machine, err := s.machines(t, "").Namespace("lab").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	client, err := kubernetes.NewForConfig(s.config(t, ""))
	require.NoError(t, err)
	now := metav1.Now()
	_, err = client.CoreV1().Events("lab").Create(t.Context(), &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: name + ".1", Namespace: "lab"},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: machine.GetAPIVersion(), Kind: machine.GetKind(), Namespace: "lab", Name: name, UID: machine.GetUID(),
		},
		Type: corev1.EventTypeWarning, Reason: "SyncFailed", Message: "the disk is not there", Count: 3,
		FirstTimestamp: now, LastTimestamp: now, Source: corev1.EventSource{Component: "virt-handler"},
	}, metav1.CreateOptions{})
	require.NoError(t, err)

	const line = `Warning +SyncFailed +\S+( \(x3 over \S+\))? +virt-handler +the disk is not there`
	assert.Regexp(t, `(?m)^ +`+line+`$`, s.get(t, "describe", "vmi", "-n", "lab", name))
	assert.Regexp(t, `(?m)^Events: +<none>$`, s.get(t, "describe", "vmi", "-n", "lab", "router-lab"))

	want := map[string]string{"TYPE": "Warning", "REASON": "SyncFailed", "OBJECT": "virtualmachineinstance/" + name, "MESSAGE": "the disk is not there"}
	for _, args := range [][]string{
		{"events", "-n", "lab", "--for", "vmi/" + name},
		{"events", "-n", "lab", "--types=Warning"},
		{"get", "events", "-n", "lab"},
		{"get", "events", "-n", "lab", "--field-selector", "reason=SyncFailed,involvedObject.name=" + name},
	} {
		_, rows := table(t, s.get(t, args...))
		require.Len(t, rows, 1, args)
		seen := rows[0]["LAST SEEN"] + rows[0]["LAST"] // two titles, as they are separated by one blank
		delete(rows[0], "LAST")
		delete(rows[0], "SEEN")
		assert.NotEqual(t, "<unknown>", seen, args)
		if object := rows[0]["OBJECT"]; strings.HasPrefix(object, "VirtualMachineInstance/") { // so kubectl events spells it
			rows[0]["OBJECT"] = strings.ToLower(object)
		}
		assert.Equal(t, want, rows[0], args)
	}
	a := s.kubectl(t, "events", "-n", "lab", "--for", "vmi/router-lab")
	assert.Equal(t, answer{stderr: "No events found in lab namespace.\n"}, a)
	s.fails(t, `Error from server (Forbidden): events is forbidden: User "viewer" cannot list resource "events" in API group "" in the namespace "lab"`,
		"get", "events", "-n", "lab", "--token", "viewer-token")
}

// makeNamespaces makes one, and removes it with the machine in it.
func makeNamespaces(t *testing.T, s *serving) {
	manifest := filepath.Join(t.TempDir(), "made.yaml")
	require.NoError(t, os.WriteFile(manifest, []byte(strings.Replace(made, "namespace: lab", "namespace: fresh", 1)), 0o600))
	assert.Equal(t, "namespace/fresh created\n", s.get(t, "create", "namespace", "fresh"))
	s.fails(t, `Error from server (AlreadyExists): namespaces "fresh" already exists`, "create", "namespace", "fresh")
	assert.Equal(t, "virtualmachineinstance.kubevirt.io/made created\n", s.get(t, "create", "-f", manifest))
	assert.Equal(t, "namespace/fresh labeled\n", s.get(t, "label", "namespace", "fresh", "team=blue"))
	assert.Equal(t, "namespace/fresh\n", s.get(t, "get", "namespaces", "-l", "team=blue", "-o", "name"))
	assert.Equal(t, "namespace \"fresh\" deleted\n", s.get(t, "delete", "namespace", "fresh"))
	s.fails(t, `Error from server (NotFound): namespaces "fresh" not found`, "get", "namespace", "fresh")
	a := s.kubectl(t, "get", "vmi", "-n", "fresh")
	assert.Equal(t, answer{stderr: "No resources found in fresh namespace.\n"}, a)
}

// askForNodes reads the nodes that machines run on.
func askForNodes(t *testing.T, s *serving) {
	var want []string
	for _, machine := range servedMachines(t) {
		if node, _, _ := unstructured.NestedString(machine.Object, "status", "nodeName"); node != "" {
			want = append(want, node)
		}
	}
	slices.Sort(want)
	_, rows := table(t, s.get(t, "get", "nodes"))
	var got []string
	for _, row := range rows {
		got = append(got, row["NAME"])
		assert.Equal(t, "Ready", row["STATUS"], row["NAME"])
	}
	assert.Equal(t, slices.Compact(want), got)
	assert.Regexp(t, `(?m)^Name: +worker-a$`, s.get(t, "describe", "node", "worker-a"))
	s.fails(t, `Error from server (NotFound): nodes "nosuch" not found`, "get", "node", "nosuch")
}

func askForOthers(t *testing.T, s *serving) {
	_, rows := table(t, s.get(t, "get", "kubevirt", "-A"))
	require.Len(t, rows, 1)
	assert.Equal(t, "Deployed", rows[0]["PHASE"])
	assert.Equal(t, "customresourcedefinition.apiextensions.k8s.io/virtualmachineinstances.kubevirt.io\n", s.get(t, "get", "crd", "-o", "name"))
	assert.Equal(t, "customresourcedefinition.apiextensions.k8s.io/virtualmachineinstances.kubevirt.io condition met\n",
		s.get(t, "wait", "crd/virtualmachineinstances.kubevirt.io", "--for=condition=Established", "--timeout=20s"))
	for _, resource := range []string{"pods", "secrets", "pvc", "leases"} {
		assert.Equal(t, answer{stderr: "No resources found\n"}, s.kubectl(t, "get", resource, "-A"), resource)
	}
	// All of a namespace is its machines.
	assert.Equal(t, s.get(t, "get", "vmi", "-n", "lab", "-o", "name"), s.get(t, "get", "all", "-n", "lab", "-o", "name"))
}

// watchMachines reads what kubectl prints while machines come, change and go.
func watchMachines(t *testing.T, s *serving) {
	binary, err := kubectlBinary()
	require.NoError(t, err)
	namespace := s.machines(t, "").Namespace("watched")
	cmd := exec.CommandContext(t.Context(), binary, "--cache-dir", s.cache, "get", "vmi", "-n", "watched", "--watch", "--output-watch-events")
	cmd.Env = s.environment()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- strings.Join(strings.Fields(scanner.Text()), " ")
		}
	}()
	next := func(pattern string) {
		t.Helper()
		select {
		case line := <-lines:
			assert.Regexp(t, pattern, line)
		case <-time.After(patience):
			require.Fail(t, "kubectl says nothing", pattern)
		}
	}
	first := machine("first")
	first.SetNamespace("watched")
	_, err = namespace.Create(t.Context(), first, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	next(`^EVENT NAME AGE PHASE IP NODENAME READY$`)
	next(`^ADDED first \S+$`)
	for _, phase := range []string{"Scheduling", "Running"} {
		first, err = namespace.Get(t.Context(), "first", metav1.GetOptions{})
		require.NoError(t, err)
		require.NoError(t, unstructured.SetNestedField(first.Object, phase, "status", "phase"))
		_, err = namespace.Update(t.Context(), first, metav1.UpdateOptions{})
		require.NoError(t, err)
		next(fmt.Sprintf(`^MODIFIED first \S+ %s$`, phase))
	}
	require.NoError(t, namespace.Delete(t.Context(), "first", metav1.DeleteOptions{}))
	next(`^DELETED first \S+ Running$`)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // which says that it was killed
	for range lines {
	}
}
