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
// them: a namespace is there as long as a machine is in it. Pages show what is
// there when each is asked for.
func (s *server) ListNamespace(c echo.Context, p vmi.ListNamespaceParams) error {
	x := exchangeOf(c)
	if isTrue(p.Watch) {
		return badRequest("watch: namespaces cannot be watched here; list again instead")
	}
	if err := acceptsJSON(x.r.Header.Get("Accept")); err != nil {
		return err
	}
	o, err := readListOptions("", listParams{
		LabelSelector: p.LabelSelector, FieldSelector: p.FieldSelector, Limit: p.Limit, Continue: p.Continue,
		ResourceVersion: p.ResourceVersion, ResourceVersionMatch: p.ResourceVersionMatch, SendInitialEvents: p.SendInitialEvents,
	})
	if err != nil {
		return err
	}
	if err := await(x.r.Context(), s.machines, o.atLeast); err != nil {
		return err
	}
	names, revision, err := s.machines.store.Namespaces(x.r.Context())
	if err != nil {
		return err
	}
	if o.exact && o.Revision != revision {
		return expired("")
	}
	return s.declared(x, s.namespaceList(names, revision, o))
}

func (s *server) namespaceList(names []string, revision int64, o *listOptions) vmi.NamespaceList {
	list := vmi.NamespaceList{
		Kind: "NamespaceList", APIVersion: "v1", Items: []vmi.Namespace{},
		Metadata: vmi.ListMeta{ResourceVersion: strconv.FormatInt(revision, 10)},
	}
	for i, name := range names {
		if name < o.Start {
			continue
		}
		n := s.namespace(name, revision)
		label := func(key string) (string, bool) { v, ok := n.Metadata.Labels[key]; return v, ok }
		// A namespace is in no namespace.
		if !o.Labels.Matches(label) || !o.Fields.Matches(store.Key{Name: name}) {
			continue
		}
		list.Items = append(list.Items, n)
		if rest := int64(len(names) - i - 1); len(list.Items) == o.Limit && rest > 0 {
			list.Metadata.Continue = continueToken{Version: continueVersion, Revision: revision, Start: "/" + name + "\x00"}.encode()
			if o.Labels.Empty() && o.Fields.Empty() {
				list.Metadata.RemainingItemCount = &rest
			}
			break
		}
	}
	return list
}

// ReadNamespace answers one namespace.
func (s *server) ReadNamespace(c echo.Context, name string) error {
	x := exchangeOf(c)
	names, revision, err := s.machines.store.Namespaces(x.r.Context())
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
