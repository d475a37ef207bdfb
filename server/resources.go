package server

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/vmikit/vmikit/server/store"
)

// addResources makes what the server has: the machines of a store, and what stands
// around them, which lives as long as the server does.
func (s *server) addResources(st store.Store) error {
	s.machines = machines(st)
	s.namespaces = s.newNamespaces()
	s.events, s.leases = s.newEvents(), s.newLeases()
	s.nodes = s.newNodes()
	s.pods, s.secrets, s.claims = s.newPods(), s.newSecrets(), s.newClaims()
	s.definitions, s.kubevirts = s.newDefinitions(), s.newKubeVirts()
	s.accessReviews, s.rulesReviews = accessReviews(), rulesReviews()
	s.resources = []*resource{
		s.events, s.namespaces, s.nodes, s.claims, s.pods, s.secrets,
		s.machines, s.kubevirts, oldVersion(s.machines, oldVersionName), oldVersion(s.kubevirts, oldVersionName),
		s.definitions, s.accessReviews, s.rulesReviews, s.leases,
	}
	ctx := context.Background()
	if err := s.put(ctx, s.definitions, s.definitions.store, s.definition()); err != nil {
		return err
	}
	return s.put(ctx, s.kubevirts, s.kubevirts.store, kubevirtInstallation())
}

// readVerbs are those of resources that nobody writes.
var readVerbs = []string{"get", "list", "watch"}

// writeVerbs are those of resources that everybody may write.
var writeVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// aroundHistory is what the past of one resource around the machines may hold.
const aroundHistory = 8 << 20

// newStore is an empty store for a resource.
func (s *server) newStore() *store.Memory {
	return store.NewMemory(store.WithClock(s.now), store.WithHistory(store.History{Bytes: aroundHistory}))
}

// put stores an object that the server makes itself, in the store of its resource.
func (s *server) put(ctx context.Context, r *resource, to store.Store, object map[string]any) error {
	meta := asObject(object["metadata"])
	object["apiVersion"], object["kind"] = r.apiVersion(), r.kind()
	key := store.Key{Namespace: clusterScope, Name: text(meta, "name")}
	if r.discovered.Namespaced {
		key.Namespace = text(meta, "namespace")
	}
	if text(meta, "uid") == "" {
		meta["uid"], meta["creationTimestamp"] = madeUID(r, key), s.started.UTC().Format(time.RFC3339)
	}
	d, err := r.draft(key, object)
	if err != nil {
		return err
	}
	_, err = to.Create(ctx, d)
	return err
}

// madeUIDs is the space in which the uid of an object that the server makes follows
// from its name, so that it is the same in every process.
var madeUIDs = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/vmikit/vmikit/objects"))

func madeUID(r *resource, key store.Key) string {
	return uuid.NewSHA1(madeUIDs, []byte(r.qualified()+"/"+key.String())).String()
}
