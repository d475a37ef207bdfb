package command_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAdmissionIsChosen(t *testing.T) {
	const warning = "warning: --admission=kubevirt without --token-auth-file or --client-ca-file: nobody is KubeVirt, so nobody can change a spec or a status\n"
	for _, c := range []struct {
		args     []string
		admitted bool
	}{{nil, false}, {[]string{"--admission=none"}, false}, {[]string{"--admission=kubevirt"}, true}} {
		s := start(t, append(c.args, "--load", write(t, "a.json", `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"loaded"},"spec":{}}`))...)
		assert.Equal(t, c.admitted, strings.Contains(s.stderr(), warning), s.stderr())
		assert.Contains(t, s.stderr(), "loaded 1, skipped 0", "what is loaded is taken as it is")

		resp, err := http.Post(s.url+"/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances", "application/json", strings.NewReader(
			`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a"},"spec":{"domain":{"memory":{"guest":"1Gi"}}}}`))
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, http.StatusCreated, resp.StatusCode)
		assert.Equal(t, c.admitted, strings.Contains(string(body), `"finalizers":["kubevirt.io/foregroundDeleteVirtualMachine"]`), string(body))
	}
}
