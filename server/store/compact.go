package store

// Compact gives up the past at once, for tests of what becomes of those who need it:
// lists of any state up to now, the pages after one that was answered included, and
// watches from there on fail with [ErrExpired]. Watches that are running go on.
//
// It moves the revision forward without a change, as something else that a cluster
// stores does there; else the newest state, which is always held, would be an
// exception.
func (m *Memory) Compact() {
	var waiting sleepers
	defer func() { waiting.wake() }()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.revision++
	m.snapshot = nil
	m.pins.clear(m.revision)
	waiting = m.log.compact(m.revision)
}

// compact makes the log begin at a revision, for those who come from now on.
func (l *changeLog) compact(revision int64) sleepers {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.begins = revision, revision
	return sleepers{l.all.rouse()}
}

// clear gives up all pins, and those to come of what lists that are being answered
// see.
func (p *pins) clear(revision int64) {
	p.list, p.bytes, p.begin = nil, 0, revision
}
