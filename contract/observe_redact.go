package contract

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

// said are the headers of a client that reports show: they change the answer and
// are no secret. Any other may be a credential that nobody knows of.
var said = []string{"Accept", "Accept-Encoding", "Authorization", "Content-Type", "User-Agent"}

// redactorFor returns what keeps known secrets and the credential of a client out of reports, and
// the headers that they show.
func redactorFor(ob Observation, known []string) (*redactor, http.Header) {
	var texts []string
	for _, secret := range known {
		texts = append(texts, secret, base64.StdEncoding.EncodeToString([]byte(secret)))
	}
	for _, value := range ob.RequestHeader.Values("Authorization") {
		texts = append(texts, secretsIn(value)...)
	}
	for name, values := range ob.URL.Query() {
		if secretParameter(name) {
			texts = append(texts, values...)
		}
	}
	// The longest first, so that none is left of which another is a part.
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
	var names []secretName
	for _, secret := range texts {
		if len(secret) >= shortestSecret {
			names = append(names, secretName{secret, "$TOKEN"})
		}
	}
	shown := make(http.Header)
	for _, name := range said {
		if values := ob.RequestHeader.Values(name); len(values) > 0 {
			shown[name] = values
		}
	}
	return &redactor{tokens: newSecrets(names)}, shown
}

// shortestSecret is how long a credential must be to be looked for in answers:
// one of a letter or two stands in every text.
const shortestSecret = 4

// secretsIn are the credential of a header Authorization and what stands in it.
func secretsIn(authorization string) []string {
	_, credential, ok := strings.Cut(authorization, " ")
	if !ok {
		credential = authorization
	}
	credential = strings.TrimSpace(credential)
	secrets := []string{credential, base64.StdEncoding.EncodeToString([]byte(credential))}
	if plain, err := base64.StdEncoding.DecodeString(credential); err == nil {
		secrets = append(secrets, string(plain))
		if _, password, ok := strings.Cut(string(plain), ":"); ok {
			secrets = append(secrets, password)
		}
	}
	return secrets
}

// secretParameter reports whether a parameter of a query may carry a credential.
func secretParameter(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"token", "secret", "passw", "auth", "key", "credential", "signature"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// cleanURI is the path and query of a request without values that may be credentials.
func cleanURI(u *url.URL) string {
	query := u.RawQuery
	if values := u.Query(); hasSecret(values) {
		for name := range values {
			if secretParameter(name) {
				values[name] = []string{openapi.Redacted}
			}
		}
		query = values.Encode()
	}
	if query != "" {
		query = "?" + query
	}
	return u.EscapedPath() + query
}

// withoutSecrets is a text without the values of parameters that may be credentials,
// where it is a URL.
func withoutSecrets(text string) string {
	u, err := url.Parse(text)
	if err != nil || !hasSecret(u.Query()) {
		return text
	}
	before, _, _ := strings.Cut(text, "?")
	_, query, _ := strings.Cut(cleanURI(u), "?")
	return before + "?" + query
}

// observedCurl is the request as a command line.
func observedCurl(r *redactor, ob Observation, target string) string {
	var b strings.Builder
	switch {
	case ob.Method == http.MethodHead:
		b.WriteString("curl -sS -I ")
	default:
		b.WriteString("curl -sS -i ")
	}
	if scheme, _, ok := strings.Cut(ob.RequestHeader.Get("Authorization"), " "); ok {
		b.WriteString(`-H "Authorization: ` + printable(plainScheme(scheme)) + ` $TOKEN" `)
	}
	if accept := strings.Join(ob.RequestHeader.Values("Accept"), ","); accept != "" && accept != "*/*" && accept != "application/json" {
		b.WriteString(quoted("-H", "Accept: "+r.clean(accept)))
	}
	b.WriteString(strings.TrimSpace(quoted("", printable(r.tokens.Replace(target)))))
	return b.String()
}

// plainScheme is a scheme as it may stand between double quotes in a shell.
func plainScheme(scheme string) string {
	if strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return "Bearer"
	}
	return scheme
}

func hasSecret(query url.Values) bool {
	for name := range query {
		if secretParameter(name) {
			return true
		}
	}
	return false
}
