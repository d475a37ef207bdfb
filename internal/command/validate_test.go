package command_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/vmikit/vmikit/openapi"
)

const (
	brokenLines = `testdata/broken.yaml:9: /spec/domain/cpu/cores: must be at least 1, got 0 (minimum)
testdata/broken.yaml:14: /spec/domain/devices/interfaces/0/macAddress: must match ^(([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}|([0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4})$, got "02-00-00-00-00-zz" (pattern)
testdata/broken.yaml:16: /status/phase: must be one of "Pending", "Scheduling", "Scheduled", "Running", "Succeeded", "Failed", "Unknown", "WaitingForSync", got "Runing" (enum)
testdata/broken.yaml:18: skipped VirtualMachine kubevirt.io/v1 "x"
`
	driftLine = `testdata/broken.yaml:28: note: the given document alone objects: /spec/evictionStrategy: must be one of "LiveMigrate", "None", got "External" (enum)
`
)

func TestValidate(t *testing.T) {
	assert.Equal(t, outcome{1, brokenLines + driftLine +
		"3 violations in 1 of 2 objects, by profile kubevirt; 1 issue that the given document alone has; skipped 1 object of other kinds\n", ""},
		vmikit(t, "validate", "testdata/broken.yaml"))

	assert.Equal(t, outcome{1, brokenLines + "testdata/broken.yaml:30: /spec/domain/cpus: is no field of the resource (unknown-field)\n" + driftLine +
		"4 violations in 2 of 2 objects, by profile kubevirt; 1 issue that the given document alone has; skipped 1 object of other kinds\n", ""},
		vmikit(t, "validate", "--strict", "testdata/broken.yaml"))

	got := vmikit(t, "validate", "--profile", "document", "testdata/broken.yaml")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, `broken.yaml:28: /spec/evictionStrategy: must be one of "LiveMigrate", "None", got "External" (enum)`)
	assert.Contains(t, got.stdout, "4 violations in 2 of 2 objects, by profile document; skipped 1 object of other kinds\n")
}

func TestValidateStandardInput(t *testing.T) {
	good := fmt.Sprintf(machine, "web", "")
	assert.Equal(t, outcome{0, "1 object is valid by profile kubevirt\n", ""}, vmikitWith(t, good, "validate", "-"))
	got := vmikitWith(t, good+strings.Replace(good, "v1", "v2", 1), "validate", "-")
	assert.Equal(t, outcome{1, `<stdin>:2: /apiVersion: must be one of "kubevirt.io/v1", got "kubevirt.io/v2" (enum)` +
		"\n1 violation in 1 of 2 objects, by profile kubevirt\n", ""}, got)
}

// serve takes what the document calls a violation.
func TestValidateNotesWhatServeTakes(t *testing.T) {
	old := strings.Replace(fmt.Sprintf(machine, "web", ""), "v1", "v1alpha3", 1)
	for _, p := range openapi.Profiles() {
		assert.Equal(t, outcome{1, `<stdin>:1: /apiVersion: must be one of "kubevirt.io/v1", got "kubevirt.io/v1alpha3" (enum)` +
			"\n<stdin>:1: note: serve --load would answer it as kubevirt.io/v1\n1 violation in 1 of 1 object, by profile " + string(p) + "\n", ""},
			vmikitWith(t, old, "validate", "--profile", string(p), "-"))
	}
}

// A report for people is printable lines, one for programs has the exact values.
func TestValidateForgesNoLines(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a\nb\x1b[2J.json")
	require.NoError(t, os.WriteFile(path, []byte(
		fmt.Sprintf(machine, "web", `,"labels":{"k\nother.yaml:1: /spec: forged\u001b[2J":5}`)+
			`{"apiVersion":"v1","kind":"P\no\u001b[2Jd","metadata":{"name":"x\ny"}}`+"\n{\n"), 0o600))
	got := vmikit(t, "validate", dir)
	assert.Equal(t, `DIR/a\nb\x1b[2J.json:1: /metadata/labels/k\nother.yaml:1: ~1spec: forged\x1b[2J: must be a string, not a number, got 5 (type)
DIR/a\nb\x1b[2J.json:2: skipped P\no\x1b[2Jd v1 "x\ny"
DIR/a\nb\x1b[2J.json:4: invalid json: unexpected EOF
1 violation in 1 of 1 object, by profile kubevirt; skipped 1 object of other kinds; could not read 1 place
`, strings.ReplaceAll(got.stdout, dir, "DIR"))

	var report struct {
		Objects []struct {
			File, Kind, Name string
			Violations       []struct{ Pointer string }
		}
		Errors []struct{ File string }
	}
	require.NoError(t, json.Unmarshal([]byte(vmikit(t, "validate", "-o", "json", dir).stdout), &report))
	assert.Equal(t, path, report.Objects[0].File)
	assert.Equal(t, "/metadata/labels/k\nother.yaml:1: ~1spec: forged\x1b[2J", report.Objects[0].Violations[0].Pointer)
	assert.Equal(t, "P\no\x1b[2Jd", report.Objects[1].Kind)
	assert.Equal(t, "x\ny", report.Objects[1].Name)
	assert.Equal(t, path, report.Errors[0].File)

	junit := vmikit(t, "validate", "-o", "junit", dir).stdout
	assert.NoError(t, xml.Unmarshal([]byte(junit), new(struct{})))
	assert.Contains(t, junit, `.json:1: /metadata/labels/k\nother.yaml:1: ~1spec: forged\x1b[2J: must be a string`)
}

// What only the given document objects to is a note and no violation.
func TestDriftIsNoViolation(t *testing.T) {
	path := write(t, "vmi.json", strings.Replace(fmt.Sprintf(machine, "web", ""), `}}`, `},"spec":{"evictionStrategy":"External"}}`, 1))
	got := vmikit(t, "validate", path)
	assert.Equal(t, 0, got.code)
	assert.Contains(t, got.stdout, ":1: note: the given document alone objects: /spec/evictionStrategy")
	assert.Contains(t, got.stdout, "1 object is valid by profile kubevirt; 1 issue that the given document alone has\n")
	assert.Equal(t, 1, vmikit(t, "validate", "--profile", "kubernetes", path).code, "kubernetes keeps the rules of the document")
}

func TestValidateFindsNothing(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "blank": "\n\n", "comment": "# nothing\n---\n"} {
		assert.Equal(t, outcome{0, "no VirtualMachineInstance found\n", ""}, vmikit(t, "validate", write(t, name+".yaml", text)), name)
	}
	pod := write(t, "pod.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns}\n")
	assert.Equal(t, outcome{0, pod + ":1: skipped Pod v1 \"ns/p\"\nno VirtualMachineInstance found; skipped 1 object of other kinds\n", ""},
		vmikit(t, "validate", pod))
}

func TestValidateWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	unreadable := write(t, "secret.yaml", "")
	require.NoError(t, os.Chmod(unreadable, 0))
	cases := map[string]string{
		"nosuch.yaml":                     "nosuch.yaml: ",
		dir:                               dir + ": the directory has no .json, .yaml, .yml files",
		write(t, "half.yaml", "a: [\n"):   "half.yaml:",
		write(t, "half.json", `{"kind":`): "half.json:",
		write(t, "text.yaml", "hello\n"):  "text.yaml:1: ",
		write(t, "array.json", "[]"):      "array.json:1: a JSON array is not a Kubernetes object",
		write(t, "nokind.yaml", "metadata: {name: x}\n"):        "nokind.yaml:1: not a Kubernetes object: it has no kind",
		write(t, "bomb.yaml", bomb()):                           "bomb.yaml",
		write(t, "deep.yaml", "a: "+strings.Repeat("[", 20000)): "deep.yaml:",
		write(t, "nul.yaml", "kind: \x00\n"):                    "nul.yaml:1: ",
	}
	if os.Getuid() != 0 {
		cases[unreadable] = "secret.yaml: "
	}
	for path, want := range cases {
		got := vmikit(t, "validate", path)
		assert.Equal(t, 2, got.code, path)
		assert.Empty(t, got.stderr, path)
		assert.Contains(t, got.stdout, want)
		assert.Contains(t, got.stdout, "no VirtualMachineInstance found; could not read 1 place\n", path)
	}
	// Violations do not hide that something could not be read.
	got := vmikit(t, "validate", "testdata/broken.yaml", "nosuch.yaml")
	assert.Equal(t, 2, got.code)
	assert.Contains(t, got.stdout, "3 violations in 1 of 2 objects")
}

// bomb is a document whose aliases expand to 10^9 values.
func bomb() string {
	var b strings.Builder
	b.WriteString("kind: VirtualMachineInstance\na0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	return b.String()
}

func TestValidateNesting(t *testing.T) {
	nested := func(n int) string {
		return strings.Replace(fmt.Sprintf(machine, "web", ""), `}}`, `},"spec":{"affinity":`+strings.Repeat(`{"a":`, n)+"1"+strings.Repeat("}", n)+`}}`, 1)
	}
	assert.Equal(t, 0, vmikitWith(t, nested(100), "validate", "-").code)
	got := vmikitWith(t, nested(5000), "validate", "-")
	assert.Equal(t, 1, got.code)
	assert.Contains(t, got.stdout, "(json-depth)\n")
}

func TestValidateJSON(t *testing.T) {
	got := vmikit(t, "validate", "-o", "json", "testdata/broken.yaml", "nosuch.yaml")
	assert.Equal(t, 2, got.code)
	assert.Empty(t, got.stderr)
	golden(t, "testdata/broken.json", got.stdout)

	empty := vmikitWith(t, "", "validate", "-o", "json", "-")
	assert.Contains(t, empty.stdout, `"objects": [],`)
	assert.Contains(t, empty.stdout, `"errors": []`)
}

func TestValidateJUnit(t *testing.T) {
	got := vmikit(t, "validate", "-o", "junit", "testdata/broken.yaml", "nosuch.yaml")
	assert.Equal(t, 2, got.code)
	golden(t, "testdata/broken.junit.xml", got.stdout)
	var suites struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
			Cases    []struct {
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	require.NoError(t, xml.Unmarshal([]byte(got.stdout), &suites))
	require.Len(t, suites.Suites, 1)
	assert.Equal(t, suites.Suites[0].Tests, len(suites.Suites[0].Cases))
	assert.Equal(t, 1, suites.Suites[0].Failures)
}

// golden compares with a file; VMIKIT_UPDATE=1 writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("VMIKIT_UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// The verdicts on the corpus are those of package openapi, by the way of files.
func TestValidateTheCorpus(t *testing.T) {
	const corpus = "../../openapi/testdata"
	text, err := os.ReadFile(filepath.Join(corpus, "verdicts.yaml"))
	require.NoError(t, err)
	var verdicts map[string]map[openapi.Profile][]struct{ Pointer, Rule string }
	require.NoError(t, yaml.Unmarshal(text, &verdicts))
	for _, p := range openapi.Profiles() {
		got := vmikit(t, "validate", "-o", "json", "--profile", string(p), filepath.Join(corpus, "corpus"))
		assert.Equal(t, 1, got.code)
		var report struct {
			Objects []struct {
				File       string
				Violations []struct{ Pointer, Rule string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
		assert.Len(t, report.Objects, len(verdicts))
		for _, o := range report.Objects {
			assert.ElementsMatch(t, verdicts[filepath.Base(o.File)][p], o.Violations, "%s by %s", o.File, p)
		}
	}
}
