package store

// Stats is how much a [Memory] holds.
type Stats struct {
	// Objects in the newest state.
	Objects int
	// Revision of the latest write.
	Revision int64
	// HistoryBytes is what the past is charged with, of [History].Bytes.
	HistoryBytes int64
}

// Stats returns how much the store holds, in no time. It looks at no age: what is
// too old counts until something else gives it up.
func (m *Memory) Stats() Stats {
	m.mu.RLock()
	s := Stats{Objects: m.objects.Len(), Revision: m.revision, HistoryBytes: m.pins.bytes}
	m.mu.RUnlock()
	m.log.mu.Lock()
	defer m.log.mu.Unlock()
	s.HistoryBytes += m.log.bytes
	return s
}
