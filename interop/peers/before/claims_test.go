package before_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	v1 "kubevirt.io/api/core/v1"
	"kubevirt.io/client-go/kubecli"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/servertest"
)

// both are clients of one server.
func both(t *testing.T, url string) (kubecli.KubevirtClient, *client.Client) {
	t.Helper()
	theirs, err := kubecli.GetKubevirtClientFromRESTConfig(&rest.Config{Host: url})
	require.NoError(t, err)
	ours, err := client.New(url, client.WithRetry(client.NoRetry))
	require.NoError(t, err)
	return theirs, ours
}

const page = "../../../client/README.md"

// The functions and errors that its table names.
var (
	theirKinds = map[string]func(error) bool{
		"IsAlreadyExists": apierrors.IsAlreadyExists, "IsBadRequest": apierrors.IsBadRequest, "IsConflict": apierrors.IsConflict,
		"IsForbidden": apierrors.IsForbidden, "IsInvalid": apierrors.IsInvalid, "IsNotFound": apierrors.IsNotFound,
		"IsResourceExpired": apierrors.IsResourceExpired, "IsServiceUnavailable": apierrors.IsServiceUnavailable,
		"IsTooManyRequests": apierrors.IsTooManyRequests, "IsUnauthorized": apierrors.IsUnauthorized,
	}
	ourKinds = map[string]error{
		"ErrAlreadyExists": client.ErrAlreadyExists, "ErrBadRequest": client.ErrBadRequest, "ErrConflict": client.ErrConflict,
		"ErrForbidden": client.ErrForbidden, "ErrInvalid": client.ErrInvalid, "ErrNotFound": client.ErrNotFound,
		"ErrGone": client.ErrGone, "ErrUnavailable": client.ErrUnavailable,
		"ErrTooManyRequests": client.ErrTooManyRequests, "ErrUnauthorized": client.ErrUnauthorized,
	}
)

// In each row of the table both say the same about every error.
func TestTableOfErrors(t *testing.T) {
	readme, err := os.ReadFile(page)
	require.NoError(t, err)
	rows := regexp.MustCompile("(?m)^\\| `apierrors\\.(\\w+)\\(err\\)` \\| `errors\\.Is\\(err, client\\.(\\w+)\\)` \\|$").FindAllStringSubmatch(string(readme), -1)
	require.Len(t, rows, len(ourKinds))
	s := servertest.New(t, servertest.WithObjects(fleetWeb))
	theirs, ours := both(t, s.URL)
	held := map[string]bool{}
	compare := func(what any, theirErr, ourErr error) {
		require.Error(t, theirErr)
		require.Error(t, ourErr)
		for _, row := range rows {
			require.Contains(t, theirKinds, row[1])
			require.Contains(t, ourKinds, row[2])
			is := errors.Is(ourErr, ourKinds[row[2]])
			assert.Equal(t, theirKinds[row[1]](theirErr), is, "%v: %s and %s", what, row[1], row[2])
			held[row[2]] = held[row[2]] || is
		}
	}
	for _, status := range []int{400, 401, 403, 404, 405, 409, 410, 422, 429, 500, 503, 504} {
		lift := s.Inject(servertest.Fault{Status: status})
		_, theirErr := theirs.VirtualMachineInstance("shop").Get(t.Context(), "web", metav1.GetOptions{})
		_, ourErr := ours.Get(t.Context(), "shop", "web")
		lift()
		compare(status, theirErr, ourErr)
	}
	_, theirErr := theirs.VirtualMachineInstance("shop").Create(t.Context(), &v1.VirtualMachineInstance{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{})
	_, ourErr := ours.Create(t.Context(), "shop", fleetWeb, client.WriteOptions{})
	compare("one that is there", theirErr, ourErr)
	assert.Len(t, held, len(rows))
	for kind := range held {
		assert.True(t, held[kind], "%s holds of no error here", kind)
	}
}

// A list with a value that Go cannot hold is no list for the one, and a machine whose
// view has an error for the other.
func TestOneOddValueInAList(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstanceList","metadata":{"resourceVersion":"1"},"items":[
			{"metadata":{"name":"db"}},{"metadata":{"name":"odd"},"spec":{"domain":{"cpu":{"cores":"two"}}}}]}`))
	}))
	defer srv.Close()
	theirs, ours := both(t, srv.URL)

	_, err := theirs.VirtualMachineInstance("shop").List(t.Context(), metav1.ListOptions{})
	assert.ErrorContains(t, err, "cores")
	list, err := ours.List(t.Context(), "shop", client.ListOptions{})
	require.NoError(t, err)
	_, err = list.Items[0].View()
	assert.NoError(t, err)
	_, err = list.Items[1].View()
	var odd *client.ItemError
	assert.ErrorAs(t, err, &odd)
}

// A change of a label, of an object with a field that neither's types have: the one
// writes the object without it, the other a patch that does not touch it.
func TestUpdateOfWhatNoTypeNames(t *testing.T) {
	const object = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web","namespace":"shop","resourceVersion":"7","labels":{"tier":"front"}},"spec":{"domain":{"futureDevice":{"lanes":4}}}}`
	var method, body string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			var sent json.RawMessage
			assert.NoError(t, json.NewDecoder(r.Body).Decode(&sent))
			method, body = r.Method, string(sent)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(object))
	}))
	defer srv.Close()
	theirs, ours := both(t, srv.URL)

	vm, err := theirs.VirtualMachineInstance("shop").Get(t.Context(), "web", metav1.GetOptions{})
	require.NoError(t, err)
	vm.Labels["tier"] = "edge"
	_, err = theirs.VirtualMachineInstance("shop").Update(t.Context(), vm, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, http.MethodPut, method)
	assert.Contains(t, body, `"tier":"edge"`)
	assert.NotContains(t, body, "futureDevice")

	_, err = ours.Update(t.Context(), "shop", "web", func(v *vmi.VirtualMachineInstance) error {
		v.Metadata.Labels["tier"] = "edge"
		return nil
	}, client.WriteOptions{})
	require.NoError(t, err)
	assert.Equal(t, http.MethodPatch, method)
	assert.Contains(t, body, "/metadata/labels/tier")
	assert.NotContains(t, body, "spec")
}

// Twelve requests are two beyond the ten that client-go lets through at once, at five a
// second.
func TestRateLimitOfClientGo(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(fleetWeb))
	theirs, _ := both(t, s.URL)
	start := time.Now()
	for range 12 {
		_, err := theirs.VirtualMachineInstance("shop").Get(t.Context(), "web", metav1.GetOptions{})
		require.NoError(t, err)
	}
	assert.Greater(t, time.Since(start), 300*time.Millisecond)
}
