package server_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/rbac"
)

const lease1 = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"l"},"spec":{"holderIdentity":"one"}}`

// Events and leases are made by PUT where there are none, as Kubernetes' strategies for
// them say; nothing else is.
func TestCreatedByPut(t *testing.T) {
	f := start(t)
	w := f.watch(leases + "?watch=1")
	dry := f.send("PUT", leases+"/l?dryRun=All", lease1)
	assert.Equal(t, 201, dry.StatusCode)
	assert.Equal(t, 404, f.get(leases+"/l").StatusCode)

	wrong := f.send("PUT", leases+"/l", strings.Replace(lease1, `"name":"l"`, `"name":"l","uid":"00000000-0000-4000-8000-000000000000"`, 1)).status(t)
	assert.Equal(t, `Operation cannot be fulfilled on leases.coordination.k8s.io "l": Precondition failed: UID in precondition: 00000000-0000-4000-8000-000000000000, UID in object meta: `, wrong.Message)

	made := f.send("PUT", leases+"/l", strings.Replace(lease1, `"name":"l"`, `"name":"l","resourceVersion":"7","creationTimestamp":"2001-01-01T00:00:00Z"`, 1)).written(t, 201)
	assert.NotEmpty(t, made.Metadata.UID)
	assert.NotEqual(t, "7", made.Metadata.ResourceVersion, "whatever version it was of")
	assert.NotContains(t, made.Metadata.CreationTimestamp, "2001")
	_, seen := w.next(1)
	assert.Equal(t, []string{"ADDED vms/l"}, seen)
	assert.Equal(t, 422, f.send("PUT", leases+"/l", lease1).StatusCode, "now it is there")

	f.send("PUT", events+"/e1", event1("e1", "a", "Started")).written(t, 201)
	f.send("PUT", events+"/e1", event1("e1", "a", "Stopped")).written(t, 200)
	assert.Equal(t, 422, f.send("PUT", events+"/e2", strings.Replace(event1("e2", "a", "Started"), `"namespace":"vms"`, `"namespace":"other"`, 1)).StatusCode)
	assert.Equal(t, 404, f.send("PUT", inVMs+"/a", vm("a")).StatusCode)
	assert.Equal(t, 404, f.send("PUT", namespaces+"/n", namespace("n")).StatusCode)
	assert.Equal(t, 404, start(t, server.WithStrictNamespaces()).send("PUT", leases+"/l", lease1).StatusCode)
}

// Who may update may not make.
func TestCreatedByPutIsAuthorized(t *testing.T) {
	p, err := rbac.New(
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"holder"},`+
			`"rules":[{"apiGroups":["coordination.k8s.io"],"resources":["leases"],"verbs":["update"]}]}`),
		[]byte(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"holder"},`+
			`"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"holder"},`+
			`"subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"system:anonymous"}]}`))
	require.NoError(t, err)
	refused := start(t, server.WithPolicy(p)).send("PUT", leases+"/l", lease1)
	assert.Equal(t, 403, refused.StatusCode)
	assert.Contains(t, refused.status(t).Message, `cannot create resource "leases"`)
}
