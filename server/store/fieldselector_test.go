package store_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/store"
)

func TestFieldSelectorMatches(t *testing.T) {
	keys := []store.Key{{Namespace: "prod", Name: "db"}, {Namespace: "prod", Name: "web"}, {Namespace: "test", Name: "a,b=c\\"}, {Namespace: "test", Name: "web"}}
	for selector, want := range map[string]string{
		"":                         "prod/db prod/web test/a,b=c\\ test/web",
		"=":                        "prod/db prod/web test/a,b=c\\ test/web",
		"!=":                       "prod/db prod/web test/a,b=c\\ test/web",
		",,":                       "prod/db prod/web test/a,b=c\\ test/web",
		"metadata.name=web":        "prod/web test/web",
		"metadata.name==web":       "prod/web test/web",
		"metadata.name!=web":       "prod/db test/a,b=c\\",
		"metadata.name=":           "",
		"metadata.name= web":       "",
		"metadata.name=Not/Valid":  "",
		"metadata.namespace=prod":  "prod/db prod/web",
		"metadata.namespace!=prod": "test/a,b=c\\ test/web",
		"metadata.name=web,,":      "prod/web test/web",
		`metadata.name=a\,b\=c\\`:  "test/a,b=c\\",
	} {
		parsed, err := store.ParseFieldSelector(selector)
		require.NoError(t, err, "%q", selector)
		var got []string
		for _, key := range keys {
			if parsed.Matches(&store.Object{Key: key}) {
				got = append(got, key.String())
			}
		}
		assert.Equal(t, want, strings.Join(got, " "), "%q", selector)
		assert.Equal(t, !strings.Contains(selector, "metadata"), parsed.Empty(), "%q", selector)
	}
}

// The messages of a real API server, k8s.io/apimachinery v0.37.2.
func TestFieldSelectorErrors(t *testing.T) {
	for selector, want := range map[string]string{
		"status.phase=Running":                     "field label not supported: status.phase",
		"metadata.name=vm2,status.phase=Running":   "field label not supported: status.phase",
		"status.phase=Running,spec.nodeName=x":     "field label not supported: spec.nodeName",
		"metadata.labels.app!=web":                 "field label not supported: metadata.labels.app",
		" metadata.name=a":                         "field label not supported:  metadata.name",
		"=x":                                       "field label not supported: ",
		"metadata.name":                            "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
		"metadata.name in (vm1)":                   "invalid selector: 'metadata.name in (vm1)'; can't understand 'metadata.name in (vm1)'",
		"status.phase=Running,metadata.name":       "invalid selector: 'status.phase=Running,metadata.name'; can't understand 'metadata.name'",
		`metadata.name=a\`:                         `invalid field selector: invalid escape sequence: \`,
		`metadata.name=a\b`:                        `invalid field selector: invalid escape sequence: \b`,
		"metadata.name===a":                        "invalid field selector: unescaped character in value: 61",
		`metadata.name=a\,metadata.namespace=prod`: "invalid field selector: unescaped character in value: 61",
	} {
		_, err := store.ParseFieldSelector(selector)
		assert.EqualError(t, err, want, "%q", selector)
	}
}

func TestFieldSelectorExact(t *testing.T) {
	type exact struct {
		name        string
		hasName     bool
		namespace   string
		isNamespace bool
	}
	for selector, want := range map[string]exact{
		"":                                    {},
		"metadata.name!=web":                  {},
		"metadata.name=web":                   {name: "web", hasName: true},
		"metadata.name=":                      {hasName: true},
		"metadata.name!=a,metadata.name==web": {name: "web", hasName: true},
		"metadata.name=web,metadata.name=db":  {name: "db", hasName: true},
		"metadata.namespace=prod":             {namespace: "prod", isNamespace: true},
		`metadata.name=a\,b,metadata.namespace==prod`: {name: "a,b", hasName: true, namespace: "prod", isNamespace: true},
	} {
		parsed, err := store.ParseFieldSelector(selector)
		require.NoError(t, err)
		var got exact
		got.name, got.hasName = parsed.Name()
		got.namespace, got.isNamespace = parsed.Namespace()
		assert.Equal(t, want, got, "%q", selector)
	}
}

func FuzzParseFieldSelector(f *testing.F) {
	for _, s := range []string{
		"", "=", "metadata.name=web", "metadata.name==web,metadata.namespace!=prod", `metadata.name=a\,b\=c\\`, "metadata.name", "metadata.name===",
		`metadata.name=a\`, "metadata.name=\xff\\,", "status.phase=Running", ",,",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		parsed, err := store.ParseFieldSelector(s)
		if err != nil {
			return
		}
		again, err := store.ParseFieldSelector(parsed.String())
		require.NoError(t, err, "%q", parsed)
		name, _ := parsed.Name()
		namespace, _ := parsed.Namespace()
		for _, key := range []store.Key{{Namespace: namespace, Name: name}, {Namespace: "n", Name: name}, {Namespace: namespace, Name: "m"}} {
			require.Equal(t, parsed.Matches(&store.Object{Key: key}), again.Matches(&store.Object{Key: key}), "%q against %q on %q", parsed, again, key)
		}
		require.Equal(t, parsed.Empty(), again.Empty())
	})
}
