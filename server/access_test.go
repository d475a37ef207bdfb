package server_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/rbac"
)

func tokens(t *testing.T) server.Option {
	t.Helper()
	tk, err := server.ReadTokens(strings.NewReader("admintoken,admin,1,system:masters\nviewertoken,viewer,2\nnobodytoken,nobody,3\n"))
	require.NoError(t, err)
	return server.WithTokens(tk)
}

func policy(t *testing.T) server.Option {
	t.Helper()
	p, err := rbac.New(
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"view","namespace":"vms"},
			"rules":[{"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances"],"verbs":["get","list"]}]}`),
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"view","namespace":"vms"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"view"},
			"subjects":[{"kind":"User","name":"viewer","apiGroup":"rbac.authorization.k8s.io"}]}`),
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"one"},
			"rules":[{"apiGroups":["kubevirt.io"],"resources":["virtualmachineinstances"],"resourceNames":["a"],"verbs":["list"]}]}`),
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"one"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"one"},
			"subjects":[{"kind":"User","name":"nobody","apiGroup":"rbac.authorization.k8s.io"}]}`),
	)
	require.NoError(t, err)
	return server.WithPolicy(p)
}

func TestAuthentication(t *testing.T) {
	f := start(t, tokens(t)).create("vms/a")
	for _, path := range []string{inVMs, inVMs + "/a", "/version", "/apis", "/readyz", "/nosuch", "/api/v1/namespaces"} {
		for _, header := range []string{"X-None: 1", "Authorization: Bearer wrong", "Authorization: Bearer ", "Authorization: Basic YWRtaW50b2tlbjo=",
			"Authorization: admintoken", "Authorization: Token admintoken", "Authorization: Basic admintoken", "Authorization: Bearer admintoken2", "Authorization: Bearer admin token"} {
			r := f.get(path, header)
			s := r.status(t)
			assert.Equal(t, 401, r.StatusCode, "%s %s", path, header)
			assert.Equal(t, "Unauthorized", s.Message)
			assert.Equal(t, "Unauthorized", s.Reason)
			assert.Empty(t, r.Header.Get("WWW-Authenticate"))
		}
	}
	for _, header := range []string{"Authorization: Bearer admintoken", "Authorization: bearer  nobodytoken"} {
		assert.Equal(t, 200, f.get(inVMs, header).StatusCode, "without a policy everybody who got in may do everything")
	}
}

func TestAuthorization(t *testing.T) {
	f := start(t, tokens(t), policy(t)).create("vms/a", "vms/b", "other/a")
	for _, c := range []struct{ token, path, message string }{
		{"nobodytoken", inVMs, `virtualmachineinstances.kubevirt.io is forbidden: User "nobody" cannot list resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms"`},
		{"nobodytoken", inVMs + "/a", `virtualmachineinstances.kubevirt.io "a" is forbidden: User "nobody" cannot get resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms"`},
		{"nobodytoken", inVMs + "/nosuch", `virtualmachineinstances.kubevirt.io "nosuch" is forbidden: User "nobody" cannot get resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms"`},
		{"nobodytoken", inVMs + "?limit=abc", `virtualmachineinstances.kubevirt.io is forbidden: User "nobody" cannot list resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms"`},
		{"nobodytoken", inVMs + "?watch=1", `virtualmachineinstances.kubevirt.io is forbidden: User "nobody" cannot watch resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms"`},
		{"nobodytoken", "/apis/kubevirt.io/v1/watch/namespaces/vms/virtualmachineinstances/a", `virtualmachineinstances.kubevirt.io "a" is forbidden: User "nobody" cannot watch resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms"`},
		{"nobodytoken", inVMs + "/b?fieldSelector=metadata.name%3Da", `virtualmachineinstances.kubevirt.io "b" is forbidden: User "nobody" cannot get resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms"`},
		{"nobodytoken", inVMs + "/a/status", `virtualmachineinstances.kubevirt.io "a" is forbidden: User "nobody" cannot get resource "virtualmachineinstances/status" in API group "kubevirt.io" in the namespace "vms"`},
		{"nobodytoken", "/nosuch", `forbidden: User "nobody" cannot get path "/nosuch"`},
		{"viewertoken", all, `virtualmachineinstances.kubevirt.io is forbidden: User "viewer" cannot list resource "virtualmachineinstances" in API group "kubevirt.io" at the cluster scope`},
		{"viewertoken", all + "?fieldSelector=metadata.namespace%3Dvms", `virtualmachineinstances.kubevirt.io is forbidden: User "viewer" cannot list resource "virtualmachineinstances" in API group "kubevirt.io" at the cluster scope`},
		{"nobodytoken", all + "?fieldSelector=metadata.name%3Db", `virtualmachineinstances.kubevirt.io "b" is forbidden: User "nobody" cannot list resource "virtualmachineinstances" in API group "kubevirt.io" at the cluster scope`},
	} {
		r := f.get(c.path, "Authorization: Bearer "+c.token)
		s := r.status(t)
		assert.Equal(t, http.StatusForbidden, r.StatusCode)
		assert.Equal(t, c.message, s.Message)
		assert.Equal(t, "Forbidden", s.Reason)
		assert.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
		assert.Contains(t, string(r.body), `"details":{`, "even without members")
	}
	assert.Equal(t, "vms/a vms/b", names(f.get(inVMs, "Authorization: Bearer viewertoken").list(t)))
	assert.Equal(t, "other/a vms/a", names(f.get(all+"?fieldSelector=metadata.name%3Da", "Authorization: Bearer nobodytoken").list(t)),
		"a list of one name is authorized as that name")
	assert.Equal(t, 200, f.get("/version", "Authorization: Bearer nobodytoken").StatusCode, "everybody may ask for the version")
	assert.Len(t, f.get(all, "Authorization: Bearer admintoken").list(t).Items, 3)
}

func TestPolicyWithoutTokens(t *testing.T) {
	f := start(t, policy(t)).create("vms/a")
	assert.Equal(t, `virtualmachineinstances.kubevirt.io is forbidden: User "system:anonymous" cannot list resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms"`,
		f.get(inVMs).status(t).Message)
	assert.Equal(t, 200, f.get("/readyz").StatusCode)
}

func TestHosts(t *testing.T) {
	f := start(t, server.WithHosts("vmikit.example", "192.0.2.1"))
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:8080": 200, "127.0.0.1:1": 200, "127.9.9.9": 200, "[::1]:8080": 200, "vmikit.example.:443": 200, "192.0.2.1": 200,
		"evil.example": 403, "192.0.2.2": 403, "localhost.evil.example:80": 403, "127.0.0.1.evil.example": 403,
	} {
		assert.Equal(t, want, f.get("/version", "Host: "+host).StatusCode, host)
	}
}

func TestLogHasNoSecrets(t *testing.T) {
	var log bytes.Buffer
	f := start(t, tokens(t), server.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))).create("vms/a")
	r := f.get(inVMs+"?token=admintoken", "Authorization: Bearer admintoken")
	f.get(inVMs, "Authorization: Bearer guessedtoken")
	assert.Contains(t, log.String(), "id="+r.Header.Get("Audit-Id"))
	assert.Contains(t, log.String(), "user=admin")
	assert.Contains(t, log.String(), "status=401")
	assert.NotContains(t, log.String(), "admintoken")
	assert.NotContains(t, log.String(), "guessedtoken")
}
