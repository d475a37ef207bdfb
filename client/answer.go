package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"

	"github.com/vmikit/vmikit/gen/vmi"
)

const (
	kindVMI  = "VirtualMachineInstance"
	kindList = "VirtualMachineInstanceList"
)

// answer is the body of a 200. It is read as a stream, so that a list is never in
// memory both as a whole and as its items.
//
// Whether it is what was asked for goes by its kind alone. The apiVersion is not
// judged: the path has chosen it already, and gateways have rewritten it.
type answer struct {
	from        io.Reader
	contentType string
	failed      error // of the connection, as opposed to what came over it
}

// Read notes an error of the connection on its way to the JSON decoder, which
// would otherwise report it as one of the text.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.from.Read(p)
	if err != nil && err != io.EOF {
		a.failed = err
	}
	return n, err
}

// object reads the body as one machine. The ItemError is that of decodeVMI; the
// other error means that the body is no machine.
func (a *answer) object() (*VMI, *ItemError, error) {
	dec := json.NewDecoder(a)
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return nil, nil, a.notJSON(err)
	}
	if err := a.end(dec); err != nil {
		return nil, nil, err
	}
	vm, bad := decodeVMI(raw)
	if vm.Kind != kindVMI {
		status, _ := parseStatus(raw)
		return nil, nil, wrongKind(vm.Kind, kindVMI, status.Message)
	}
	return vm, bad, nil
}

// list reads the body as a list, item by item, in whatever order its members come.
func (a *answer) list() (*List, error) {
	dec := json.NewDecoder(a)
	open, err := dec.Token()
	if err != nil {
		return nil, a.notJSON(err)
	}
	if open != json.Delim('{') {
		return nil, fmt.Errorf("answer is no JSON object, not a %s", kindList)
	}
	list := &List{}
	var kind, message, metadata json.RawMessage
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, a.brokenJSON(err)
		}
		switch name {
		case "kind":
			err = dec.Decode(&kind)
		case "metadata":
			err = dec.Decode(&metadata)
		case "message": // of a Status
			err = dec.Decode(&message)
		case "items":
			err = list.readItems(dec)
		default:
			var other json.RawMessage
			err = dec.Decode(&other)
		}
		if err != nil {
			return nil, a.brokenJSON(err)
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return nil, a.brokenJSON(err)
	}
	if err := a.end(dec); err != nil {
		return nil, err
	}
	if text(kind) != kindList {
		return nil, wrongKind(text(kind), kindList, text(message))
	}
	if list.Items == nil {
		return nil, errors.New("answer is a list without items")
	}
	return list, list.readMetadata(metadata)
}

// readItems reads the value of the member items. null is what Go servers write for
// a list that they have never put anything into.
func (l *List) readItems(dec *json.Decoder) error {
	if l.Items != nil {
		return errors.New("answer has its items twice")
	}
	l.Items = []*VMI{}
	open, err := dec.Token()
	if err != nil || open == nil {
		return err
	}
	if open != json.Delim('[') {
		return errors.New("answer has items that are no array")
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		vm, bad := decodeVMI(raw)
		if bad != nil {
			bad.Index = len(l.Items)
			l.Failed = append(l.Failed, bad)
		}
		l.Items = append(l.Items, vm)
	}
	_, err = dec.Token()
	return err
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

// end checks that nothing follows the value that was read.
func (a *answer) end(dec *json.Decoder) error {
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("answer has something after its JSON")
	}
	return nil
}

// notJSON is for a body whose very first value could not be read.
func (a *answer) notJSON(err error) error {
	if err == io.EOF {
		return errors.New("answer is empty")
	}
	if mediaType, _, _ := mime.ParseMediaType(a.contentType); mediaType != "" && mediaType != "application/json" {
		return fmt.Errorf("answer is not JSON but %s", oneLine(mediaType, 80))
	}
	return a.brokenJSON(err)
}

func (a *answer) brokenJSON(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return errors.New("answer breaks off in the middle of its JSON")
	case errors.As(err, &syntax):
		return fmt.Errorf("answer is not JSON: %w", err)
	}
	return err
}

// wrongKind says what a body is instead of the wanted kind. Servers that put a
// failure into a 200 are told apart by what their Status says.
func wrongKind(kind, want, message string) error {
	switch {
	case kind == "":
		return fmt.Errorf("answer has no kind, it is not a %s", want)
	case message != "":
		return fmt.Errorf("answer is a %s, not a %s: %s", oneLine(kind, 80), want, oneLine(message, maxErrorText))
	}
	return fmt.Errorf("answer is a %s, not a %s", oneLine(kind, 80), want)
}

// text is the string that raw holds, empty when it holds none.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}
