package contract

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
)

// The page is one file: its style and script stand in it, and its policy allows
// these two by their digests and nothing else, so that no text of a target can
// load or run anything, whatever it is.
var (
	//go:embed html/page.html
	pageText string
	//go:embed html/page.css
	pageStyle string
	//go:embed html/page.js
	pageScript string

	pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
		"legible": legible,
		"slug":    Outcome.slug,
		"times":   func(n int) string { return number(n, "time") },
	}).Parse(pageText))
	pagePolicy = fmt.Sprintf("default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'",
		digest(pageStyle), digest(pageScript))
)

// digest is a text as a content security policy names it.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// legible is text as a page shows it: of the characters that cannot be seen only
// line breaks and tabs, so that none reorders or hides what stands around it.
func legible(text string) string {
	return strings.Map(func(c rune) rune {
		if c == '\n' || c == '\t' {
			return c
		}
		return visible(c)
	}, text)
}

// slug is the outcome in one word.
func (o Outcome) slug() string { return strings.ReplaceAll(string(o), " ", "-") }

// WriteHTML writes the report as one page that needs nothing else: no network, and
// no script to be read. It shows a picture of all checks, and of those that found
// something what to expect, what came instead, and how to see it again. Of one
// check it shows the first 100 findings, of one body the first 4 KiB;
// [Report.WriteJSON] has them all.
func (r *Report) WriteHTML(w io.Writer) error {
	return pageTemplate.Execute(w, r.page())
}
