package client

import (
	"cmp"
	"slices"
	"strings"
)

// known is what a watch remembers of the machines that it has told of, by namespace
// and name. It is nil where it remembers nothing.
type known map[string]*sighting

type sighting struct {
	uid, revision string
	pass          *pass // the list that has shown it last, if any has
}

func keyOf(vm *VMI) string { return vm.Namespace() + "/" + vm.Name() }

// event tells of a machine in a state.
func event(t EventType, vm *VMI) Event {
	return Event{Type: t, VMI: vm, Namespace: vm.Namespace(), Name: vm.Name(), UID: vm.UID(), ResourceVersion: vm.ResourceVersion()}
}

// gone tells that a machine is not there any more, of which nothing else was seen.
func (s *sighting) gone(key string) Event {
	namespace, name, _ := strings.Cut(key, "/")
	return Event{Type: EventDeleted, Namespace: namespace, Name: name, UID: s.uid, FromList: true}
}

// put notes the state of a machine and returns what there is to tell of it: nothing
// when it is known already. Which of Added and Modified it is goes by what is known.
func (k known) put(vm *VMI, t EventType) []Event {
	if k == nil {
		return []Event{event(t, vm)}
	}
	key := keyOf(vm)
	old := k[key]
	now := &sighting{uid: vm.UID(), revision: vm.ResourceVersion()}
	switch {
	case old == nil:
		k[key] = now
		return []Event{event(EventAdded, vm)}
	case old.uid != now.uid:
		k[key] = now
		return []Event{old.gone(key), event(EventAdded, vm)}
	case old.revision != now.revision:
		old.revision = now.revision
		return []Event{event(EventModified, vm)}
	}
	return nil
}

// remove forgets a machine and tells of it, if anything was told before.
func (k known) remove(vm *VMI) []Event {
	if k != nil {
		key := keyOf(vm)
		if k[key] == nil {
			return nil
		}
		delete(k, key)
	}
	return []Event{event(EventDeleted, vm)}
}

// pass is one list, compared with what is known.
type pass struct{ known known }

func (k known) begin() *pass { return &pass{k} }

// see takes a machine of the list.
func (p *pass) see(vm *VMI) []Event {
	events := p.known.put(vm, EventAdded)
	p.known[keyOf(vm)].pass = p
	for i := range events {
		events[i].FromList, events[i].ResourceVersion = true, ""
	}
	return events
}

// missing forgets the machines that the list has not shown, and tells of each, in the
// order of their names.
func (p *pass) missing() []Event {
	var events []Event
	for key, s := range p.known {
		if s.pass != p {
			delete(p.known, key)
			events = append(events, s.gone(key))
		}
	}
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return events
}
