package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/vmikit/vmikit/gen/vmi"
)

// errStopped is how who reads a list learns that no more of it is wanted.
var errStopped = errors.New("no more is wanted")

// list reads the body as a list, all of it.
func (a *answer) list() (*List, error) {
	list := &List{Items: []*VMI{}}
	err := a.each(list, func(vm *VMI) bool {
		list.Items = append(list.Items, vm)
		return true
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// each reads the body as a list and hands over one item after the other, with memory
// of its own, so that keeping one keeps nothing else. The members of the list may come
// in any order; what its metadata says is in list at the end. Only then is it known
// that all of it was a list.
func (a *answer) each(list *List, item func(*VMI) bool) error {
	if err := a.begin(); err != nil {
		return err
	}
	if !a.take('{') {
		return fmt.Errorf("answer is no JSON object, not a %s", kindList)
	}
	p := page{answer: a, item: item}
	if err := p.members(); err != nil {
		return err
	}
	if err := a.end(); err != nil {
		return err
	}
	if kind := text(p.kind); kind != kindList {
		return wrongKind(kind, kindList, text(p.message))
	}
	if !p.items {
		return errors.New("answer is a list without items")
	}
	return list.readMetadata(p.metadata)
}

// page is a list on its way.
type page struct {
	*answer
	item                    func(*VMI) bool
	items                   bool
	count                   int
	kind, message, metadata json.RawMessage
}

// members reads the members of a list whose brace has been read.
func (p *page) members() error {
	for first := true; !p.take('}'); first = false {
		if !first && !p.take(',') || p.next() != '"' {
			return p.invalid(nil)
		}
		quoted, err := p.value(nil)
		if err != nil {
			return err
		}
		name := unquote(quoted)
		if !p.take(':') {
			return p.invalid(nil)
		}
		if name == "items" {
			err = p.readItems()
		} else {
			err = p.member(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *page) member(name string) error {
	value, err := p.value(nil)
	switch name {
	case "kind":
		p.kind = bytes.Clone(value)
	case "metadata":
		p.metadata = bytes.Clone(value)
	case "message": // of a Status
		p.message = bytes.Clone(value)
	}
	return err
}

// readItems reads the value of the member items. null is what Go servers write for
// a list that they have never put anything into.
func (p *page) readItems() error {
	if p.items {
		return errors.New("answer has its items twice")
	}
	p.items = true
	if !p.take('[') {
		value, err := p.value(nil)
		if err == nil && string(value) != "null" {
			err = errors.New("answer has items that are no array")
		}
		return err
	}
	for first := true; !p.take(']'); first = false {
		if !first && !p.take(',') {
			return p.invalid(nil)
		}
		var found head
		value, err := p.value(&found)
		if err != nil {
			return err
		}
		vm := newVMI(bytes.Clone(value), found)
		vm.index = p.count
		p.count++
		if !p.item(vm) {
			return errStopped
		}
	}
	return nil
}

// readMetadata fails the list, as without it the next page cannot be asked for.
func (l *List) readMetadata(raw json.RawMessage) error {
	var meta vmi.ListMeta
	if len(raw) > 0 {
		if bad := decodeView(raw, &meta); bad != nil {
			return fmt.Errorf("answer has an unreadable /metadata%s: %w", bad.pointer, bad.err)
		}
	}
	l.ResourceVersion, l.Continue, l.RemainingItemCount = meta.ResourceVersion, meta.Continue, meta.RemainingItemCount
	return nil
}
