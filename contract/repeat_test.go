package contract_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

var (
	uid             = regexp.MustCompile(`"uid":"00000000-0000`)
	resourceVersion = regexp.MustCompile(`"resourceVersion":"(\d+)"`)
)

// An object that is made anew has another uid, and may have an older
// creationTimestamp: clocks differ.
func TestMadeAnew(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	n := 0
	s.Before = func(s *mutant.Server) {
		if n++; n%5 != 0 {
			return
		}
		o := mutant.Machine(1, "prod", "vm00", s.Objects[0].Labels)
		o.Body = uid.ReplaceAllString(o.Body, fmt.Sprintf(`"uid":"%08d-0000`, n))
		o.Body = resourceVersion.ReplaceAllString(o.Body, fmt.Sprintf(`"resourceVersion":"%d"`, 5000+n))
		o.Body = strings.Replace(o.Body, "2026-05-01T08", fmt.Sprintf("2026-05-01T%02d", 23-n%20), 1)
		s.Objects[0] = o
	}
	report := run(t, targetOf(t, s))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
}

// What is no number is compared with nothing, and a server without uids or
// resourceVersions is not blamed for it.
func TestRepeatsWithoutNumbers(t *testing.T) {
	for name, change := range map[string]func(n int, body string) string{
		"no uid":             func(n int, b string) string { return uid.ReplaceAllString(b, `"own":"x`) },
		"no resourceVersion": func(n int, b string) string { return resourceVersion.ReplaceAllString(b, `"own":"x"`) },
		"another zone": func(n int, b string) string {
			return strings.Replace(b, "2026-05-01T08:00:", []string{"2026-05-01T08:00:", "2026-05-01T10:00:"}[0], 1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := mutant.New(mutant.Fleet())
			n := 0
			s.InList = func(o mutant.Object) string { n++; return change(n, o.Body) }
			s.InGet = s.InList
			report := run(t, targetOf(t, s), contract.WithOnly("consistency"))
			assert.Empty(t, with(report, contract.Fail), text(t, report))
		})
	}
}

// The message says how much was compared, whichever checks asked.
func TestRepeatsOfTheWholeRun(t *testing.T) {
	target := targetOf(t, mutant.New(mutant.Fleet()))
	alone := result(t, run(t, target, contract.WithOnly("consistency.repeat")), "consistency.repeat")
	assert.Equal(t, contract.Pass, alone.Outcome)
	assert.Equal(t, "14 objects compared with an earlier answer", alone.Message, "a list of 12, and 2 objects got twice")
	assert.Equal(t, 5, alone.Requests)
	whole := result(t, run(t, target), "consistency.repeat")
	assert.Greater(t, len(whole.Message), 0)
	assert.NotEqual(t, alone.Message, whole.Message)
}

// Headers of HEAD that contradict GET mislead, and are warned about.
func TestHeadHeaders(t *testing.T) {
	for name, c := range map[string]struct {
		header func(http.Header)
		want   string
	}{
		"another type":   {func(h http.Header) { h.Set("Content-Type", "text/html") }, "HEAD is answered with another Content-Type than GET"},
		"another length": {func(h http.Header) { h.Set("Content-Length", "7") }, "the Content-Length of HEAD is not the length of the body of GET"},
		"length 0":       {func(h http.Header) { h.Set("Content-Length", "0") }, "the Content-Length of HEAD is not the length of the body of GET"},
		"no type":        {func(h http.Header) { h["Content-Type"] = nil }, ""},
		"a charset":      {func(h http.Header) { h.Set("Content-Type", "application/json; charset=utf-8") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := mutant.New(mutant.Fleet())
			send := s.Send
			s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
				if r.Method == http.MethodHead {
					w.Header().Set("Content-Type", "application/json")
					c.header(w.Header())
					w.WriteHeader(code)
					return
				}
				send(w, r, code, body)
			}
			report := run(t, targetOf(t, s), contract.WithOnly("consistency.head"))
			assert.Empty(t, with(report, contract.Warning), text(t, report))
			if c.want == "" {
				assert.Empty(t, with(report, contract.Fail), text(t, report))
				return
			}
			assert.Equal(t, []string{"consistency.head"}, with(report, contract.Fail))
			assert.Contains(t, text(t, report), c.want)
		})
	}
}

// The right length is right, and so is one of an object that changes.
func TestHeadLength(t *testing.T) {
	for _, moving := range []bool{false, true} {
		s := mutant.New(mutant.Fleet())
		n := 0
		s.InGet = func(o mutant.Object) string {
			if n++; moving {
				return strings.Replace(o.Body, `"spec":{`, `"spec":{"own":"`+strings.Repeat("x", n%3)+`",`, 1)
			}
			return o.Body
		}
		send := s.Send
		s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			send(w, r, code, body)
		}
		report := run(t, targetOf(t, s), contract.WithOnly("consistency.head"))
		assert.Equal(t, []string{"consistency.head"}, with(report, contract.Pass), text(t, report))
	}
}
