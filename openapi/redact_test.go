package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vmikit/vmikit/openapi"
)

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1.50,"b":[true,null,"x"]}`:                        `{"a":1.50,"b":[true,null,"x"]}`,
		`{ "a" : {} }`:                                          `{ "a" : {} }`,
		`{"userData" : "#cloud-config"}`:                        `{"userData":"[redacted]"}`,
		`{"volumes":[{"cloudInitNoCloud":{"userData":"x"}},1]}`: `{"volumes":[{"cloudInitNoCloud":"[redacted]"},1]}`,
		`{"note":"#cloud-config\npassword: x","n":1}`:           `{"note":"[redacted]","n":1}`,
		`{"password":{"a":[1,2]},"b":2}`:                        `{"password":"[redacted]","b":2}`,
		`{"u":"see https://u:pw@h/x"}`:                          `{"u":"[redacted]"}`,
		`{"a":1,"a":2}`:                                         `{"a":1,"a":2}`,
		`{"a":"b","c`:                                           `{"a":"b"…`,
		`{"a":[1,2`:                                             `{"a":[1,2…`,
		`{"a":"#cloud-config pass`:                              `{"a"…`,
		`{"a":1,"userData":"#cloud`:                             `{"a":1,"userData":"[redacted]"…`,
		`{"a":1}{"token":"x"}`:                                  `{"a":1}{"token":"[redacted]"}`,
		`{"a":1} userData: x`:                                   `{"a":1} [redacted]`,
		`<html>no</html>`:                                       `<html>no</html>`,
		"line\npassword: x\nmore":                               "line\n[redacted]\nmore",
		`{"annotations":{"kubevirt.io/ignitiondata":"{}"}}`:     `{"annotations":{"kubevirt.io/ignitiondata":"[redacted]"}}`,
		"a userData: secret\nmore secret":                       "a [redacted]",
		``:                                                      ``,
		"\ufeff{\"a\":1}":                                       "\ufeff{\"a\":1}",
		`{"kubectl.kubernetes.io/last-applied-configuration":"{\"}"}`: `{"kubectl.kubernetes.io/last-applied-configuration":"[redacted]"}`,
	} {
		assert.Equal(t, want, openapi.Redact([]byte(in)), in)
	}
}

// FuzzRedact holds that what is redacted is never more than it was, and that a
// JSON object keeps its form.
func FuzzRedact(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"userData":"s3cr3t"}]}`, `{"userData":"s3cr3t`, `userData s3cr3t`, "\ufeff[\"\xff\"]", `{"a":1}x`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		shown := openapi.Redact([]byte(body))
		if json.Valid([]byte(body)) && strings.HasPrefix(body, "{") {
			assert.True(t, json.Valid([]byte(shown)), shown)
		}
		assert.NotContains(t, openapi.Redact([]byte(`{"networkData":`+body+`}`)), "s3cr3t")
	})
}
