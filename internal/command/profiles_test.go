package command_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

func TestProfiles(t *testing.T) {
	got := vmikit(t, "profiles")
	assert.Equal(t, 0, got.code)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, lines, len(openapi.Profiles()))
	for i, p := range openapi.Profiles() {
		assert.Regexp(t, "^"+string(p)+"  +[a-zA-Z]", lines[i])
	}

	var list []struct{ Name, Description string }
	require.NoError(t, json.Unmarshal([]byte(vmikit(t, "profiles", "-o", "json").stdout), &list))
	require.Len(t, list, len(openapi.Profiles()))
	for _, p := range list {
		assert.NotEmpty(t, p.Description, p.Name)
	}
}

func TestProfilesShow(t *testing.T) {
	for _, p := range openapi.Profiles() {
		got := vmikit(t, "profiles", "show", string(p))
		assert.Equal(t, outcome{0, string(openapi.Source(p)), ""}, got)
	}
}

func TestProfilesDiff(t *testing.T) {
	changes, err := openapi.Diff(openapi.ProfileDocument, openapi.ProfileKubeVirt)
	require.NoError(t, err)
	got := vmikit(t, "profiles", "diff")
	assert.Equal(t, 0, got.code)
	assert.Equal(t, got, vmikit(t, "profiles", "diff", "document", "kubevirt"))
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	for _, c := range changes {
		assert.Equal(t, []string{string(c.Effect), c.Pointer}, strings.Fields(lines[0]))
		lines = lines[1:]
		if c.Keyword != "" {
			assert.Contains(t, lines[0], "  "+c.Keyword+": ")
			lines = lines[1:]
		}
	}
	assert.Len(t, lines, 2, "an empty line and the summary")

	got = vmikit(t, "profiles", "diff", "kubernetes", "kubevirt")
	assert.Contains(t, got.stdout, `/components/schemas/Interface/properties/model`)
	assert.Contains(t, got.stdout, `["virtio","e1000","e1000e","rtl8139","igb","ne2k_pci","pcnet"]`)
	assert.Regexp(t, `kubevirt against kubernetes: 0 additions, \d+ widenings, 0 narrowings, 0 other changes\n$`, got.stdout)

	assert.Equal(t, outcome{0, "kubevirt and kubevirt judge alike\n", ""}, vmikit(t, "profiles", "diff", "kubevirt", "kubevirt"))
	assert.Equal(t, outcome{0, "[]\n", ""}, vmikit(t, "profiles", "diff", "kubevirt", "kubevirt", "-o", "json"))

	var decoded []openapi.Change
	require.NoError(t, json.Unmarshal([]byte(vmikit(t, "profiles", "diff", "-o", "json").stdout), &decoded))
	assert.Equal(t, changes, decoded)
}

func TestProfilesRules(t *testing.T) {
	got := vmikit(t, "profiles", "rules")
	assert.Equal(t, 0, got.code)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	require.Len(t, lines, len(openapi.Rules()))
	for i, r := range openapi.Rules() {
		assert.Regexp(t, "^"+r.Name+"  +[a-z]", lines[i])
	}
	var list []openapi.Rule
	require.NoError(t, json.Unmarshal([]byte(vmikit(t, "profiles", "rules", "-o", "json").stdout), &list))
	assert.Equal(t, openapi.Rules(), list)
}

func TestServeCountsTheWidenings(t *testing.T) {
	changes, err := openapi.Diff(openapi.ProfileDocument, openapi.ProfileKubeVirt)
	require.NoError(t, err)
	n := 0
	for _, c := range changes {
		if c.Effect == openapi.EffectWidens {
			n++
		}
	}
	for _, c := range []struct{ line, profile string }{
		{fmt.Sprintf("profile kubevirt = the given document + %d widenings "+
			"(vmikit profiles diff lists them); --profile document enforces the file as given\n", n), "kubevirt"},
		{"profile document: the given document is enforced as it is\n", "document"},
		{"profile kubernetes = the given document + ", "kubernetes"},
	} {
		s := start(t, "--profile", c.profile)
		// It is told beside the first requests.
		assert.Eventually(t, func() bool { return strings.Contains(s.stderr(), c.line) }, 10*time.Second, time.Millisecond, c.profile)
	}
}
