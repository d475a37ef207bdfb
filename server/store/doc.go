// Package store keeps objects as bytes with versions. It knows no HTTP and no
// schema: what is valid and who may see it is decided before it is asked.
//
// Most programs want the store in memory:
//
//	s := store.NewMemory()
//	object, err := s.Create(ctx, store.Draft{Key: key, JSON: json, RevisionAt: at, Labels: labels})
//	page, err := s.List(ctx, store.ListOptions{Namespace: "vms", Limit: 500})
//
// A list continues at a position, not at a key, because that is what the
// continue token of a Kubernetes API server carries ("start":"/vm3\u0000"):
// [ListOptions].Start takes any bytes, [Key.After] makes the position behind
// an object. A page with a rest keeps its revision readable without being
// asked to, so that the pages after it show the very same state; how long is
// the store's affair ([History] for the one in memory), as it is for other
// revisions, and the end of it is [ErrExpired].
//
// A watch tells what changes after a revision, which a list has given:
//
//	watch, err := s.Watch(ctx, store.WatchOptions{Namespace: "vms", Revision: page.Revision})
//	change, err := watch.Next(ctx) // change.Type is store.Added, Modified or Deleted
//
// Another implementation of [Store] makes its objects with [NewObject] and
// proves itself with package storetest.
package store
