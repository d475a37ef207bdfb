package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// TestKubectl serves the corpus and reads it with kubectl.
func TestKubectl(t *testing.T) {
	t.Parallel()
	s := serve(t, "--load", corpus, "--validate-responses=full")
	machines := servedMachines(t)
	for name, test := range map[string]func(*testing.T, *serving, []*unstructured.Unstructured){
		"load":          whatServeSays,
		"get":           getTable,
		"labels":        getByLabels,
		"fields":        getByFields,
		"yaml":          getYAML,
		"pages":         getInPages,
		"other outputs": getOtherOutputs,
		"not found":     getNothing,
		"describe":      describe,
		"namespaces":    getNamespaces,
		"discovery":     discover,
		"cold":          getCold,
		"raw":           getRaw,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, s, machines)
		})
	}
}

// said is a line about an object: file:line: pointer: message (rule).
var said = regexp.MustCompile(`^(.+):(\d+): (/\S*): .+ (\(\S+\))$`)

func whatServeSays(t *testing.T, s *serving, machines []*unstructured.Unstructured) {
	refused := map[string][]string{}
	for _, line := range s.said {
		if m := said.FindStringSubmatch(line); m != nil {
			file := filepath.Base(m[1])
			refused[file] = append(refused[file], m[2]+": "+m[3]+" "+m[4])
		}
	}
	assert.Equal(t, refusals, refused)
	assert.Contains(t, s.said, fmt.Sprintf("loaded %d, skipped 0, refused %d", len(machines), len(refusals)))
	assert.Len(t, machines, len(corpusFiles(t))-len(refusals))
}

// cells are the columns of KubeVirt's definition, but for the age.
func cells(machine *unstructured.Unstructured) map[string]string {
	status := func(path ...string) string {
		s, _, _ := unstructured.NestedString(machine.Object, append([]string{"status"}, path...)...)
		return s
	}
	row := map[string]string{
		"NAMESPACE": namespaceOf(machine), "NAME": machine.GetName(),
		"PHASE": status("phase"), "NODENAME": status("nodeName"), "IP": "",
		"READY": condition(machine, "Ready"), "LIVE-MIGRATABLE": condition(machine, "LiveMigratable"), "PAUSED": condition(machine, "Paused"),
	}
	if interfaces, _, _ := unstructured.NestedSlice(machine.Object, "status", "interfaces"); len(interfaces) > 0 {
		row["IP"], _, _ = unstructured.NestedString(interfaces[0].(map[string]any), "ipAddress")
	}
	return row
}

func condition(machine *unstructured.Unstructured, kind string) string {
	conditions, _, _ := unstructured.NestedSlice(machine.Object, "status", "conditions")
	for _, c := range conditions {
		if c := c.(map[string]any); c["type"] == kind {
			s, _ := c["status"].(string)
			return s
		}
	}
	return ""
}

func getTable(t *testing.T, s *serving, machines []*unstructured.Unstructured) {
	for flags, titles := range map[string][]string{
		"":        {"NAMESPACE", "NAME", "AGE", "PHASE", "IP", "NODENAME", "READY"},
		"-o=wide": {"NAMESPACE", "NAME", "AGE", "PHASE", "IP", "NODENAME", "READY", "LIVE-MIGRATABLE", "PAUSED"},
	} {
		got, rows := table(t, s.get(t, append([]string{"get", "vmi", "-A"}, strings.Fields(flags)...)...))
		require.Equal(t, titles, got)
		require.Len(t, rows, len(machines))
		for i, machine := range machines {
			assert.Regexp(t, `^([0-9]+[ydhms])+$`, rows[i]["AGE"], keyOf(machine))
			for title, cell := range cells(machine) {
				if slices.Contains(titles, title) {
					assert.Equal(t, cell, rows[i][title], "%s of %s", title, keyOf(machine))
				}
			}
		}
	}
}

// keys are the machines in a table of all namespaces.
func keys(t *testing.T, out string) []string {
	_, rows := table(t, out)
	var keys []string
	for _, row := range rows {
		keys = append(keys, row["NAMESPACE"]+"/"+row["NAME"])
	}
	return keys
}

func getByLabels(t *testing.T, s *serving, machines []*unstructured.Unstructured) {
	for _, selector := range []string{
		"kubevirt.io/nodeName=node-1", "kubevirt.io/nodeName!=node-1", "kubevirt.io/nodeName", "!kubevirt.io/nodeName",
		"kubevirt.io/nodeName in (worker-a, worker-b)", "kubevirt.io/nodeName notin (node-1),kubevirt.io/nodeName",
	} {
		want := keysOf(machines, labelled(t, selector))
		require.NotEmpty(t, want, selector)
		require.Less(t, len(want), len(machines), selector)
		assert.Equal(t, want, keys(t, s.get(t, "get", "vmi", "-A", "-l", selector)), selector)
	}
	s.fails(t, `Error from server (BadRequest): Unable to find "kubevirt.io/v1, Resource=virtualmachineinstances" that match label selector "a in b", `+
		`field selector "": unable to parse requirement: found 'b' expected: '('`, "get", "vmi", "-A", "-l", "a in b")
}

func getByFields(t *testing.T, s *serving, machines []*unstructured.Unstructured) {
	for selector, matches := range map[string]func(*unstructured.Unstructured) bool{
		"metadata.name=vm-13":                     func(m *unstructured.Unstructured) bool { return m.GetName() == "vm-13" },
		"metadata.name!=vm-13":                    func(m *unstructured.Unstructured) bool { return m.GetName() != "vm-13" },
		"metadata.namespace=lab":                  func(m *unstructured.Unstructured) bool { return namespaceOf(m) == "lab" },
		"metadata.name=vm-13,metadata.namespace=": nil,
	} {
		a := s.kubectl(t, "get", "vmi", "-A", "--field-selector", selector)
		require.Zero(t, a.code, a.stderr)
		if matches == nil {
			assert.Empty(t, a.stdout, selector)
			assert.Equal(t, "No resources found\n", a.stderr, selector)
			continue
		}
		assert.Equal(t, keysOf(machines, matches), keys(t, a.stdout), selector)
	}
	s.fails(t, `Error from server (BadRequest): Unable to find "kubevirt.io/v1, Resource=virtualmachineinstances" that match label selector "", `+
		`field selector "status.phase=Running": field label not supported: status.phase`,
		"get", "vmi", "-A", "--field-selector", "status.phase=Running")
}

// getYAML gets each machine and compares it leaf by leaf with its file.
func getYAML(t *testing.T, s *serving, machines []*unstructured.Unstructured) {
	names := map[string][]string{}
	for _, machine := range machines {
		names[namespaceOf(machine)] = append(names[namespaceOf(machine)], machine.GetName())
	}
	served := map[string]*unstructured.Unstructured{}
	for namespace, names := range names {
		for some := range slices.Chunk(names, 8) { // kubectl holds itself back after ten requests, and says so
			args := append([]string{"get", "vmi", "-n", namespace, "-o", "yaml", "--show-managed-fields"}, some...)
			for _, machine := range objectsIn(t, s.get(t, args...)) {
				served[keyOf(machine)] = machine
			}
		}
	}
	require.Len(t, served, len(machines))
	for _, machine := range machines {
		require.Contains(t, served, keyOf(machine))
		assert.Empty(t, differences(machine, served[keyOf(machine)]), keyOf(machine))
	}
}

// objectsIn reads one object, or a List of them, as YAML.
func objectsIn(t *testing.T, out string) []*unstructured.Unstructured {
	t.Helper()
	converted, err := yaml.YAMLToJSON([]byte(out))
	require.NoError(t, err)
	object := &unstructured.Unstructured{}
	require.NoError(t, object.UnmarshalJSON(converted))
	if !object.IsList() {
		return []*unstructured.Unstructured{object}
	}
	var objects []*unstructured.Unstructured
	require.NoError(t, object.EachListItem(func(item runtime.Object) error {
		objects = append(objects, item.(*unstructured.Unstructured))
		return nil
	}))
	return objects
}

// getInPages lets kubectl put a table together from pages.
func getInPages(t *testing.T, s *serving, machines []*unstructured.Unstructured) {
	a := s.kubectl(t, "get", "vmi", "-A", "--chunk-size=10", "-v=6")
	require.Zero(t, a.code, a.stderr)
	assert.Equal(t, keysOf(machines, everything), keys(t, a.stdout))
	pages := (len(machines) + 9) / 10
	assert.Equal(t, pages, strings.Count(a.stderr, "limit=10"), a.stderr)
	assert.Equal(t, pages-1, strings.Count(a.stderr, "continue="), a.stderr)
}

func getOtherOutputs(t *testing.T, s *serving, machines []*unstructured.Unstructured) {
	var names, phases strings.Builder
	for _, machine := range machines {
		phase, _, _ := unstructured.NestedString(machine.Object, "status", "phase")
		names.WriteString("virtualmachineinstance.kubevirt.io/" + machine.GetName() + "\n")
		phases.WriteString(machine.GetName() + "=" + phase + "\n")
	}
	assert.Equal(t, names.String(), s.get(t, "get", "vmis", "-A", "-o", "name"))
	assert.Equal(t, phases.String(), s.get(t, "get", "virtualmachineinstances.v1.kubevirt.io", "-A",
		"-o", `jsonpath={range .items[*]}{.metadata.name}={.status.phase}{"\n"}{end}`))

	lab := labMachines(machines)
	_, rows := table(t, s.get(t, "get", "all", "-n", "lab", "--show-labels"))
	require.Len(t, rows, len(lab))
	for i, machine := range lab {
		want := labels.FormatLabels(machine.GetLabels())
		assert.Equal(t, want, rows[i]["LABELS"], keyOf(machine))
	}
	var sorted []string
	for _, machine := range lab {
		sorted = append(sorted, "virtualmachineinstance.kubevirt.io/"+machine.GetName())
	}
	slices.Reverse(sorted)
	byName := strings.Fields(s.get(t, "get", "vmi", "-n", "lab", "--sort-by=.metadata.name", "-o", "name"))
	slices.Reverse(byName)
	assert.Equal(t, sorted, byName)
}

func labMachines(machines []*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(machines), func(m *unstructured.Unstructured) bool { return namespaceOf(m) != "lab" })
}

func getNothing(t *testing.T, s *serving, _ []*unstructured.Unstructured) {
	const notFound = `Error from server (NotFound): virtualmachineinstances.kubevirt.io "nosuch" not found`
	s.fails(t, notFound, "get", "vmi", "nosuch")
	s.fails(t, notFound, "get", "vmi", "nosuch", "-n", "lab", "-o", "yaml")
	s.fails(t, notFound, "describe", "vmi", "nosuch")
	s.fails(t, `Error from server (NotFound): namespaces "nosuch" not found`, "get", "namespace", "nosuch")
	s.fails(t, `error: the server doesn't have a resource type "services"`, "get", "services")

	a := s.kubectl(t, "get", "vmi", "-n", "nosuch")
	assert.Equal(t, answer{stderr: "No resources found in nosuch namespace.\n"}, a)
}

func describe(t *testing.T, s *serving, _ []*unstructured.Unstructured) {
	out := s.get(t, "describe", "vmi", "-n", "lab", "fedora-agent")
	for _, line := range []string{
		`Name: +fedora-agent`, `Namespace: +lab`, `API Version: +kubevirt.io/v1`, `Kind: +VirtualMachineInstance`,
		`  Phase: +Running`, `  Node Name: +worker-a`, `Events: +<none>`,
	} {
		assert.Regexp(t, `(?m)^`+line+`$`, out)
	}
}

func getNamespaces(t *testing.T, s *serving, machines []*unstructured.Unstructured) {
	want := []string{"namespace/default", "namespace/kube-system", "namespace/kubevirt"} // always there
	for _, machine := range machines {
		want = append(want, "namespace/"+namespaceOf(machine))
	}
	slices.Sort(want)
	want = slices.Compact(want)
	assert.Equal(t, want, strings.Fields(s.get(t, "get", "ns", "-o", "name")))
	_, rows := table(t, s.get(t, "get", "namespaces"))
	require.Len(t, rows, len(want))
	for i, row := range rows {
		assert.Equal(t, want[i], "namespace/"+row["NAME"])
		assert.Regexp(t, `^([0-9]+[hms])+$`, row["AGE"])
	}
	assert.Regexp(t, `(?m)^Status: +Active$`, s.get(t, "describe", "ns", "lab"))
}

// discover asks what there is.
func discover(t *testing.T, s *serving, _ []*unstructured.Unstructured) {
	var resources []string
	titles, rows := table(t, s.get(t, "api-resources"))
	assert.Equal(t, []string{"NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"}, titles)
	for _, row := range rows {
		resources = append(resources, fmt.Sprintf("%s %s (%s) %s", row["APIVERSION"], row["NAME"], row["SHORTNAMES"], row["NAMESPACED"]))
	}
	assert.Equal(t, []string{
		"v1 events (ev) true", "v1 namespaces (ns) false", "v1 nodes (no) false",
		"v1 persistentvolumeclaims (pvc) true", "v1 pods (po) true", "v1 secrets () true",
		"apiextensions.k8s.io/v1 customresourcedefinitions (crd,crds) false",
		"authorization.k8s.io/v1 selfsubjectaccessreviews () false", "authorization.k8s.io/v1 selfsubjectrulesreviews () false",
		"coordination.k8s.io/v1 leases () true",
		"kubevirt.io/v1 kubevirts (kv,kvs) true", "kubevirt.io/v1 virtualmachineinstances (vmi,vmis) true",
	}, resources)
	assert.Equal(t, []string{
		"apiextensions.k8s.io/v1", "authorization.k8s.io/v1", "coordination.k8s.io/v1", "kubevirt.io/v1", "kubevirt.io/v1alpha3", "v1",
	}, strings.Fields(s.get(t, "api-versions")))

	a := s.kubectl(t, "version")
	assert.Zero(t, a.code, a.stderr)
	if os.Getenv("VMIKIT_KUBECTL") == "" { // another one may warn that the server is too far from it
		assert.Empty(t, a.stderr)
	}
	assert.Regexp(t, `(?m)^Server Version: v1\.[0-9]+\.[0-9]+\+vmikit-\S+$`, a.stdout)
}

// getCold runs commands that find no discovery in their cache.
func getCold(t *testing.T, s *serving, _ []*unstructured.Unstructured) {
	for _, args := range [][]string{
		{"get", "vmi", "-A", "-o", "name"}, {"get", "vmi", "-n", "lab", "fedora-agent", "-o", "yaml"},
		{"get", "ns", "-o", "name"}, {"api-resources"}, {"describe", "vmi", "-n", "lab", "fedora-agent"},
	} {
		a := s.kubectlIn(t, t.TempDir(), append(args, "-v=6")...)
		require.Zero(t, a.code, a.stderr)
		assert.Regexp(t, `GET"? .*/api\?timeout`, a.stderr, args)
		assert.Regexp(t, `GET"? .*/apis\?timeout`, a.stderr, args)
		assert.Equal(t, s.get(t, args...), a.stdout, args)
	}
}

func getRaw(t *testing.T, s *serving, machines []*unstructured.Unstructured) {
	for _, path := range []string{"/readyz", "/livez", "/healthz"} {
		assert.Equal(t, "ok", s.get(t, "get", "--raw", path), path)
	}
	list := objectsIn(t, s.get(t, "get", "--raw", "/apis/kubevirt.io/v1/namespaces/lab/virtualmachineinstances?limit=500"))
	assert.Equal(t, keysOf(labMachines(machines), everything), keysOf(list, everything))
	s.fails(t, "Error from server (NotFound): the server could not find the requested resource", "get", "--raw", "/nosuch")
	s.fails(t, "Error from server (BadRequest): limit: Invalid value: 0: must be at least 1 (minimum)",
		"get", "--raw", "/apis/kubevirt.io/v1/virtualmachineinstances?limit=0")
}
