package command_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const machine = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"%s"%s}}` + "\n"

// startLines is what serve printed before the requests, without the place of the files.
func (r *running) startLines(dir string) string {
	text, _, _ := strings.Cut(r.stderr(), "serving ")
	return strings.ReplaceAll(text, dir, "DIR")
}

func TestLoadTellsOfEachObject(t *testing.T) {
	s := start(t, "--load", "testdata/broken.yaml")
	assert.Equal(t, `testdata/broken.yaml:9: /spec/domain/cpu/cores: must be at least 1, got 0 (minimum)
testdata/broken.yaml:14: /spec/domain/devices/interfaces/0/macAddress: must match ^(([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4})$, got "02-00-00-00-00-zz" (pattern)
testdata/broken.yaml:16: /status/phase: must be one of "Pending", "Scheduling", "Scheduled", "Running", "Succeeded", "Failed", "Unknown", "WaitingForSync", got "Runing" (enum)
testdata/broken.yaml:18: skipped VirtualMachine kubevirt.io/v1 "x"
loaded 1, skipped 1, refused 1
`, s.startLines("testdata/none"))
	status, _ := s.get(t, http.DefaultClient, "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/fine", "")
	assert.Equal(t, 200, status)
	status, _ = s.get(t, http.DefaultClient, "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/broken", "")
	assert.Equal(t, 404, status)
}

func TestLoadOrderAndDuplicates(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"b.json": fmt.Sprintf(machine, "web", "") + "\n" + fmt.Sprintf(machine, "web", `,"namespace":"default"`),
		"a.yaml": "apiVersion: kubevirt.io/v1alpha3\nkind: VirtualMachineInstance\nmetadata: {name: old}\n---\n--- x\n---\n" +
			"apiVersion: kubevirt.io/v1alpha2\nkind: VirtualMachineInstance\nmetadata: {name: older}\n---\n" +
			"apiVersion: v1\nkind: VirtualMachineInstance\nmetadata: {name: nogroup}\n---\n" +
			"apiVersion: example.org/v1\nkind: VirtualMachineInstance\nmetadata: {name: other}\n",
		"c.txt": "no manifest",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	s := start(t, "-f", dir, "-f", filepath.Join(dir, "b.json"))
	assert.Equal(t, `DIR/a.yaml:5: only a comment may follow --- on its line
DIR/a.yaml:7: /apiVersion: must be one of "kubevirt.io/v1", got "kubevirt.io/v1alpha2" (enum)
DIR/a.yaml:11: /apiVersion: must be one of "kubevirt.io/v1", got "v1" (enum)
DIR/a.yaml:15: skipped VirtualMachineInstance example.org/v1 "other"
DIR/b.json:3: VirtualMachineInstance kubevirt.io/v1 "default/web" is there already, from DIR/b.json:1
DIR/b.json:1: VirtualMachineInstance kubevirt.io/v1 "web" is there already, from DIR/b.json:1
DIR/b.json:3: VirtualMachineInstance kubevirt.io/v1 "default/web" is there already, from DIR/b.json:1
loaded 2, skipped 1, refused 5, could not read 1
`, s.startLines(dir))
	_, body := s.get(t, http.DefaultClient, "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/old", "")
	assert.Contains(t, body, `"apiVersion":"kubevirt.io/v1"`, "as a cluster answers it")
}

func TestStrictLoad(t *testing.T) {
	got := vmikit(t, "serve", "--listen", "127.0.0.1:0", "--strict-load", "--load", "testdata/broken.yaml")
	assert.Equal(t, 1, got.code)
	assert.True(t, strings.HasSuffix(got.stderr, "loaded 1, skipped 1, refused 1\nerror: --strict-load: refused 1 and could not read 0\n"), got.stderr)

	got = vmikit(t, "serve", "--listen", "127.0.0.1:0", "--strict-load", "--load", write(t, "bad.yaml", "a: [\n"))
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "could not read 1")

	// What is of another kind is no fault.
	s := start(t, "--strict-load", "--load", write(t, "pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"))
	assert.Contains(t, s.stderr(), "loaded 0, skipped 1\n")
}

func TestStrictNamespaces(t *testing.T) {
	s := start(t, "--strict-namespaces", "--load", write(t, "vmi.json", fmt.Sprintf(machine, "web", "")))
	post := func(namespace string) int {
		res, err := http.Post(s.url+"/apis/kubevirt.io/v1/namespaces/"+namespace+"/virtualmachineinstances", "application/json",
			strings.NewReader(fmt.Sprintf(machine, "other", "")))
		require.NoError(t, err)
		defer res.Body.Close()
		return res.StatusCode
	}
	assert.Equal(t, 404, post("nosuch"))
	assert.Equal(t, 201, post("default"))
}

// A file that the command line names and that is not there is always a fault: a
// server without the machines somebody asked for helps nobody.
func TestLoadOfAFileThatIsNotThere(t *testing.T) {
	got := vmikit(t, "serve", "--listen", "127.0.0.1:0", "--load", "nosuch.yaml")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stderr, "error: --load: nosuch.yaml: ")
}

func TestLoadKeepsEnumWarningsWithTheirPlace(t *testing.T) {
	path := write(t, "vmi.json", "\n"+strings.Replace(fmt.Sprintf(machine, "web", ""), `}}`, `},"status":`+"\n"+`{"phase":"Resting"}}`, 1)+
		strings.Replace(fmt.Sprintf(machine, "fine", ""), `}}`, `},"spec":{"domain":{"cpu":{"cores":0}}},"status":{"phase":"Asleep"}}`, 1))
	s := start(t, "--enum-unknown", "warn", "--load", path)
	const known = `must be one of "Pending", "Scheduling", "Scheduled", "Running", "Succeeded", "Failed", "Unknown", "WaitingForSync"`
	assert.Equal(t, `warning: DIR/vmi.json:3: /status/phase: `+known+`, got "Resting" (enum)
warning: DIR/vmi.json:4: /status/phase: `+known+`, got "Asleep" (enum)
DIR/vmi.json:4: /spec/domain/cpu/cores: must be at least 1, got 0 (minimum)
loaded 1, skipped 0, refused 1
`, s.startLines(filepath.Dir(path)))
	status, body := s.get(t, http.DefaultClient, "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/web", "")
	assert.Equal(t, 200, status)
	assert.Contains(t, body, "Resting")
}

// What stands in a file, or in its name, forges no line and drives no terminal.
func TestLoadTellsPrintableLines(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a\n\x1b[2J.json"), []byte(
		fmt.Sprintf(machine, "web", `,"labels":{"k\nother.yaml:1: /spec: forged\u001b[2J":5}`)+
			`{"apiVersion":"v1","kind":"P\no\u001b[2Jd","metadata":{"name":"x\ny"}}`+"\n"+
			fmt.Sprintf(machine, "web", "")+fmt.Sprintf(machine, "web", "")+"{\n"), 0o600))
	s := start(t, "--load", dir)
	assert.Equal(t, `DIR/a\n\x1b[2J.json:1: /metadata/labels/k\nother.yaml:1: ~1spec: forged\x1b[2J: must be a string, not a number, got 5 (type)
DIR/a\n\x1b[2J.json:2: skipped P\no\x1b[2Jd v1 "x\ny"
DIR/a\n\x1b[2J.json:4: VirtualMachineInstance kubevirt.io/v1 "web" is there already, from DIR/a\n\x1b[2J.json:3
DIR/a\n\x1b[2J.json:6: invalid json: unexpected EOF
loaded 1, skipped 1, refused 2, could not read 1
`, s.startLines(dir))

	got := vmikit(t, "serve", "--load", "no\nsuch\x1b.yaml", "--listen", "127.0.0.1:0")
	assert.Equal(t, outcome{1, "", `error: --load: no\nsuch\x1b.yaml: no such file or directory` + "\n"}, got)
}

// Nothing of what is secret in a machine is repeated, whatever is wrong with it.
func TestLoadKeepsSecrets(t *testing.T) {
	s := start(t, "--load", write(t, "vmi.yaml", `apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: web}
spec:
  volumes:
  - name: init
    cloudInitNoCloud: {userData: [hunter2]}
  - name: init2
    cloudInitNoCloud: {userData: 471147114711}
`))
	assert.Contains(t, s.stderr(), "/spec/volumes/0/cloudInitNoCloud/userData: must be a string")
	assert.NotContains(t, s.stderr(), "hunter2")
	assert.NotContains(t, s.stderr(), "47114711")
}

func TestLoadedObjectsAreServedInFull(t *testing.T) {
	s := start(t, "--validate-responses", "full", "--load", "../../openapi/testdata/corpus")
	status, body := s.get(t, http.DefaultClient, machines, "")
	assert.Equal(t, 200, status)
	var list struct{ Items []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	assert.Contains(t, s.stderr(), fmt.Sprintf("loaded %d, skipped 0, refused ", len(list.Items)))
	assert.NotEmpty(t, list.Items)
}
