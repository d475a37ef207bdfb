package store

import (
	"context"
	"slices"
)

// rewind turns a snapshot that nobody else has yet, and that has no index,
// into that of an earlier revision, by undoing the changes since, which come
// in order.
//
// It undoes less than they did: a version that is neither of the revision nor
// in the snapshot is passed over. That leaves objects that were created since,
// and must go, and objects whose version of the revision was superseded, each
// of which is in one record. Going backwards puts the removal of an object
// before the return of one that was deleted and created again.
//
// There is no index since it would cost more than the scans that it spares.
func (s *snapshot) rewind(ctx context.Context, revision int64, since []*record) error {
	s.revision = revision
	for i, r := range slices.Backward(since) {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		switch {
		case r.old == nil:
			s.objects.Delete(r.next)
		case r.old.Revision <= revision:
			s.objects.Set(r.old)
			s.rewound.versions += versionBytes(r.old)
		default:
			continue
		}
		s.rewound.nodes += int64(s.objects.Height() * objectsNodeBytes)
	}
	return nil
}
