package server_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	loggedRequest = regexp.MustCompile(`(GET|DELETE) https://127\.0\.0\.1:26443(\S+)$`)
	loggedAccept  = regexp.MustCompile(` {4}Accept: (.+)$`)
	loggedStatus  = regexp.MustCompile(`Response Status: (\d+)`)
)

// readCommands reads a file of kubectl's logs: what it asked, and with which status it
// was answered.
func readCommands(t *testing.T, name string) []*recording {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(recordedDir, name+".txt"))
	require.NoError(t, err)
	var all []*recording
	var command string
	var r *recording
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if title, ok := strings.CutPrefix(line, "################ "); ok {
			command = title
		} else if m := loggedRequest.FindStringSubmatch(line); m != nil {
			r = &recording{
				id: name + "/" + strconv.Itoa(len(all)+1), title: command, method: m[1], target: m[2], header: http.Header{}, bare: true,
				headers: []string{"User-Agent: kubectl/v1.32.0", "Authorization: Bearer " + user(command) + "token"},
				stream:  strings.Contains(m[2], "watch=true"),
			}
			all = append(all, r)
		} else if m := loggedAccept.FindStringSubmatch(line); m != nil {
			r.headers = append(r.headers, "Accept: "+m[1])
		} else if m := loggedStatus.FindStringSubmatch(line); m != nil {
			r.status = number(t, m[1])
		}
	}
	for _, r := range all {
		require.NotZero(t, r.status, "%s: no answer", r)
	}
	return all
}

func user(command string) string {
	if strings.Contains(command, "--context viewer") {
		return "viewer"
	}
	return "admin"
}

var (
	loggedRevision = regexp.MustCompile(`resourceVersion=[1-9]\d*`)
	loggedContinue = regexp.MustCompile(`continue=([^&]+)`)
)

// current is what kubectl asked with the revisions that there are now: it was recorded
// on another day, with other machines.
func (p *replay) current(target string) string {
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	require.NoError(p.t, json.Unmarshal(p.fetch(recordedMachines+"?limit=1"), &list))
	target = loggedRevision.ReplaceAllLiteralString(target, "resourceVersion="+list.Metadata.ResourceVersion)
	return loggedContinue.ReplaceAllStringFunc(target, func(s string) string {
		text, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(s, "continue="))
		require.NoError(p.t, err)
		var token map[string]any
		require.NoError(p.t, json.Unmarshal(text, &token))
		token["rv"] = json.Number(list.Metadata.ResourceVersion)
		text, err = json.Marshal(token)
		require.NoError(p.t, err)
		return "continue=" + base64.RawURLEncoding.EncodeToString(text)
	})
}
