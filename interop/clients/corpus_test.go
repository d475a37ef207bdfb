package clients_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// corpus is the directory of the machines that people have met.
const corpus = "../../openapi/testdata/corpus"

// refusals are the files of the corpus that cannot be served, with the places
// and the rules that serve must name. Parts of objects without a name cannot be
// stored, an API server has no v1alpha2 any more, and mocks are invalid.
var refusals = map[string][]string{
	"38-status-ocpv-2022.yaml":       {"1: /metadata/name (required)"},
	"40-status-2018-scheduled.yaml":  {"1: /apiVersion (enum)"},
	"41-status-sriov-duplicate.yaml": {"1: /metadata/name (required)"},
	"43-status-ip-with-prefix.yaml":  {"1: /metadata/name (required)"},
	"44-mock-stringly-booleans.yaml": {
		"15: /metadata/ownerReferences/0/blockOwnerDeletion (type)",
		"16: /metadata/ownerReferences/0/controller (type)",
		"37: /spec/domain/devices/disks/0/cdrom/readonly (type)",
		"60: /spec/domain/firmware/bootloader/efi/secureBoot (type)",
		"79: /status/conditions/0/lastProbeTime (format)",
	},
	"46-mock-wrong-apiversion.yaml": {"1: /apiVersion (enum)"},
}

// corpusFiles are the names of all files.
func corpusFiles(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(corpus, "*.yaml"))
	require.NoError(t, err)
	require.Greater(t, len(paths), 30)
	files := make([]string, len(paths))
	for i, path := range paths {
		files[i] = filepath.Base(path)
	}
	return files
}

// servedMachines are the objects of the corpus that can be served, as
// sigs.k8s.io/yaml reads them, in the order of lists. What has no namespace is in
// the namespace default.
func servedMachines(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var machines []*unstructured.Unstructured
	for _, file := range corpusFiles(t) {
		if refusals[file] != nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(corpus, file))
		require.NoError(t, err)
		converted, err := yaml.YAMLToJSON(data)
		require.NoError(t, err)
		machine := &unstructured.Unstructured{}
		require.NoError(t, machine.UnmarshalJSON(converted), file)
		machines = append(machines, machine)
	}
	slices.SortFunc(machines, func(a, b *unstructured.Unstructured) int { return strings.Compare(keyOf(a), keyOf(b)) })
	return machines
}

func namespaceOf(machine *unstructured.Unstructured) string {
	if machine.GetNamespace() == "" {
		return "default"
	}
	return machine.GetNamespace()
}

func keyOf(machine *unstructured.Unstructured) string {
	return namespaceOf(machine) + "/" + machine.GetName()
}

// keysOf are the keys of the machines that a selector matches.
func keysOf(machines []*unstructured.Unstructured, matches func(*unstructured.Unstructured) bool) []string {
	var keys []string
	for _, machine := range machines {
		if matches(machine) {
			keys = append(keys, keyOf(machine))
		}
	}
	return keys
}

func labelled(t *testing.T, selector string) func(*unstructured.Unstructured) bool {
	t.Helper()
	parsed, err := labels.Parse(selector)
	require.NoError(t, err)
	return func(machine *unstructured.Unstructured) bool { return parsed.Matches(labels.Set(machine.GetLabels())) }
}

func everything(*unstructured.Unstructured) bool { return true }
