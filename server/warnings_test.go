package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Finalizers that could be anybody's are told of when they come, by whichever write,
// and not again.
func TestFinalizersWithoutDomain(t *testing.T) {
	f := start(t)
	write := func(method, path, media, body string) []string {
		t.Helper()
		res := f.send(method, path, body, "Content-Type: "+media)
		assert.Less(t, res.StatusCode, 300, "%s", res.body)
		return res.Header.Values("Warning")
	}
	warning := func(name string) string {
		return `299 - "metadata.finalizers: \"` + name + `\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"`
	}
	const merge = "application/merge-patch+json"
	object := func(finalizers string) string {
		return strings.Replace(string(machine("vms/a")), `"labels":{}`, `"labels":{},"finalizers":[`+finalizers+`]`, 1)
	}
	assert.Equal(t, []string{warning("bar"), warning("foo")},
		write(http.MethodPost, inVMs, "application/json", object(`"foo","bar","foregroundDeletion","kubernetes","example.com/x"`)))
	assert.Empty(t, write(http.MethodPatch, inVMs+"/a", merge, `{"metadata":{"labels":{"a":"b"}}}`))
	assert.Equal(t, []string{warning("zoo")}, write(http.MethodPatch, inVMs+"/a", merge, `{"metadata":{"finalizers":["zoo","foo"]}}`))
	whole := strings.Replace(object(`"zoo","foo","new"`), `"name":"a"`, `"name":"a","resourceVersion":"`+f.revision()+`"`, 1)
	assert.Equal(t, []string{warning("new")}, write(http.MethodPut, inVMs+"/a", "application/json", whole))
	assert.Equal(t, []string{warning("moo")}, write(http.MethodPatch, inVMs+"/b?fieldManager=me", "application/apply-patch+yaml",
		strings.Replace(object(`"moo"`), `"name":"a"`, `"name":"b"`, 1)))
}

// Fields that nobody knows are told of in a fixed order.
func TestOrderOfUnknownFields(t *testing.T) {
	f := start(t)
	body := strings.Replace(string(machine("vms/a")), `"labels":{}`, `"labels":{},"zz":1,"aa":1`, 1)
	body = strings.Replace(body, `"spec":{`, `"zeta":1,"alpha":1,"spec":{"bogus":1,"bogus":2,"a":1,`, 1)
	res := f.send(http.MethodPost, inVMs+"?dryRun=All", body)
	assert.Equal(t, http.StatusCreated, res.StatusCode, "%s", res.body)
	var told []string
	for _, w := range res.Header.Values("Warning") {
		told = append(told, strings.NewReplacer(`299 - "`, "", `\"`, "", `"`, "", " field ", ":").Replace(w))
	}
	assert.Equal(t, "duplicate:spec.bogus unknown:metadata.aa unknown:metadata.zz unknown:alpha unknown:spec.a unknown:spec.bogus unknown:zeta", strings.Join(told, " "))
}
