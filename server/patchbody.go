package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/vmikit/vmikit/gen/vmi"
)

// change makes the next object of one.
type change func(object []byte) ([]byte, error)

// readPatch reads a patch by its media type, and how far it goes. What is to be said of
// its fields is left to be judged with those of the object that it makes.
func (s *server) readPatch(x *exchange, w *write) (change, *reach, error) {
	media := mediaOf(x)
	accepted := []string{mediaJSONPatch, mediaMergePatch, mediaApply}
	if x.resource.native {
		accepted = slices.Insert(accepted, 2, mediaStrategic)
	}
	if !slices.Contains(accepted, media) {
		return nil, nil, unsupportedMedia(accepted...)
	}
	raw, err := s.readBody(x)
	if err != nil {
		return nil, nil, err
	}
	if w.patchFields, err = scanPatch(raw, media == mediaJSONPatch); err != nil {
		return nil, nil, badRequest("error decoding patch: " + err.Error())
	}
	if media == mediaJSONPatch {
		return readJSONPatch(raw)
	}
	if first := bytes.TrimLeft(raw, " \t\r\n"); first[0] != '{' {
		return nil, nil, badRequest("error decoding patch: a merge patch is a JSON object")
	}
	if media == mediaStrategic {
		next, err := strategicMerge(raw)
		return next, nil, err
	}
	return func(object []byte) ([]byte, error) { return jsonpatch.MergePatch(object, raw) }, reachOfMerge(raw), nil
}

// readJSONPatch reads a JSON patch, which is well-formed JSON.
func readJSONPatch(raw []byte) (change, *reach, error) {
	var ops jsonpatch.Patch
	if err := json.Unmarshal(raw, &ops); err != nil || slices.ContainsFunc(ops, misshapen) {
		return nil, nil, badRequest("error decoding patch: a JSON patch is an array of operations")
	}
	if len(ops) > maxPatchOps {
		return nil, nil, failure(http.StatusRequestEntityTooLarge, "RequestEntityTooLarge",
			fmt.Sprintf("The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOps, len(ops)))
	}
	for _, op := range ops {
		likeKubernetes(op)
	}
	options := jsonpatch.NewApplyOptions()
	options.AccumulatedCopySizeLimit = maxPatchCopies
	return func(object []byte) ([]byte, error) { return ops.ApplyWithOptions(object, options) }, reachOfPatch(ops), nil
}

// misshapen reports whether an operation has something else where texts belong.
func misshapen(op jsonpatch.Operation) bool {
	for _, name := range []string{"op", "path", "from"} {
		if v := op[name]; v != nil && (*v)[0] != '"' {
			return true
		}
	}
	return false
}

// likeKubernetes gives an operation the meaning that it has for a Kubernetes API server,
// where RFC 6902 has none: one that lacks its value has null, and a member that is not
// there can be replaced.
func likeKubernetes(op jsonpatch.Operation) {
	kind := op.Kind()
	if kind != "add" && kind != "replace" {
		return
	}
	if _, ok := op["value"]; !ok {
		op["value"] = nil
	}
	path, err := op.Path()
	if err != nil || kind == "add" {
		return
	}
	// What may be the place of an item stays: to add one moves the others.
	if at := strings.LastIndexByte(path, '/'); at >= 0 && strings.Trim(path[at+1:], "-0123456789") != "" {
		add := json.RawMessage(`"add"`)
		op["op"] = &add
	}
}

// errPatch is all that a Kubernetes API server says of a patch that does not fit.
// Which operation it was the library says in words that have values in them.
func errPatch() error {
	return failure(http.StatusUnprocessableEntity, "Invalid", "the server rejected our request due to an error in our request")
}

// refusedPatch says why what a patch leaves cannot be read as an object. A Kubernetes
// API server puts all of that beside it.
func refusedPatch(why string) error {
	causes := []vmi.StatusCause{invalidField("patch", "{…}", why)}
	return failure(http.StatusUnprocessableEntity, "Invalid", ` "" is invalid: `+joinCauses(causes)).details(vmi.StatusDetails{Causes: causes})
}

// maxPatchFields is how many fields of a patch are told of at most.
const maxPatchFields = maxWarnings

// place is where a scan of a patch is: in an object or an array, and at which member or
// item of it.
type place struct {
	names map[string]bool // nil for an array
	at    string
	items int
	// value is set when the next token is the value of a member.
	value bool
}

// scanPatch refuses what is no JSON, and what is nested deeper than anything that could
// be stored: both without a word of what it has in it. It returns which fields are there
// twice, and in operations of a JSON patch those that there are not.
func scanPatch(raw []byte, operations bool) (fields []string, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var places []place
	for {
		token, err := dec.Token()
		if err != nil {
			return nil, errNotJSON
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			places = places[:len(places)-1]
		} else {
			if in := len(places) - 1; in >= 0 {
				if told := places[in].step(token, operations && in == 1); told != "" && len(fields) < maxPatchFields {
					fields = append(fields, tellPatchField(places, told, operations))
				}
			}
			if delim, ok := token.(json.Delim); ok {
				p := place{}
				if delim == '{' {
					p.names = make(map[string]bool)
				}
				if places = append(places, p); len(places) > maxPatchDepth {
					return nil, fmt.Errorf("it is nested more than %d deep", maxPatchDepth)
				}
			}
		}
		if len(places) == 0 {
			if _, err := dec.Token(); !errors.Is(err, io.EOF) {
				return nil, errNotJSON
			}
			return fields, nil
		}
	}
}

// step goes on by a token that closes nothing, and returns what is to be told of it.
func (p *place) step(token json.Token, operation bool) (told string) {
	switch {
	case p.names == nil:
		p.at = strconv.Itoa(p.items)
		p.items++
	case p.value:
		p.value = false
	default:
		p.at, _ = token.(string)
		p.value = true
		switch known := p.names[p.at]; {
		case known:
			told = "duplicate field"
		case operation && !slices.Contains([]string{"op", "path", "from", "value"}, p.at):
			told = "unknown field"
		}
		p.names[p.at] = true
	}
	return told
}

// tellPatchField is a field as a Kubernetes API server tells of it.
func tellPatchField(places []place, told string, operations bool) string {
	var b strings.Builder
	for _, p := range places {
		b.WriteString("/" + escapeStep.Replace(p.at))
	}
	path := fieldPath(b.String())
	if operations {
		told = "json patch " + told
		if first, rest, _ := strings.Cut(path, "."); rest != "" {
			path = "[" + first + "]." + rest
		}
	}
	return fmt.Sprintf("%s %q", told, path)
}

// escapeStep writes a step of a JSON pointer (RFC 6901).
var escapeStep = strings.NewReplacer("~", "~0", "/", "~1")
