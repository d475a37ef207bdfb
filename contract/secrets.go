package contract

import "strings"

// ellipsis marks where text was cut short.
const ellipsis = "…"

// secrets replaces text that no report may show.
type secrets struct {
	whole *strings.Replacer
	names []secretName
}

// secretName is a text and what is shown in its place.
type secretName struct{ text, name string }

func newSecrets(names []secretName) *secrets {
	var pairs []string
	for _, s := range names {
		pairs = append(pairs, s.text, s.name)
	}
	return &secrets{whole: strings.NewReplacer(pairs...), names: names}
}

// Replace replaces every secret in text, and the beginning of one where the text was
// cut short in the middle of it: of a long token that is most of it.
func (s *secrets) Replace(text string) string {
	text = s.whole.Replace(text)
	if !strings.Contains(text, ellipsis) {
		return text
	}
	parts := strings.Split(text, ellipsis)
	for i, part := range parts[:len(parts)-1] {
		parts[i] = s.withoutEnd(part)
	}
	return strings.Join(parts, ellipsis)
}

// withoutEnd replaces the beginning of a secret at the end of text.
func (s *secrets) withoutEnd(text string) string {
	for _, secret := range s.names {
		for n := min(len(secret.text)-1, len(text)); n >= shortestSecret; n-- {
			if rest, ok := strings.CutSuffix(text, secret.text[:n]); ok {
				return rest + secret.name
			}
		}
	}
	return text
}
