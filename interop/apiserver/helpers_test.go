package apiserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vmikit/vmikit/interop/apiserver"
)

// start starts a server that ends with the test. With -v it logs.
func start(t *testing.T, options apiserver.Options) *apiserver.Server {
	t.Helper()
	if testing.Verbose() {
		options.Log = os.Stderr
	}
	server, err := apiserver.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

func create(t *testing.T, server *apiserver.Server, options apiserver.FleetOptions) *apiserver.Fleet {
	t.Helper()
	fleet, err := server.CreateFleet(t.Context(), options)
	require.NoError(t, err)
	return fleet
}

// everywhere is the path of the list of all machines, within that of one namespace.
const everywhere = "/apis/kubevirt.io/v1/virtualmachineinstances"

func within(namespace string) string {
	return "/apis/kubevirt.io/v1/namespaces/" + namespace + "/virtualmachineinstances"
}

// ask sends one request and returns the status code and the body. Without a token
// there is no Authorization header.
func ask(t *testing.T, server *apiserver.Server, method, path, token, body string) (int, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := server.HTTPClient().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, answer
}

type machine struct {
	Metadata struct {
		Name, Namespace, UID, ResourceVersion string
		Labels                                map[string]string
	}
	Spec   json.RawMessage
	Status struct{ Phase string }
}

// list returns all machines as the viewer sees them.
func list(t *testing.T, server *apiserver.Server) []machine {
	t.Helper()
	code, body := ask(t, server, http.MethodGet, everywhere, server.ViewerToken, "")
	require.Equal(t, http.StatusOK, code, "%s", body)
	var all struct{ Items []machine }
	require.NoError(t, json.Unmarshal(body, &all))
	return all.Items
}
