package server

import (
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/store"
)

// ListNamespace answers the namespaces. There are no objects of their own behind
// them: a namespace is there as long as a machine is in it.
func (s *server) ListNamespace(c echo.Context, p vmi.ListNamespaceParams) error {
	x := exchangeOf(c)
	if isTrue(p.Watch) {
		return noWatch()
	}
	if err := acceptsJSON(x.r.Header.Get("Accept")); err != nil {
		return err
	}
	labels, err := store.ParseSelector(value(p.LabelSelector))
	if err != nil {
		return badRequest(err.Error())
	}
	fields, err := store.ParseFieldSelector(value(p.FieldSelector))
	if err != nil {
		return badRequest(err.Error())
	}
	names, revision, err := s.store.Namespaces(x.r.Context())
	if err != nil {
		return err
	}
	out := vmi.NamespaceList{
		Kind: "NamespaceList", APIVersion: "v1", Items: []vmi.Namespace{},
		Metadata: vmi.ListMeta{ResourceVersion: strconv.FormatInt(revision, 10)},
	}
	for _, name := range names {
		n := s.namespace(name, revision)
		label := func(key string) (string, bool) { v, ok := n.Metadata.Labels[key]; return v, ok }
		// A namespace is in no namespace.
		if labels.Matches(label) && fields.Matches(store.Key{Name: name}) {
			out.Items = append(out.Items, n)
		}
	}
	return s.declared(x, out)
}

// ReadNamespace answers one namespace.
func (s *server) ReadNamespace(c echo.Context, name string) error {
	x := exchangeOf(c)
	names, revision, err := s.store.Namespaces(x.r.Context())
	if err != nil {
		return err
	}
	if _, found := slices.BinarySearch(names, name); !found {
		return notFound("", "namespaces", name)
	}
	return s.declared(x, s.namespace(name, revision))
}

// namespaceUIDs is the space in which the uid of a namespace is made from its
// name, so that it is the same in every process.
var namespaceUIDs = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/vmikit/vmikit/namespaces"))

func (s *server) namespace(name string, revision int64) vmi.Namespace {
	return vmi.Namespace{
		Kind: "Namespace", APIVersion: "v1",
		Metadata: vmi.ObjectMeta{
			Name:              name,
			UID:               uuid.NewSHA1(namespaceUIDs, []byte(name)).String(),
			ResourceVersion:   strconv.FormatInt(revision, 10),
			CreationTimestamp: s.started.UTC().Truncate(1e9),
			Labels:            map[string]string{"kubernetes.io/metadata.name": name},
		},
		Spec:   map[string]any{"finalizers": []string{"kubernetes"}},
		Status: &vmi.NamespaceStatus{Phase: vmi.NamespacePhaseActive},
	}
}
