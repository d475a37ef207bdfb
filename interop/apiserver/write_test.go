package apiserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/interop/apiserver"
	"github.com/vmikit/vmikit/openapi"
)

// A real API server is right: nothing is found, everything is told, and nothing is
// left, whether the fleet stands still or somebody changes it meanwhile.
func TestWrite(t *testing.T) {
	server := start(t, apiserver.Options{})
	fleet := create(t, server, apiserver.FleetOptions{Machines: 20, Namespaces: 3, Seed: 1})
	for _, profile := range []openapi.Profile{openapi.ProfileKubernetes, openapi.ProfileKubeVirt} {
		for _, changing := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, changing %t", profile, changing), func(t *testing.T) {
				if changing {
					done := churn(t, fleet)
					defer func() { assert.Positive(t, done()) }()
				}
				admin := target(server)
				admin.Token = server.AdminToken
				before := len(leftIn(t, server, "tenant-1"))
				report, err := contract.Run(t.Context(), admin, contract.WithProfile(profile), contract.WithWrite("tenant-1"))
				require.NoError(t, err)
				flawless(t, report)
				assert.LessOrEqual(t, report.Requests, 400+70, "writes have theirs on top")
				if !changing {
					assert.Len(t, leftIn(t, server, "tenant-1"), before)
				}
			})
		}
	}
}

// flawless asserts that all checks of writes passed.
func flawless(t *testing.T, report *contract.Report) {
	t.Helper()
	assert.Empty(t, with(report, contract.Fail), findings(t, report))
	for _, result := range report.Results {
		if result.Subject() == "write" {
			assert.Equal(t, contract.Pass, result.Outcome, "%s: %s", result.ID, findings(t, report))
		}
	}
}

// runWrite runs the checks of writes behind a proxy.
func runWrite(t *testing.T, server *apiserver.Server, namespace string, wrap func(respond) respond) *contract.Report {
	t.Helper()
	report, err := contract.Run(t.Context(), behind(server, wrap).target(t), contract.WithWrite(namespace), contract.WithOnly("write", "schema"))
	require.NoError(t, err)
	return report
}

// What stands between must not be what is found.
func TestWriteThroughProxy(t *testing.T) {
	server := start(t, apiserver.Options{})
	report := runWrite(t, server, "proxied", nil)
	flawless(t, report)
	assert.Empty(t, leftIn(t, server, "proxied"))
	assert.Less(t, report.Requests, 70, "what is kept for writing")

	// Each check alone needs what the others would have made.
	for _, c := range contract.Checks() {
		if c.Subject() != "write" || c.ID == "write.watch-selector" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			report, err := contract.Run(t.Context(), behind(server, nil).target(t), contract.WithWrite("alone"), contract.WithOnly(c.ID))
			require.NoError(t, err)
			if c.ID == "write.cleanup" {
				assert.Equal(t, []string{c.ID}, with(report, contract.NotExercised), "nothing was made")
			} else {
				assert.Equal(t, []string{c.ID}, with(report, contract.Pass), findings(t, report))
			}
			assert.Empty(t, leftIn(t, server, "alone"))
		})
	}
}

// Without rights nothing is made: who may not create, and who may not delete.
func TestWriteWithoutRights(t *testing.T) {
	server := start(t, apiserver.Options{})
	refuse := func(method string) func(respond) respond {
		return func(next respond) respond {
			return func(c call) answer {
				if c.method == method {
					c.header = c.header.Clone()
					c.header.Set("Authorization", "Bearer "+server.ViewerToken)
				}
				return next(c)
			}
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		t.Run(method, func(t *testing.T) {
			report := runWrite(t, server, "rights", refuse(method))
			for _, result := range report.Results {
				switch {
				case result.ID == "write.cleanup":
					assert.Equal(t, contract.NotExercised, result.Outcome)
				case result.Subject() == "write":
					assert.Equal(t, contract.Skipped, result.Outcome, result.ID)
					assert.Contains(t, result.Message, `User "viewer" cannot`)
				}
			}
			assert.Empty(t, leftIn(t, server, "rights"))
		})
	}
	for _, method := range []string{http.MethodPut, http.MethodPatch} {
		t.Run(method, func(t *testing.T) {
			report := runWrite(t, server, "rights", refuse(method))
			assert.Empty(t, with(report, contract.Fail), findings(t, report))
			assert.Contains(t, findings(t, report), "machine rights/")
			assert.Empty(t, leftIn(t, server, "rights"))
		})
	}
}

// A cluster has controllers that write to machines as well, and a finalizer that
// they take away a while after the deletion.
func TestWriteBesideControllers(t *testing.T) {
	t.Parallel()
	const finalizer = "kubevirt.io/foregroundDeleteVirtualMachine"
	server := start(t, apiserver.Options{})
	withFinalizer := sent(func(c call) bool { return c.method == http.MethodPost }, func(m map[string]any) { m["finalizers"] = []any{finalizer} })
	for _, test := range []struct {
		namespace string
		frees     bool
	}{{"freed", true}, {"kept", false}} {
		t.Run(test.namespace, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan int)
			go func() { ended <- control(ctx, t, server, test.namespace, test.frees) }()
			report := runWrite(t, server, test.namespace, withFinalizer)
			cancel()
			assert.Positive(t, <-ended, "changes beside the run")
			assert.Empty(t, with(report, contract.Fail), findings(t, report))
			assert.Empty(t, with(report, contract.Error), findings(t, report))
			left := leftIn(t, server, test.namespace)
			if test.frees {
				flawless(t, report)
				assert.Empty(t, left)
				return
			}
			assert.Len(t, left, 3)
			for _, name := range left {
				assert.Contains(t, findings(t, report), "made and about to be deleted, which a finalizer delays: kept/"+name)
			}
		})
	}
}

// control is a controller: it keeps writing to the machines of a namespace, and frees
// those that are being deleted. It returns how often it wrote.
func control(ctx context.Context, t *testing.T, server *apiserver.Server, namespace string, frees bool) (changes int) {
	for n := 0; ctx.Err() == nil; n++ {
		for _, name := range leftIn(t, server, namespace) {
			path := within(namespace) + "/" + name
			_, body := ask(t, server, http.MethodGet, path, server.AdminToken, "")
			patch := fmt.Sprintf(`{"status":{"phase":"Pending","reason":"n%d"}}`, n)
			if strings.Contains(string(body), `"deletionTimestamp"`) {
				if !frees || n%4 != 0 {
					continue
				}
				patch = `{"metadata":{"finalizers":null}}`
			}
			if code := mergePatch(t, server, path, patch); code == http.StatusOK {
				changes++
			}
		}
		time.Sleep(30 * time.Millisecond)
	}
	return changes
}

func mergePatch(t *testing.T, server *apiserver.Server, path, patch string) int {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, server.URL+path, strings.NewReader(patch))
	if !assert.NoError(t, err) {
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+server.AdminToken)
	request.Header.Set("Content-Type", "application/merge-patch+json")
	response, err := server.HTTPClient().Do(request)
	if !assert.NoError(t, err) {
		return 0
	}
	defer response.Body.Close()
	return response.StatusCode
}

// However a run ends, what it made is removed, also what no answer has told of.
func TestWriteLeavesNothing(t *testing.T) {
	server := start(t, apiserver.Options{})

	t.Run("a context that ends at each request", func(t *testing.T) {
		for after := int32(1); ; after += 4 {
			ctx, cancel := context.WithCancel(t.Context())
			var writes atomic.Int32
			target := behind(server, func(next respond) respond {
				return func(c call) answer {
					c.Context = t.Context()
					a := next(c) // done, though nobody waits for the answer
					if c.method != http.MethodGet && writes.Add(1) == after {
						cancel()
					}
					return a
				}
			}).target(t)
			report, err := contract.Run(ctx, target, contract.WithWrite("ended"), contract.WithOnly("write"))
			cancel()
			assert.Empty(t, leftIn(t, server, "ended"), "after %d writes", after)
			if err == nil {
				assert.Greater(t, after, int32(15))
				return
			}
			require.ErrorIs(t, err, context.Canceled)
			if after > 2 {
				assert.Contains(t, findings(t, report), "made and deleted: ended/vmikit-contract-")
			}
		}
	})

	// Writes do not lack requests however few the other checks have.
	t.Run("hardly any requests", func(t *testing.T) {
		for _, requests := range []int{8, 20, 40} {
			report, err := contract.Run(t.Context(), behind(server, nil).target(t), contract.WithWrite("used-up"), contract.WithOnly("write"), contract.WithMaxRequests(requests))
			require.NoError(t, err)
			assert.Empty(t, with(report, contract.NotExercised), findings(t, report))
			assert.Empty(t, with(report, contract.Fail), findings(t, report))
			assert.Empty(t, leftIn(t, server, "used-up"))
		}
	})

	// Creates that are done and answered as if they were not.
	for _, code := range []int{http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusTeapot} {
		t.Run(fmt.Sprintf("creates answered with %d", code), func(t *testing.T) {
			for _, which := range []func(call) bool{creates, generates} {
				report := runWrite(t, server, "denied", answered(which, func(_ respond, _ call, a answer) answer {
					a.code, a.body = code, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no"}`
					return a
				}))
				assert.Empty(t, leftIn(t, server, "denied"), findings(t, report))
				assert.Contains(t, findings(t, report), "made and deleted: denied/vmikit-contract-")
			}
		})
	}

	t.Run("a target that breaks down", func(t *testing.T) {
		report := runWrite(t, server, "broken", answered(func(c call) bool {
			return c.method == http.MethodPut || c.method == http.MethodPatch
		}, func(_ respond, _ call, a answer) answer {
			return answer{code: http.StatusInternalServerError, body: "broken"}
		}))
		assert.Empty(t, leftIn(t, server, "broken"), findings(t, report))
	})

	t.Run("a create that is answered with the machine of somebody else", func(t *testing.T) {
		code, _ := ask(t, server, http.MethodPost, within("mixed"), server.AdminToken,
			`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"production"},"spec":{"domain":{"devices":{}}}}`)
		require.Equal(t, http.StatusCreated, code)
		report := runWrite(t, server, "mixed", answered(creates, func(next respond, c call, a answer) answer {
			c = c.read()
			c.path = within("mixed") + "/production"
			return next(c)
		}))
		assert.NotEmpty(t, with(report, contract.Fail))
		assert.Equal(t, []string{"production"}, leftIn(t, server, "mixed"), findings(t, report))
		assert.NotContains(t, findings(t, report), "LEFT BEHIND")
	})
}
