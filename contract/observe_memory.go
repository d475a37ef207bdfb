package contract

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"time"
)

// memory is what an observer knows of machines that it saw, by their uids.
type memory struct {
	machines   *lru[string, *remembered]
	lists      *lru[string, newest]
	namespaces map[string]bool
	seed       maphash.Seed
}

// maxNamespaceNames bounds the namespaces that are counted.
const maxNamespaceNames = 10_000

// maxLists is how many lists are remembered, by namespace.
const maxLists = 1000

// maxStates is how many states of one machine are remembered: the newest, and
// those that pages and old watches still show.
const maxStates = 3

// remembered is one machine.
type remembered struct {
	key, created string
	states       []state
	newest       newest
}

// newest is the highest resourceVersion that was shown, at some time before at.
type newest struct {
	version int64
	at      time.Time
}

// later reports whether the newest version is higher than another one, and was shown
// before the other was asked for.
func (n newest) later(than int64, asked time.Time) bool {
	return than < n.version && n.at.Before(asked)
}

// with is the newest version with one more, that was shown at some time before at.
func (n newest) with(version int64, at time.Time) newest {
	if version > n.version {
		return newest{version, at}
	}
	return n
}

// state is what a machine was at one resourceVersion.
type state struct {
	version string
	text    textDigest
	parts   parts
}

func newMemory() *memory {
	return &memory{machines: newLRU[string, *remembered](maxRemembered), lists: newLRU[string, newest](maxLists), namespaces: make(map[string]bool), seed: maphash.MakeSeed()}
}

func (m *memory) objects() int { return m.machines.len() }

// remember compares the machines of an exchange with what is known of them and
// learns what is new. The observer is locked.
func (o *Observer) remember(s *scene) {
	for _, m := range s.shown {
		if len(o.memory.namespaces) < maxNamespaceNames {
			o.memory.namespaces[m.namespace] = true
		}
		if m.uid == "" {
			continue
		}
		known, ok := o.memory.machines.get(m.uid)
		if ok {
			known.identity(s, m)
		} else {
			known = &remembered{key: m.key(), created: m.created}
			o.memory.machines.put(m.uid, known)
		}
		if m.whole && !m.gone && m.resourceVersion != "" {
			known.content(s, m, o.memory.seed)
		}
		if s.judge.conventions() {
			known.order(s, m)
		}
	}
	if s.list != nil && s.judge.conventions() {
		o.memory.list(s)
		o.pages.see(s)
	}
}

// list compares the resourceVersion of a list with those of the same list before.
func (m *memory) list(s *scene) {
	version, err := strconv.ParseInt(listVersion(s.list.envelope), 10, 64)
	if err != nil || !s.asked.fresh() {
		return
	}
	known, ok := m.lists.get(s.asked.namespace)
	if ok {
		s.judge.seen[checkRepeat]++
	}
	if known.later(version, s.ex.started) {
		s.judge.add(checkRepeat, fault(s.ex, Fail, "the resourceVersion of a list goes back",
			fmt.Sprintf("at least %d, which was shown before", known.version), strconv.FormatInt(version, 10)))
	}
	m.lists.put(s.asked.namespace, known.with(version, s.ended))
}

// identity is what never changes of a machine.
func (known *remembered) identity(s *scene, m *shown) {
	s.judge.seen[uniqueUID]++
	if m.namespaced && known.key != m.key() {
		f := fault(s.ex, Warning, "two objects have the same uid", "another uid than that of "+known.key, "the same")
		f.Objects = []string{m.key()}
		s.judge.addOnce(uniqueUID, m.key(), f)
	}
	s.judge.seen[checkRepeat]++
	if known.created != m.created && known.key == m.key() {
		s.accuse(checkRepeat, m, "the creationTimestamp of an object changes while its uid stays", fmt.Sprintf("%.80q", known.created), fmt.Sprintf("%.80q", m.created))
	}
}

// content is the same at the same resourceVersion.
func (known *remembered) content(s *scene, m *shown, seed maphash.Seed) {
	text := digestOf(m.raw)
	i := slices.IndexFunc(known.states, func(st state) bool { return st.version == m.resourceVersion })
	if i >= 0 {
		s.judge.seen[checkGet]++
		if known.states[i].text == text {
			return
		}
	}
	now, ok := partsOf(m.raw, seed)
	if !ok {
		return // the judge tells
	}
	if i < 0 {
		known.states = append(known.states, state{m.resourceVersion, text, now})
		if len(known.states) > maxStates {
			known.states = known.states[1:]
		}
		return
	}
	if where := now.differ(known.states[i].parts); where != "" {
		s.accuse(checkGet, m, "an object is shown twice with the same resourceVersion and another content",
			"what was shown before at resourceVersion "+m.resourceVersion, "something else under "+where)
	}
}

// order compares with what was shown before the request began: who asks for the
// newest state gets no older one.
func (known *remembered) order(s *scene, m *shown) {
	version, err := strconv.ParseInt(m.resourceVersion, 10, 64)
	if err != nil {
		return // a resourceVersion is opaque where it is no number
	}
	if s.asked.fresh() && known.newest.later(version, s.ex.started) {
		s.accuse(checkRepeat, m, "the resourceVersion of an object goes back",
			fmt.Sprintf("at least %d, which was shown before", known.newest.version), m.resourceVersion)
	}
	known.newest = known.newest.with(version, s.ended)
}

// parts stand for what a machine consists of: enough to tell whether and where two
// are not the same.
type parts map[string]uint64

// partsOf takes a machine apart. A kind and apiVersion that only one of two has is
// no difference, as for [differences].
func partsOf(raw []byte, seed maphash.Seed) (parts, bool) {
	value, ok := decode(raw)
	object, isObject := value.(map[string]any)
	if !ok || !isObject {
		return nil, false
	}
	p := make(parts, 3)
	for key, member := range object {
		if key == "apiVersion" || key == "kind" {
			continue
		}
		if key != "metadata" && key != "spec" && key != "status" {
			key = "" // rare, and a name could be of any length
		}
		text, err := json.Marshal(plainNumbers(member))
		if err != nil {
			return nil, false
		}
		p[key] ^= maphash.Bytes(seed, text)
	}
	return p, true
}

// plainNumbers writes numbers that are the same alike, as [sameNumber] has it.
func plainNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, member := range v {
			v[key] = plainNumbers(member)
		}
	case []any:
		for i, member := range v {
			v[i] = plainNumbers(member)
		}
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			if f, err := v.Float64(); err == nil {
				return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
			}
		}
	}
	return value
}

// differ names the first part that two have not in common, "" for none.
func (p parts) differ(other parts) string {
	for _, key := range []string{"metadata", "spec", "status", ""} {
		if a, in := p[key]; a != other[key] || in != other.has(key) {
			return "/" + key
		}
	}
	return ""
}

func (p parts) has(key string) bool { _, ok := p[key]; return ok }
