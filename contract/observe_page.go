package contract

import (
	"encoding/json"
)

// chains remembers the pages that led to continue tokens.
type chains struct {
	tokens *lru[textDigest, *chainPage]
}

const (
	// maxTokens is how many tokens are remembered, and maxChain how many objects the
	// pages before one of them may have.
	maxTokens   = 200
	maxInChains = 20_000
)

// chainPage is one page and those before it. What it has never changes, since clients
// ask for a page again.
type chainPage struct {
	before *chainPage
	// version is the resourceVersion of the list: where it stays the same the pages
	// are of one state, and no change of objects explains one that comes twice.
	version string
	keys    map[string]bool
	// sum counts the objects on it and before.
	sum int
}

func newChains() *chains { return &chains{tokens: newLRU[textDigest, *chainPage](maxTokens)} }

func (p *chainPage) has(key string) bool {
	for ; p != nil; p = p.before {
		if p.keys[key] {
			return true
		}
	}
	return false
}

// see holds a page against those before it. The observer is locked.
func (c *chains) see(s *scene) {
	var before *chainPage
	if token := s.asked.first("continue"); token != "" {
		before, _ = c.tokens.get(digestOf([]byte(token)))
		if before == nil {
			return // it began before there was anybody to look
		}
		s.judge.seen[checkPages]++
	}
	version := listVersion(s.list.envelope)
	if before != nil && before.version == version && version != "" {
		for _, m := range s.shown {
			if m.namespaced && before.has(m.key()) {
				s.accuse(checkPages, m, messageTwice, "every object once on the pages of one list", "it was on a page before")
			}
		}
	}
	if s.list.cont == "" {
		return
	}
	p := &chainPage{before: before, version: version, keys: make(map[string]bool, len(s.shown)), sum: len(s.shown)}
	if before != nil {
		p.sum += before.sum
	}
	if p.sum > maxInChains {
		return
	}
	for _, m := range s.shown {
		p.keys[m.key()] = true
	}
	c.tokens.put(digestOf([]byte(s.list.cont)), p)
}

// listVersion is the resourceVersion of a list without its items.
func listVersion(envelope []byte) string {
	var list struct {
		Metadata struct{ ResourceVersion json.RawMessage }
	}
	if json.Unmarshal(envelope, &list) != nil {
		return ""
	}
	return text(list.Metadata.ResourceVersion)
}
