package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
)

// The version of Kubernetes whose API server this one follows.
const (
	kubernetesMajor = "1"
	kubernetesMinor = "37"
	kubernetesPatch = "2"
)

var namespaces = vmi.APIResource{
	Name:         "namespaces",
	SingularName: "namespace",
	Kind:         "Namespace",
	Verbs:        []string{"get", "list"},
	ShortNames:   []string{"ns"},
}

func storageVersionHash(of string) string {
	sum := sha256.Sum256([]byte(of))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

func kubevirtGroup() vmi.APIGroup {
	v := vmi.GroupVersionForDiscovery{GroupVersion: group + "/" + version, Version: version}
	return vmi.APIGroup{Name: group, Versions: []vmi.GroupVersionForDiscovery{v}, PreferredVersion: v}
}

// GetCoreAPIVersions answers /api.
func (s *server) GetCoreAPIVersions(c echo.Context) error {
	x := exchangeOf(c)
	return s.discover(x, vmi.APIVersions{
		Kind:     "APIVersions",
		Versions: []string{"v1"},
		ServerAddressByClientCIDRs: []vmi.ServerAddressByClientCIDR{
			{ClientCIDR: "0.0.0.0/0", ServerAddress: x.r.Host},
		},
	}, aggregate("", "v1", namespaces))
}

// GetAPIVersions answers /apis.
func (s *server) GetAPIVersions(c echo.Context) error {
	return s.discover(exchangeOf(c), vmi.APIGroupList{
		Kind: "APIGroupList", APIVersion: "v1", Groups: []vmi.APIGroup{kubevirtGroup()},
	}, aggregate(group, version, s.machines.discovered))
}

// GetKubeVirtAPIGroup answers /apis/kubevirt.io.
func (s *server) GetKubeVirtAPIGroup(c echo.Context) error {
	g := kubevirtGroup()
	g.Kind, g.APIVersion = "APIGroup", "v1"
	return s.declared(exchangeOf(c), g)
}

// GetKubeVirtV1APIResources answers /apis/kubevirt.io/v1.
func (s *server) GetKubeVirtV1APIResources(c echo.Context) error {
	return s.declared(exchangeOf(c), vmi.APIResourceList{
		Kind: "APIResourceList", APIVersion: "v1", GroupVersion: group + "/" + version, Resources: []vmi.APIResource{s.machines.discovered},
	})
}

// GetCoreV1APIResources answers /api/v1.
func (s *server) GetCoreV1APIResources(c echo.Context) error {
	return s.declared(exchangeOf(c), vmi.APIResourceList{
		Kind: "APIResourceList", APIVersion: "v1", GroupVersion: "v1", Resources: []vmi.APIResource{namespaces},
	})
}

// aggregate is one group and version as aggregated discovery shows it.
func aggregate(group, version string, r vmi.APIResource) vmi.APIGroupDiscoveryList {
	scope := vmi.ResourceScopeCluster
	if r.Namespaced {
		scope = vmi.ResourceScopeNamespaced
	}
	return vmi.APIGroupDiscoveryList{
		Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2",
		Items: []vmi.APIGroupDiscovery{{
			Metadata: vmi.APIGroupDiscoveryMeta{Name: group},
			Versions: []vmi.APIVersionDiscovery{{
				Version: version, Freshness: "Current",
				Resources: []vmi.APIResourceDiscovery{{
					Resource:         r.Name,
					ResponseKind:     vmi.GroupVersionKind{Group: group, Version: version, Kind: r.Kind},
					Scope:            scope,
					SingularResource: r.SingularName,
					Verbs:            r.Verbs,
					ShortNames:       r.ShortNames,
					Categories:       r.Categories,
				}},
			}},
		}},
	}
}

// discover answers in the form that the client knows.
func (s *server) discover(x *exchange, legacy any, aggregated vmi.APIGroupDiscoveryList) error {
	wantAggregated, err := acceptsAggregated(x.r.Header.Get("Accept"))
	if err != nil {
		return err
	}
	if !wantAggregated {
		return s.declared(x, legacy)
	}
	body, err := encode(aggregated)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	x.answer = answer{
		status: http.StatusOK, form: openapi.FormDeclared, contentType: mediaAggregated, head: body,
		etag: `"` + strings.ToUpper(hex.EncodeToString(sum[:])) + `"`,
	}
	return nil
}

// declared answers with what the operation declares for application/json.
func (s *server) declared(x *exchange, v any) error {
	if err := acceptsJSON(x.r.Header.Get("Accept")); err != nil {
		return err
	}
	body, err := encode(v)
	if err != nil {
		return err
	}
	x.answer = okJSON(openapi.FormDeclared, body)
	return nil
}

// GetCodeVersion answers /version, indented as by a Kubernetes API server.
func (s *server) GetCodeVersion(c echo.Context) error {
	body, err := json.Marshal(vmi.VersionInfo{
		Major:        kubernetesMajor,
		Minor:        kubernetesMinor,
		GitVersion:   "v" + kubernetesMajor + "." + kubernetesMinor + "." + kubernetesPatch + "+vmikit-" + s.version,
		GitTreeState: "clean",
		BuildDate:    "1970-01-01T00:00:00Z",
		GoVersion:    runtime.Version(),
		Compiler:     runtime.Compiler,
		Platform:     runtime.GOOS + "/" + runtime.GOARCH,
	})
	if err != nil {
		return err
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		return err
	}
	exchangeOf(c).answer = okJSON(openapi.FormDeclared, indented.Bytes())
	return nil
}

// GetHealthz, GetLivez and GetReadyz answer ok once the store answers.
func (s *server) GetHealthz(c echo.Context) error { return s.health(exchangeOf(c)) }

// GetLivez answers as GetHealthz.
func (s *server) GetLivez(c echo.Context) error { return s.health(exchangeOf(c)) }

// GetReadyz answers as GetHealthz.
func (s *server) GetReadyz(c echo.Context) error { return s.health(exchangeOf(c)) }

func (s *server) health(x *exchange) error {
	status, text := http.StatusOK, "ok"
	if _, err := s.machines.store.Revision(x.r.Context()); err != nil {
		s.log.Error("the store does not answer", "id", x.id, "operation", operationID(x), "error", err)
		status, text = http.StatusInternalServerError, "the store does not answer"
	}
	x.w.Header().Set("X-Content-Type-Options", "nosniff")
	x.answer = answer{status: status, form: openapi.FormDeclared, contentType: "text/plain; charset=utf-8", head: []byte(text)}
	return nil
}
