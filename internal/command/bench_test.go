package command_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// binary builds the command, since what is measured is a process.
func binary(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "vmikit")
	out, err := exec.Command("go", "build", "-o", path, "../../cmd/vmikit").CombinedOutput()
	require.NoError(b, err, "%s", out)
	return path
}

// firstAnswer starts a server, waits for its first answer and ends it.
func firstAnswer(b *testing.B, path string, args ...string) time.Duration {
	b.Helper()
	begin := time.Now()
	cmd := exec.Command(path, append([]string{"serve", "--quiet", "--listen", "127.0.0.1:0"}, args...)...)
	stderr, err := cmd.StderrPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	lines := bufio.NewScanner(stderr)
	var url string
	for lines.Scan() && url == "" {
		if m := servingLine.FindStringSubmatch(lines.Text()); m != nil {
			url = m[1]
		}
	}
	require.NotEmpty(b, url)
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	res, err := http.Get(url + "/apis/kubevirt.io/v1/virtualmachineinstances?limit=1")
	require.NoError(b, err)
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(b, err)
	res.Body.Close()
	took := time.Since(begin)
	require.NoError(b, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	return took
}

// Goal: at most 100 ms from the start of the process with the sample.
func BenchmarkFirstAnswer(b *testing.B) {
	path := binary(b)
	var sum time.Duration
	n := 0
	for b.Loop() {
		sum += firstAnswer(b, path)
		n++
	}
	b.ReportMetric(float64(sum.Microseconds())/1000/float64(n), "ms-to-answer")
}

// Goals: 10,000 objects of about 4 KB in at most 5 s from JSON, 15 s from YAML.
func BenchmarkLoad10000(b *testing.B) {
	path := binary(b)
	for _, form := range []struct {
		name, separator string
		write           func(*testing.B, string) string
	}{{"json", "\n", asItIs}, {"yaml", "---\n", asYAML}} {
		b.Run(form.name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "fleet."+form.name)
			var fleet strings.Builder
			for i := range 10_000 {
				fleet.WriteString(form.separator)
				fleet.WriteString(form.write(b, machineJSON(i)))
			}
			require.NoError(b, os.WriteFile(file, []byte(fleet.String()), 0o600))
			var sum time.Duration
			n := 0
			for b.Loop() {
				sum += firstAnswer(b, path, "--strict-load", "--load", file)
				n++
			}
			b.ReportMetric(sum.Seconds()/float64(n), "s-to-answer")
			b.ReportMetric(float64(fleet.Len())/10_000, "bytes/object")
		})
	}
}

func machineJSON(i int) string {
	disks, volumes := make([]string, 12), make([]string, 12)
	for d := range disks {
		disks[d] = fmt.Sprintf(`{"name":"disk%d","bootOrder":%d,"disk":{"bus":"virtio"},"cache":"none","serial":"WD-%08d-%d"}`, d, d+1, i, d)
		volumes[d] = fmt.Sprintf(`{"name":"disk%d","persistentVolumeClaim":{"claimName":"web-%d-disk%d","readOnly":false}}`, d, i, d)
	}
	return fmt.Sprintf(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web-%05d","namespace":"team-%d","uid":"7f107e54-9d79-405e-bd6b-%012d",`+
		`"creationTimestamp":"2026-08-01T12:00:00Z","labels":{"app":"web-%d","tier":"t%d","kubevirt.io/nodeName":"node-%d"},"annotations":{"kubevirt.io/latest-observed-api-version":"v1"}},`+
		`"spec":{"evictionStrategy":"LiveMigrateIfPossible","terminationGracePeriodSeconds":30,"domain":{"cpu":{"cores":2,"sockets":1,"threads":1,"model":"host-model"},"memory":{"guest":"2Gi"},`+
		`"machine":{"type":"q35"},"devices":{"disks":[%s],"interfaces":[{"name":"default","masquerade":{},"macAddress":"02:00:00:00:00:01","model":"virtio"}],"rng":{}},"features":{"acpi":{"enabled":true}},`+
		`"firmware":{"uuid":"29a40a00-5a03-58cd-9ae2-d55b1d312b2a"}},"networks":[{"name":"default","pod":{}}],"volumes":[%s]},`+
		`"status":{"phase":"Running","nodeName":"node-%d","conditions":[{"type":"Ready","status":"True","lastProbeTime":null,"lastTransitionTime":"2026-08-01T12:00:00Z"}],`+
		`"phaseTransitionTimestamps":[{"phase":"Pending","phaseTransitionTimestamp":"2026-08-01T12:00:00Z"},{"phase":"Running","phaseTransitionTimestamp":"2026-08-01T12:01:00Z"}],`+
		`"interfaces":[{"name":"default","mac":"02:00:00:00:00:01","ipAddress":"192.0.2.10","ipAddresses":["192.0.2.10","2001:db8::10"]}]}}`,
		i, i%10, i, i%100, i%3, i%50, strings.Join(disks, ","), strings.Join(volumes, ","), i%50)
}

func asItIs(_ *testing.B, json string) string { return json }

func asYAML(b *testing.B, json string) string {
	var tree map[string]any
	require.NoError(b, yaml.Unmarshal([]byte(json), &tree))
	text, err := yaml.Marshal(tree)
	require.NoError(b, err)
	return string(text)
}
