package contract

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// maxText bounds, in bytes, what reports repeat of a target's own text.
const maxText = 300

// redactor keeps tokens, and text that would disturb a terminal, out of reports.
type redactor struct {
	target Target
	tokens *secrets
}

func newRedactor(t Target) *redactor {
	var names []secretName
	for _, secret := range []secretName{{t.Token, "$TOKEN"}, {t.ForbiddenToken, "$FORBIDDEN_TOKEN"}} {
		if secret.text == "" {
			continue
		}
		for _, form := range []string{
			secret.text,
			url.QueryEscape(secret.text),
			base64.StdEncoding.EncodeToString([]byte(secret.text)), // behind "token:", six bytes, as well
			base64.RawURLEncoding.EncodeToString([]byte(secret.text)),
			// Most of the token is as bad as all of it.
			inHeader.otherCase(secret.text), inHeader.cut(secret.text),
		} {
			names = append(names, secretName{form, secret.name})
		}
	}
	return &redactor{target: t, tokens: newSecrets(names)}
}

// clean returns text of a target as reports may show it: on one line, printable,
// not too long and without tokens.
func (r *redactor) clean(text string) string {
	text = r.tokens.Replace(text)
	text = printable(text)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + ellipsis
	}
	return text
}

func printable(text string) string { return strings.Map(visible, text) }

// visible is the character to show for c: marks that a terminal would obey are not
// shown.
func visible(c rune) rune {
	if !unicode.IsPrint(c) {
		return unicode.ReplacementChar
	}
	return c
}

// finding returns a finding whose texts are clean.
func (r *redactor) finding(f Finding) Finding {
	f.Message, f.Expected, f.Got = r.clean(f.Message), r.clean(f.Expected), r.clean(f.Got)
	for i, o := range f.Objects {
		f.Objects[i] = r.clean(o)
	}
	for i, d := range f.Diff {
		f.Diff[i].Text = r.clean(d.Text)
	}
	return f
}

// curl returns a request as a command line.
func (r *redactor) curl(req request, at string) string {
	var b strings.Builder
	b.WriteString("curl -sS ")
	switch req.method {
	case "", http.MethodGet:
		b.WriteString("-i ")
	case http.MethodHead:
		b.WriteString("-I ")
	default:
		b.WriteString("-i -X " + req.method + " ")
	}
	if strings.Contains(req.path, "/.") || strings.Contains(req.path, "/%2e") {
		b.WriteString("--path-as-is ")
	}
	if header := req.credential.shell(r.target); header != "" {
		b.WriteString(`-H "Authorization: ` + header + `" `)
	}
	if req.contentType != "" {
		b.WriteString(quoted("-H", "Content-Type: "+req.contentType))
	}
	if len(req.body) > 0 {
		b.WriteString(quoted("-d", r.body(req.body)))
	}
	target := strings.TrimSpace(quoted("", r.tokens.Replace(at)))
	b.WriteString(strings.ReplaceAll(target, "$TOKEN", `'"$TOKEN"'`))
	return b.String()
}

// quoted is an argument of a command line in single quotes, behind its flag.
func quoted(flag, text string) string {
	return flag + " '" + strings.ReplaceAll(text, "'", `'\''`) + "' "
}
