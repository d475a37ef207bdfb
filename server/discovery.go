package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"runtime"
	"slices"
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

	kubernetesVersion = "v" + kubernetesMajor + "." + kubernetesMinor + "." + kubernetesPatch
)

func storageVersionHash(of string) string {
	sum := sha256.Sum256([]byte(of))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

// groups are the names of the groups, in the order of discovery, "" being the core.
func (s *server) groups() []string {
	var names []string
	for _, r := range s.resources {
		if !slices.Contains(names, r.group) {
			names = append(names, r.group)
		}
	}
	return names
}

// apiGroup is a group as discovery shows it, the version that is preferred first.
func (s *server) apiGroup(name string) (g vmi.APIGroup, ok bool) {
	g.Name = name
	for _, r := range s.resources {
		v := vmi.GroupVersionForDiscovery{GroupVersion: r.apiVersion(), Version: r.version}
		if r.group == name && !slices.Contains(g.Versions, v) {
			g.Versions = append(g.Versions, v)
		}
	}
	if len(g.Versions) == 0 {
		return g, false
	}
	g.PreferredVersion = g.Versions[0]
	return g, true
}

// apiResources are the resources of a group and version.
func (s *server) apiResources(group, version string) []vmi.APIResource {
	var found []vmi.APIResource
	for _, r := range s.resources {
		if r.group == group && r.version == version {
			found = append(found, r.discovered)
		}
	}
	return found
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
	}, s.aggregate(""))
}

// GetAPIVersions answers /apis.
func (s *server) GetAPIVersions(c echo.Context) error {
	names := slices.DeleteFunc(s.groups(), func(name string) bool { return name == "" })
	list := vmi.APIGroupList{Kind: "APIGroupList", APIVersion: "v1"}
	for _, name := range names {
		g, _ := s.apiGroup(name)
		list.Groups = append(list.Groups, g)
	}
	return s.discover(exchangeOf(c), list, s.aggregate(names...))
}

// GetKubeVirtAPIGroup answers /apis/kubevirt.io.
func (s *server) GetKubeVirtAPIGroup(c echo.Context) error { return s.GetAPIGroup(c, group) }

// GetAPIGroup answers /apis/GROUP.
func (s *server) GetAPIGroup(c echo.Context, name string) error {
	g, ok := s.apiGroup(name)
	if !ok || name == "" {
		return errNoSuchPath
	}
	g.Kind, g.APIVersion = "APIGroup", "v1"
	return s.declared(exchangeOf(c), g)
}

// GetCoreV1APIResources answers /api/v1.
func (s *server) GetCoreV1APIResources(c echo.Context) error {
	return s.GetAPIResources(c, "", "v1")
}

// GetKubeVirtV1APIResources answers /apis/kubevirt.io/v1.
func (s *server) GetKubeVirtV1APIResources(c echo.Context) error {
	return s.GetAPIResources(c, group, version)
}

// GetAPIResources answers /apis/GROUP/VERSION.
func (s *server) GetAPIResources(c echo.Context, group, version string) error {
	list := vmi.APIResourceList{
		Kind: "APIResourceList", APIVersion: "v1", GroupVersion: strings.TrimPrefix(group+"/"+version, "/"),
		Resources: s.apiResources(group, version),
	}
	if len(list.Resources) == 0 {
		return errNoSuchPath
	}
	return s.declared(exchangeOf(c), list)
}

// aggregate is groups as aggregated discovery shows them.
func (s *server) aggregate(groups ...string) vmi.APIGroupDiscoveryList {
	list := vmi.APIGroupDiscoveryList{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}
	for _, name := range groups {
		g, _ := s.apiGroup(name)
		shown := vmi.APIGroupDiscovery{Metadata: vmi.APIGroupDiscoveryMeta{Name: name}}
		for _, v := range g.Versions {
			shown.Versions = append(shown.Versions, vmi.APIVersionDiscovery{
				Version: v.Version, Freshness: "Current", Resources: s.discovered(name, v.Version),
			})
		}
		list.Items = append(list.Items, shown)
	}
	return list
}

// discovered are the resources of a group and version as aggregated discovery shows them.
func (s *server) discovered(group, version string) []vmi.APIResourceDiscovery {
	var shown []vmi.APIResourceDiscovery
	for _, r := range s.apiResources(group, version) {
		scope := vmi.ResourceScopeCluster
		if r.Namespaced {
			scope = vmi.ResourceScopeNamespaced
		}
		shown = append(shown, vmi.APIResourceDiscovery{
			Resource:         r.Name,
			ResponseKind:     vmi.GroupVersionKind{Group: group, Version: version, Kind: r.Kind},
			Scope:            scope,
			SingularResource: r.SingularName,
			Verbs:            r.Verbs,
			ShortNames:       r.ShortNames,
			Categories:       r.Categories,
		})
	}
	return shown
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
	x.w.Header().Add("Vary", "Accept")
	x.answer = answer{
		status: http.StatusOK, form: openapi.FormDeclared, contentType: mediaAggregated, head: body,
		etag: entityTag(body), cache: "public",
	}
	return nil
}

// entityTag is a tag of content that has no other.
func entityTag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + strings.ToUpper(hex.EncodeToString(sum[:])) + `"`
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
		GitVersion:   kubernetesVersion + "+vmikit-" + s.version,
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
	x := exchangeOf(c)
	x.answer = okJSON(openapi.FormDeclared, indented.Bytes())
	x.answer.fixed = true
	return nil
}
