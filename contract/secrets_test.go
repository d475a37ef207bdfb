package contract_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// A target that shows the token in an object has it in no report: in none of the
// forms in which tokens are sent, and cut short neither.
func TestTokensInBodies(t *testing.T) {
	const token = "good-token-with-?-and-~-in-it-8f14e45f-which-is-longer-than-any-value-that-a-report-shows"
	for name, shown := range map[string]string{
		"cut short":         "xx" + token,
		"standard base64":   base64.StdEncoding.EncodeToString([]byte(token)),
		"base64 for URLs":   base64.RawURLEncoding.EncodeToString([]byte(token)),
		"basic credentials": base64.StdEncoding.EncodeToString([]byte("token:" + token)),
	} {
		t.Run(name, func(t *testing.T) {
			s := mutant.New(mutant.Fleet())
			s.Authenticate = func(string) int { return 0 }
			s.Objects[3] = s.Objects[3].Edited(`"LiveMigrate"`, `"`+shown+`"`)
			hs := httptest.NewServer(s)
			t.Cleanup(hs.Close)
			report, err := contract.Run(t.Context(), contract.Target{URL: hs.URL, Token: token}, contract.WithSkip("auth"))
			require.NoError(t, err)
			assert.Contains(t, with(report, contract.Fail), "schema.object")
			var har, json, html bytes.Buffer
			require.NoError(t, report.WriteHAR(&har))
			require.NoError(t, report.WriteJSON(&json))
			require.NoError(t, report.WriteHTML(&html))
			for form, out := range map[string]string{"text": text(t, report), "har": har.String(), "json": json.String(), "html": html.String()} {
				assert.Contains(t, out, "TOKEN", form)
				assert.NotContains(t, out, strings.TrimPrefix(shown, "xx")[:20], form)
			}
		})
	}
}

// A header may be a credential by its name, and have one in a URL.
func TestSecretsInHeaders(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	everywhere("vm03", `"cores":2`, `"cores":0`)(s)
	headers := s.Headers
	s.Headers = func(h http.Header, r *http.Request, code int) {
		headers(h, r, code)
		h.Set("X-Auth-Token", "hunter2-of-a-header")
		h.Set("X-Session", "hunter2-of-a-session")
		h.Set("Location", "http://x/path?access_token=hunter2-of-a-query&page=3")
		h.Set("X-Shown", "what/is?no=secret")
	}
	report := run(t, targetOf(t, s))
	var har, json, html bytes.Buffer
	require.NoError(t, report.WriteHAR(&har))
	require.NoError(t, report.WriteJSON(&json))
	require.NoError(t, report.WriteHTML(&html))
	for form, out := range map[string]string{"har": har.String(), "json": json.String(), "html": html.String()} {
		assert.NotContains(t, out, "hunter2", form)
		assert.Contains(t, out, "what/is?no=secret", form)
		assert.Contains(t, out, "page=3", form)
	}
}
