package openapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

func TestProfiles(t *testing.T) {
	digests := make(map[string]bool)
	for _, p := range openapi.Profiles() {
		parsed, err := openapi.ParseProfile(string(p))
		require.NoError(t, err)
		assert.Equal(t, p, parsed)
		d := load(t, p)
		assert.Equal(t, p, d.Profile())
		assert.Regexp(t, `^sha256:[0-9a-f]{64}$`, d.Digest())
		digests[d.Digest()] = true
		again, err := openapi.Load(p)
		require.NoError(t, err)
		assert.Same(t, d, again)
	}
	assert.Len(t, digests, 3)

	_, err := openapi.ParseProfile("KubeVirt")
	assert.EqualError(t, err, `no profile "KubeVirt": want one of document, kubernetes, kubevirt`)
	_, err = openapi.Load("")
	assert.EqualError(t, err, `no profile "": want one of document, kubernetes, kubevirt`)
}

func TestSourceIsACopy(t *testing.T) {
	text := openapi.Source(openapi.ProfileDocument)
	require.NotEmpty(t, text)
	clear(text)
	assert.NotEqual(t, text, openapi.Source(openapi.ProfileDocument))
	assert.Nil(t, openapi.Source("none"))
}

func TestRulesAreListed(t *testing.T) {
	names := make(map[string]bool)
	for _, r := range openapi.Rules() {
		assert.NotEmpty(t, r.Description)
		assert.False(t, names[r.Name], "%s is listed twice", r.Name)
		names[r.Name] = true
	}
	assert.True(t, names[openapi.RuleJSONDuplicateKey])
}

func TestFormsHaveNames(t *testing.T) {
	names := make(map[string]bool)
	for f := openapi.FormDeclared; f <= openapi.FormWatchEventPartialObject; f++ {
		names[f.String()] = true
	}
	assert.Len(t, names, 10)
	assert.False(t, names["unknown"])
	assert.Equal(t, "unknown", openapi.Form(-1).String())
	assert.Equal(t, "unknown", openapi.Form(10).String())
}
