package openapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

// machine is how a Go program reads the declared fields whose types can go wrong.
type machine struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   *struct {
		Name        string            `json:"name"`
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
		Generation  int64             `json:"generation"`
	} `json:"metadata"`
	Spec *struct {
		Domain struct {
			CPU struct {
				Cores int `json:"cores"`
			} `json:"cpu"`
			Devices struct {
				Disks []struct {
					Name      string `json:"name"`
					BootOrder int    `json:"bootOrder"`
				} `json:"disks"`
			} `json:"devices"`
		} `json:"domain"`
		TerminationGracePeriodSeconds int64 `json:"terminationGracePeriodSeconds"`
	} `json:"spec"`
	Status *struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

// What passes is one JSON value of valid UTF-8 that encoding/json reads into Go
// types with no error and with nothing lost on the way.
func FuzzValidateObject(f *testing.F) {
	for _, data := range corpusJSON(f) {
		f.Add(data)
	}
	for _, text := range []string{
		"", "{}", "[]", "null", "1", `"a"`, vmi(), vmi() + vmi(), "\xEF\xBB\xBF" + vmi(), vmi(`"status":{"phase":"Running","phase":"Failed"}`),
		vmi(`"status":{"Phase":"x"}`), vmi(`"spec":{"domain":{"cpu":{"cores":1.0}}}`), vmi(`"spec":{"domain":{"cpu":{"cores":1e400}}}`),
		vmi("\"spec\":{\"hostname\":\"\xff\\ud800\"}"), `{"metadata":{"labels":{"a":1}}}`, `{"metadata":null}`, `{"spec":[[[[]]]]}`,
		vmi(`"metadata":{"name":"b","creationTimestamp":"2026-02-30T00:00:00Z"}`),
	} {
		f.Add([]byte(text))
	}
	var documents []*openapi.Document
	for _, p := range openapi.Profiles() {
		documents = append(documents, load(f, p))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		for _, d := range documents {
			issues := d.ValidateObject(data)
			require.Equal(t, issues, d.ValidateObject(data))
			for _, i := range issues {
				require.NotEmpty(t, i.Rule)
				require.NotEmpty(t, i.Message)
				require.LessOrEqual(t, utf8.RuneCountInString(i.Value), 80)
				require.True(t, utf8.ValidString(i.Value))
				require.True(t, i.Pointer == "" || i.Pointer[0] == '/')
			}
			if len(issues) > 0 {
				continue
			}
			require.True(t, utf8.Valid(data))
			dec := json.NewDecoder(bytes.NewReader(data))
			var m machine
			require.NoError(t, dec.Decode(&m))
			_, err := dec.Token()
			require.ErrorIs(t, err, io.EOF)
		}
		// The kubevirt profile only widens.
		if len(documents[1].ValidateObject(data)) == 0 {
			require.Empty(t, documents[2].ValidateObject(data))
		}
		require.Equal(t, before, data)
	})
}

func FuzzValidateEvent(f *testing.F) {
	for _, body := range bodies {
		f.Add([]byte(body))
	}
	f.Add([]byte(`{"type":"ADDED","type":"ERROR","object":{}}`))
	f.Add([]byte(`{"type":"BOOKMARK","object":null}`))
	d := load(f, openapi.ProfileKubeVirt)
	f.Fuzz(func(t *testing.T, data []byte) {
		var valid []openapi.Form
		for form := openapi.FormItem; form <= openapi.FormWatchEventPartialObject; form++ {
			if len(d.ValidateResponse(openapi.Response{Form: form, Status: 200, Body: data})) == 0 {
				valid = append(valid, form)
			}
		}
		// No answer has two forms; an ERROR is the same in every watch.
		if len(valid) > 1 {
			require.GreaterOrEqual(t, valid[0], openapi.FormWatchEvent)
		}
	})
}
