package contract_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
)

// Odd but right: nothing that these servers do breaks a rule.
var odd = map[string]func(*mutant.Server){
	// A page may be shorter than its limit, with or without a selector: continue tells
	// whether there is more.
	"pages of two": func(s *mutant.Server) {
		page := s.Page
		s.Page = func(items []mutant.Object, start, limit int) ([]mutant.Object, int) {
			if limit == 0 || limit > 2 {
				limit = 2
			}
			return page(items, start, limit)
		}
	},
	"no remainingItemCount": body(200, func(b string) string {
		return regexp.MustCompile(`,"remainingItemCount":\d+`).ReplaceAllString(b, "")
	}),
	"403 for anybody without a token": func(s *mutant.Server) {
		authenticate := s.Authenticate
		s.Authenticate = func(a string) int {
			if a == "" || !strings.HasPrefix(a, "Bearer ") {
				return http.StatusForbidden
			}
			return authenticate(a)
		}
	},
	"charset": func(s *mutant.Server) {
		s.Send = func(w http.ResponseWriter, _ *http.Request, code int, body string) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(code)
			w.Write([]byte(body))
		}
	},
	"chunked": func(s *mutant.Server) {
		s.Send = func(w http.ResponseWriter, _ *http.Request, code int, body string) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			for len(body) > 0 {
				n := min(100, len(body))
				w.Write([]byte(body[:n]))
				w.(http.Flusher).Flush()
				body = body[n:]
			}
		}
	},
	"gzip if accepted": func(s *mutant.Server) {
		send := s.Send
		s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") || r.Method == http.MethodHead {
				send(w, r, code, body)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(code)
			zw := gzip.NewWriter(w)
			zw.Write([]byte(body))
			zw.Close()
		}
	},
	"gzip always": func(s *mutant.Server) {
		s.Send = func(w http.ResponseWriter, r *http.Request, code int, body string) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(code)
			if r.Method != http.MethodHead {
				zw := gzip.NewWriter(w)
				zw.Write([]byte(body))
				zw.Close()
			}
		}
	},
	"keys with escapes": body(200, func(b string) string {
		return strings.NewReplacer(`"items"`, `"\u0069tems"`, `"kind"`, `"\u006bind"`).Replace(b)
	}),
	"indented": body(200, func(b string) string {
		var v any
		json.Unmarshal([]byte(b), &v)
		text, _ := json.MarshalIndent(v, "", "  ")
		return string(text) + "\n"
	}),
	"another order of keys when got": func(s *mutant.Server) {
		s.InGet = func(o mutant.Object) string {
			return `{"status"` + strings.SplitN(o.Body, `,"status"`, 2)[1][:len(strings.SplitN(o.Body, `,"status"`, 2)[1])-1] + `,` + strings.SplitN(o.Body, `,"status"`, 2)[0][1:] + `}`
		}
	},
	"a continue on a last page that is full": func(s *mutant.Server) {
		page := s.Page
		s.Page = func(items []mutant.Object, start, limit int) ([]mutant.Object, int) {
			got, next := page(items, start, limit)
			if next < 0 && limit > 0 && len(got) == limit {
				next = start + limit
			}
			return got, next
		}
	},
	"the newest first": func(s *mutant.Server) {
		page := s.Page
		s.Page = func(items []mutant.Object, start, limit int) ([]mutant.Object, int) {
			reversed := make([]mutant.Object, 0, len(items))
			for i := range items {
				reversed = append(reversed, items[len(items)-1-i])
			}
			return page(reversed, start, limit)
		}
	},
	"fields that nobody knows": everywhere("vm03", `"spec":{`, `"spec":{"ourOwn":{"userData":[1,2.5,null]},`),
	"names that need escaping": func(s *mutant.Server) {
		s.Objects = append(s.Objects, mutant.Machine(90, "prod", "vm.with.dots", map[string]string{"example.com/a.b": "x_y.z-1"}))
	},
	"labels that no selector can be written with": func(s *mutant.Server) {
		s.Objects = append(s.Objects, mutant.Machine(90, "prod", "strange", map[string]string{"not a key": "a,b)", "": "ü"}))
	},
	"values of KubeVirt": everywhere("vm03", `"evictionStrategy":"LiveMigrate"`, `"evictionStrategy":"LiveMigrateIfPossible"`),
}

func TestOddButRight(t *testing.T) {
	for name, change := range odd {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mutant.New(mutant.Fleet())
			change(s)
			report := run(t, targetOf(t, s))
			assert.Empty(t, with(report, contract.Fail), text(t, report))
			assert.Empty(t, with(report, contract.Inconclusive), text(t, report))
			assert.Equal(t, contract.ExitGood, report.ExitCode())
		})
	}
}

// What only the document as given objects to is a warning under the others.
func TestDrift(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	everywhere("vm03", `"evictionStrategy":"LiveMigrate"`, `"evictionStrategy":"LiveMigrateIfPossible"`)(s)
	report := run(t, targetOf(t, s), contract.WithOnly("schema"))
	assert.Equal(t, []string{"schema.drift"}, with(report, contract.Warning))
	assert.Contains(t, text(t, report), "/spec/evictionStrategy breaks enum")
}

// Kubernetes takes a limit of 0 for none.
func TestLimitZero(t *testing.T) {
	s := mutant.New(mutant.Fleet())
	s.ZeroLimit = http.StatusOK
	report := run(t, targetOf(t, s))
	assert.Empty(t, with(report, contract.Fail), text(t, report))
	assert.Equal(t, []string{"paging.limit-zero"}, with(report, contract.Warning))
}

func TestEnumUnknownWarn(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     contract.Outcome
	}{
		{`"phase":"Running"`, `"phase":"Hibernating"`, contract.Warning},
		{`"model":"virtio"`, `"model":"vmxnet3"`, contract.Warning},
		{`"kind":"VirtualMachineInstance"`, `"kind":"VirtualMachine"`, contract.Fail},
	} {
		s := mutant.New(mutant.Fleet())
		everywhere("vm03", c.from, c.to)(s)
		report := run(t, targetOf(t, s), contract.WithEnumUnknownWarn())
		assert.Contains(t, with(report, c.want), "schema.object", fmt.Sprint(c))
	}
}
