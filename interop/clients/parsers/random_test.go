package parsers_test

import (
	"math/rand/v2"
	"strings"
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// oneIn is true once in n times.
func oneIn(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// usually picks a good one and now and then a bad one.
func usually(r *rand.Rand, good, bad []string) string {
	if oneIn(r, 40) {
		return pick(r, bad)
	}
	return pick(r, good)
}

// mutate breaks a text in a few places: bytes go, come or change.
func mutate(r *rand.Rand, text string, tokens []string) string {
	for range 1 + r.IntN(3) {
		at := r.IntN(len(text) + 1)
		rest := text[at:]
		switch {
		case rest == "" || oneIn(r, 3):
			text = text[:at] + pick(r, tokens) + rest
		case oneIn(r, 2):
			text = text[:at] + rest[1:]
		default:
			text = text[:at] + string([]byte{byte(r.IntN(256))}) + rest[1:]
		}
	}
	return text
}

// tokenSoup throws words together.
func tokenSoup(r *rand.Rand, words ...[]string) string {
	var soup strings.Builder
	for range r.IntN(10) {
		soup.WriteString(pick(r, pick(r, words)))
	}
	return soup.String()
}
