package server_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/rbac"
)

// impersonators is a policy in which boss may do all, older may be jane and the like
// by the verb impersonate, newer by its successors, and jane may read.
func impersonators(t *testing.T) server.Option {
	t.Helper()
	const head = `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":`
	var objects [][]byte
	grant := func(user, kind, rules string) {
		ref := `"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"` + user + `"},`
		objects = append(objects, []byte(head+`"ClusterRole","metadata":{"name":"`+user+`"},"rules":[`+rules+`]}`),
			[]byte(head+`"ClusterRoleBinding","metadata":{"name":"`+user+`"},`+ref+
				`"subjects":[{"kind":"`+kind+`","name":"`+user+`","apiGroup":"rbac.authorization.k8s.io"}]}`))
	}
	rule := func(verb, group, resource, names string) string {
		return fmt.Sprintf(`{"verbs":[%q],"apiGroups":[%q],"resources":[%q]%s}`, verb, group, resource, names)
	}
	const authn = "authentication.k8s.io"
	grant("jane", "User", rule("list", "kubevirt.io", "virtualmachineinstances", ""))
	grant("readers", "Group", rule("list", "kubevirt.io", "virtualmachineinstances", ""))
	grant("system:serviceaccounts:vms", "Group", rule("list", "kubevirt.io", "virtualmachineinstances", ""))
	grant("system:nodes", "Group", rule("list", "kubevirt.io", "virtualmachineinstances", ""))
	grant("older", "User", strings.Join([]string{
		rule("impersonate", "", "users", `,"resourceNames":["jane","joe","system:anonymous"]`),
		rule("impersonate", "", "groups", `,"resourceNames":["readers"]`),
		rule("impersonate", "", "serviceaccounts", ""),
		rule("impersonate", authn, "uids", `,"resourceNames":["7"]`),
		rule("impersonate", authn, "userextras/acme.com/scope", `,"resourceNames":["read"]`),
	}, ","))
	grant("newer", "User", strings.Join([]string{
		rule("impersonate-on:user-info:list", "kubevirt.io", "virtualmachineinstances", ""),
		rule("impersonate-on:arbitrary-node:list", "kubevirt.io", "virtualmachineinstances", ""),
		rule("impersonate-on:serviceaccount:list", "kubevirt.io", "virtualmachineinstances", ""),
		rule("impersonate:user-info", authn, "users", `,"resourceNames":["jane","joe"]`),
		rule("impersonate:user-info", authn, "groups", `,"resourceNames":["readers","*","system:masters"]`),
		rule("impersonate:user-info", authn, "userextras/acme.com/scope", `,"resourceNames":["read"]`),
		rule("impersonate:arbitrary-node", authn, "nodes", `,"resourceNames":["n1"]`),
		rule("impersonate:serviceaccount", authn, "serviceaccounts", `,"resourceNames":["default"]`),
	}, ","))
	p, err := rbac.New(objects...)
	require.NoError(t, err)
	return server.WithPolicy(p)
}

func impersonatorTokens(t *testing.T) server.Option {
	t.Helper()
	tk, err := server.ReadTokens(strings.NewReader("bosstoken,boss,1,system:masters\noldertoken,older,2\nnewertoken,newer,3\njanetoken,jane,4\n"))
	require.NoError(t, err)
	return server.WithTokens(tk)
}

// as sends a list as somebody else, each header "Name: value", which may be repeated.
func (f *fixture) as(who string, headers ...string) reply {
	f.t.Helper()
	req, err := http.NewRequest(http.MethodGet, f.url+inVMs, nil)
	require.NoError(f.t, err)
	req.Header.Set("Authorization", "Bearer "+who+"token")
	for _, h := range headers {
		name, v, _ := strings.Cut(h, ": ")
		req.Header.Add("Impersonate-"+name, v)
	}
	return roundTrip(f.t, http.DefaultTransport, req)
}

// The messages are those of kube-apiserver 1.37, asked the same.
func TestImpersonation(t *testing.T) {
	f := start(t, impersonatorTokens(t), impersonators(t)).create("vms/a")
	const (
		machinesInVMs = ` resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms"`
		listed        = "virtualmachineinstances.kubevirt.io is forbidden: User "
		scope         = `"authentication.k8s.io" at the cluster scope`
	)
	for _, c := range []struct{ who, headers, message string }{
		{"older", "User: jane", ""},
		{"newer", "User: jane", ""},
		{"boss", "User: jane", ""},
		{"older", "User: joe", listed + `"joe" cannot list` + machinesInVMs},
		{"newer", "User: joe", listed + `"joe" cannot list` + machinesInVMs},
		{"boss", "User: joe", listed + `"joe" cannot list` + machinesInVMs},
		{"boss", "User: joe|Group: system:masters", ""},
		{"boss", "User: joe|Group: readers|Group: others", ""},
		{"older", "User: joe|Group: readers", ""},
		{"older", "User: joe|Group: readers|Uid: 7|Extra-Acme.com%2Fscope: read", ""},
		{"older", "User: system:anonymous", listed + `"system:anonymous" cannot list` + machinesInVMs},
		{"older", "User: system:serviceaccount:vms:any", ""},
		{"older", "User: system:serviceaccount:other:any", listed + `"system:serviceaccount:other:any" cannot list` + machinesInVMs},
		{"newer", "User: system:serviceaccount:vms:default", ""},
		{"newer", "User: system:node:n1", ""},
		{"newer", "User: joe|Group: a|Group: b|Group: c|Group: readers", ""},
		{"newer", "User: jane|Extra-Acme.com%2fScope: read", ""},

		{"jane", "User: joe", listed + `"jane" cannot impersonate-on:user-info:list` + machinesInVMs},
		{"jane", "User: jane", listed + `"jane" cannot impersonate-on:user-info:list` + machinesInVMs},
		{"older", "User: jim", listed + `"older" cannot impersonate-on:user-info:list` + machinesInVMs},
		{"jane", "User: system:serviceaccount:vms:a", listed + `"jane" cannot impersonate-on:serviceaccount:list` + machinesInVMs},
		{"jane", "User: system:serviceaccount:vms:a|Group: readers", `serviceaccounts "a" is forbidden: User "jane" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "vms"`},
		{"jane", "User: system:serviceaccount:vms:A", listed + `"jane" cannot impersonate-on:user-info:list` + machinesInVMs},
		{"jane", "User: system:node:n1", listed + `"jane" cannot impersonate-on:arbitrary-node:list` + machinesInVMs},
		{"jane", "User: system:node:n1|Uid: 7", `users "system:node:n1" is forbidden: User "jane" cannot impersonate resource "users" in API group "" at the cluster scope`},
		{"older", "User: joe|Group: readers|Group: more", listed + `"older" cannot impersonate-on:user-info:list` + machinesInVMs},
		{"older", "User: joe|Uid: 8", listed + `"older" cannot impersonate-on:user-info:list` + machinesInVMs},
		{"older", "User: joe|Extra-Acme.com%2fscope: write", listed + `"older" cannot impersonate-on:user-info:list` + machinesInVMs},
		{"older", "User: system:serviceaccount:vms:any|Group: more", `groups "more" is forbidden: User "older" cannot impersonate resource "groups" in API group "" at the cluster scope`},
		{"older", "User: system:serviceaccount:vms:any|Uid: 8", `uids.authentication.k8s.io "8" is forbidden: User "older" cannot impersonate resource "uids" in API group ` + scope},
		{"older", "User: system:serviceaccount:vms:any|Extra-Acme.com%2fscope: write", `userextras.authentication.k8s.io "write" is forbidden: User "older" cannot impersonate resource "userextras/acme.com/scope" in API group ` + scope},
		{"newer", "User: jim", `users.authentication.k8s.io "jim" is forbidden: User "newer" cannot impersonate:user-info resource "users" in API group ` + scope},
		{"newer", "User: joe|Group: more", `groups.authentication.k8s.io "more" is forbidden: User "newer" cannot impersonate:user-info resource "groups" in API group ` + scope},
		{"newer", "User: joe|Group: ", `groups.authentication.k8s.io is forbidden: User "newer" cannot impersonate:user-info resource "groups" in API group ` + scope + ": impersonating the empty string group is not allowed"},
		{"newer", "User: joe|Group: system:masters", `groups.authentication.k8s.io "system:masters" is forbidden: User "newer" cannot impersonate:user-info resource "groups" in API group ` + scope + ": impersonating the system:masters group is not allowed"},
		{"newer", "User: joe|Extra-Scope: read", `userextras.authentication.k8s.io is forbidden: User "newer" cannot impersonate:user-info resource "userextras" in API group ` + scope +
			`: impersonating an invalid key in extra is not allowed: "scope" must be a domain-prefixed path, such as acme.io/foo`},
		{"newer", "User: joe|Extra-Acme.com%2Fscope: ", `userextras.authentication.k8s.io is forbidden: User "newer" cannot impersonate:user-info resource "userextras" in API group ` + scope +
			": impersonating the empty string value in extra is not allowed"},
		{"newer", "User: system:node:n2", `nodes.authentication.k8s.io "n2" is forbidden: User "newer" cannot impersonate:arbitrary-node resource "nodes" in API group ` + scope},
	} {
		r := f.as(c.who, strings.Split(c.headers, "|")...)
		if c.message == "" {
			assert.Equal(t, 200, r.StatusCode, "%s %s: %s", c.who, c.headers, r.body)
			continue
		}
		s := r.status(t)
		assert.Equal(t, 403, r.StatusCode, "%s %s", c.who, c.headers)
		assert.Equal(t, c.message, s.Message, "%s %s", c.who, c.headers)
		assert.Equal(t, "Forbidden", s.Reason)
	}
}

func TestImpersonationOfNobody(t *testing.T) {
	f := start(t, impersonatorTokens(t))
	for _, header := range []string{"Group: readers", "Uid: 7", "Extra-Scope: read", "Group: "} {
		s := f.as("boss", header, "User: ").status(t)
		assert.EqualValues(t, 400, s.Code)
		assert.Equal(t, "BadRequest", s.Reason)
		assert.Equal(t, "Impersonate-Group, Impersonate-Uid and Impersonate-Extra-* need Impersonate-User beside them", s.Message)
	}
	assert.Equal(t, 200, f.as("boss", "User: ").StatusCode)
	assert.Equal(t, 401, f.as("nobody", "User: boss").StatusCode)
}

// Without a policy everybody who got in may do everything, so that too.
func TestImpersonationWithoutPolicy(t *testing.T) {
	var log bytes.Buffer
	f := start(t, impersonatorTokens(t), server.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	assert.Equal(t, 200, f.as("jane", "User: joe", "Group: system:masters", "Extra-Scope: secret").StatusCode)
	assert.Contains(t, log.String(), "user=joe")
	assert.Contains(t, log.String(), "impersonator=jane")
	assert.NotContains(t, log.String(), "secret")
	assert.NotContains(t, log.String(), "token")
}
