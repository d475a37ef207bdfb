package proxy_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
	"github.com/vmikit/vmikit/contract/internal/mutant"
	"github.com/vmikit/vmikit/contract/proxy"
	"github.com/vmikit/vmikit/openapi"
)

// shown are the subjects of which every fault shows in what ordinary clients ask
// for. Of the others some do; the rest takes a tester that asks for it.
var shown = []string{mutant.Schema, mutant.JSON, mutant.ContentType, mutant.Prose}

// unseen are faults of these subjects in answers that nobody asks for here.
var unseen = []string{"unauthorized-as-text-html"}

// The faults that the tester is tested with, seen through the proxy by clients that
// know nothing of it: a sample, and with CONTRACT_SOAK all of them and how many of
// the other subjects are noticed.
func TestMutants(t *testing.T) {
	soak := os.Getenv("CONTRACT_SOAK") != ""
	found, all := make(map[string]int), make(map[string]int)
	for i, m := range mutant.All() {
		must := slices.Contains(shown, m.Subject) && !slices.Contains(unseen, m.Name)
		if !soak && (!must || i%25 != 0) {
			continue
		}
		profile := openapi.ProfileKubeVirt
		if m.Profile != "" {
			profile = openapi.Profile(m.Profile)
		}
		all[m.Subject]++
		if noticed(t, m.Server(), profile) {
			found[m.Subject]++
		} else {
			assert.False(t, must, "%s %s is not noticed", m.Subject, m.Name)
		}
	}
	assert.NotEmpty(t, all)
	for subject, n := range all {
		t.Logf("%-12s %d of %d noticed", subject, found[subject], n)
	}
}

func TestRightServers(t *testing.T) {
	for _, profile := range openapi.Profiles() {
		assert.False(t, noticed(t, mutant.New(mutant.Fleet()), profile), profile)
	}
	assert.False(t, noticed(t, mutant.NewMinimal(mutant.Fleet()), openapi.ProfileDocument), "minimal")
}

// noticed has clients use a server through a proxy and reports whether it notices a
// failure, or what only words forbid.
func noticed(t *testing.T, upstream http.Handler, profile openapi.Profile) bool {
	t.Helper()
	behind := httptest.NewServer(upstream)
	defer behind.Close()
	u, err := url.Parse(behind.URL)
	require.NoError(t, err)
	observer, err := contract.NewObserver(behind.URL, contract.WithProfile(profile))
	require.NoError(t, err)
	p, err := proxy.New(u, observer)
	require.NoError(t, err)
	front := httptest.NewServer(p)
	defer front.Close()
	traffic(t, front.URL)
	p.Wait()
	for _, r := range observer.Report().Results {
		if r.Outcome == contract.Fail || r.Subject() == mutant.Prose && r.Outcome == contract.Warning {
			return true
		}
	}
	return false
}

// traffic is what ordinary clients ask for.
func traffic(t *testing.T, server string) {
	ask := func(method, path string) []byte {
		r, err := http.NewRequestWithContext(t.Context(), method, server+path, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+mutant.GoodToken)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			return nil // broken off, which the proxy tells
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return body
	}
	for _, o := range mutant.Fleet() {
		ask(http.MethodGet, "/apis/kubevirt.io/v1/namespaces/"+o.Namespace+"/virtualmachineinstances/"+o.Name)
	}
	for _, base := range []string{inProd, all} {
		for _, query := range []string{
			"", "?labelSelector=app%3Dweb", "?labelSelector=app%3D%3Dweb", "?labelSelector=app!%3Dweb", "?labelSelector=tier", "?labelSelector=!tier",
			"?labelSelector=app+in+(web,db)", "?labelSelector=app+notin+(web,db)", "?labelSelector=app%3Dweb,tier%3Dgold", "?labelSelector=kubevirt.io/os%3DFedora",
			"?fieldSelector=metadata.name%3Dvm01", "?fieldSelector=metadata.name!%3Dvm01", "",
		} {
			ask(http.MethodGet, base+query)
		}
		for next, pages := "", 0; pages < 10; pages++ {
			var list struct{ Metadata struct{ Continue string } }
			// What cannot be read has no next page.
			_ = json.Unmarshal(ask(http.MethodGet, base+"?limit=3&continue="+url.QueryEscape(next)), &list)
			if next = list.Metadata.Continue; next == "" {
				break
			}
		}
		ask(http.MethodHead, base)
	}
	ask(http.MethodGet, inProd+"/nosuch")
	ask(http.MethodGet, "/apis/kubevirt.io/v1/namespaces/nosuch/virtualmachineinstances")
}
