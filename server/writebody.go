package server

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/internal/kubeproto"
	"github.com/vmikit/vmikit/manifest"
	"github.com/vmikit/vmikit/openapi"
)

// readBody is the body of a write that has come whole.
func (s *server) readBody(x *exchange) ([]byte, error) {
	switch {
	case int64(len(x.body)) > s.maxBody:
		return nil, entityTooLarge(s.maxBody)
	case errors.Is(x.bodyErr, io.ErrUnexpectedEOF):
		return nil, badRequest("the body of the request ends before its length")
	case x.bodyErr != nil:
		return nil, badRequest("the body of the request cannot be read: " + x.bodyErr.Error())
	}
	return x.body, nil
}

// mediaOf is the media type of a body, without parameters.
func mediaOf(x *exchange) string {
	header := x.r.Header.Get("Content-Type")
	media, _, err := mime.ParseMediaType(header)
	if err != nil {
		return header
	}
	return media
}

func unsupportedMedia(accepted ...string) *statusError {
	return failure(http.StatusUnsupportedMediaType, "UnsupportedMediaType",
		"the body of the request was in an unknown format - accepted media types include: "+strings.Join(accepted, ", "))
}

// readObject reads a whole object, of POST and PUT.
func (s *server) readObject(x *exchange) (raw []byte, object map[string]any, err error) {
	r := x.resource
	accepted := []string{mediaJSON, mediaYAML}
	if r.native {
		accepted = append(accepted, kubeproto.MediaType)
	}
	media := mediaOf(x)
	if media != "" && !slices.Contains(accepted, media) {
		return nil, nil, unsupportedMedia(accepted...)
	}
	if raw, err = s.readBody(x); err != nil {
		return nil, nil, err
	}
	switch media {
	case mediaYAML:
		raw, err = fromYAML(raw)
	case kubeproto.MediaType:
		raw, err = fromProtobuf(raw, kubeproto.TypeMeta{APIVersion: r.apiVersion(), Kind: r.kind()})
	}
	if err != nil {
		return nil, nil, err
	}
	if object, err = decodeObject(raw); err != nil {
		return nil, nil, badRequest("the object provided is unrecognized (must be of type " + x.resource.kind() + "): couldn't get version/kind; json parse error: " + err.Error())
	}
	if r.native && completeKind(object, r) {
		raw = canonical(object)
	}
	if err := r.checkKind(object); err != nil {
		return nil, nil, err
	}
	if why := unreadableMeta(object); why != "" {
		return nil, nil, r.undecodable(why)
	}
	metaWithoutNulls(object)
	r.inStore(object)
	return raw, object, nil
}

// unreadableMeta is why metadata cannot be read so far that it says which object it is of,
// "" if it can. In YAML a name such as y or 123 is no text.
func unreadableMeta(object map[string]any) string {
	meta, ok := object[metadataMember].(map[string]any)
	if !ok && object[metadataMember] != nil {
		return "metadata must be an object"
	}
	if _, ok := meta["name"].(string); !ok && meta["name"] != nil {
		return "metadata.name must be a string"
	}
	return ""
}

// fromYAML is the first object of a text in YAML, or in JSON, as JSON: as in a cluster
// what follows it does not count.
func fromYAML(raw []byte) ([]byte, error) {
	for object, err := range manifest.Read("body", bytes.NewReader(raw), manifest.WithWholeLists()) {
		if err != nil {
			return nil, badRequest("error converting YAML to JSON: " + err.Error())
		}
		return object.JSON, nil
	}
	return nil, badRequest("error converting YAML to JSON: there is no object")
}

// fromProtobuf is the object in a protobuf body as JSON.
func fromProtobuf(raw []byte, as kubeproto.TypeMeta) ([]byte, error) {
	object, err := kubeproto.Decode(raw, as)
	if err != nil {
		return nil, badRequest(err.Error())
	}
	return object, nil
}

var errNoObject = errors.New("it is no JSON object")

// decodeObject returns the members of an object. Its errors say nothing of what the
// text has in it.
func decodeObject(raw []byte) (map[string]any, error) {
	v, err := readTree(raw)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errNoObject
	}
	return object, nil
}

// completeKind gives an object the kind and version that it does not name, and reports
// whether it lacked one. Of its own kinds Kubernetes knows what the path is for, and many
// clients (Python's and JavaScript's) send them so.
func completeKind(object map[string]any, r *resource) bool {
	lacked := false
	for name, is := range map[string]string{"apiVersion": r.apiVersion(), "kind": r.kind()} {
		if v := object[name]; v == nil || v == "" {
			object[name], lacked = is, true
		}
	}
	return lacked
}

// checkKind refuses what is another kind of object, in the words of a Kubernetes API
// server.
func (r *resource) checkKind(object map[string]any) error {
	if is := text(object, "kind"); is == "" {
		return badRequest("Object 'Kind' is missing in the body of the request")
	} else if is != r.kind() {
		name := text(asObject(object["metadata"]), "name")
		return failure(http.StatusUnprocessableEntity, "Invalid",
			fmt.Sprintf("%s %s is invalid: kind: Invalid value: %s: must be %s", qualified(shown(is), r.group), quote(name), quote(is), r.kind())).
			details(vmi.StatusDetails{Name: name, Group: r.group, Kind: shown(is), Causes: []vmi.StatusCause{{
				Reason: "FieldValueInvalid", Field: "kind", Message: fmt.Sprintf("Invalid value: %s: must be %s", quote(is), r.kind()),
			}}})
	}
	if is := text(object, "apiVersion"); is != r.apiVersion() {
		return badRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", shown(is), r.apiVersion()))
	}
	return nil
}

// shown is text of a client in a message, without quotes.
func shown(text string) string { q := quote(text); return q[1 : len(q)-1] }

func asObject(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// judge holds an object against the profile, and its fields against those that
// somebody has named. What is found of the latter is a warning or an error, as the
// client wants it. The object is what stands in raw, and loses its nulls and the members
// that are another one but for their case.
func (s *server) judge(x *exchange, name string, raw []byte, object map[string]any, mode fieldValidation) error {
	issues := s.inspect(x, raw)
	if err := judgeFields(x, fieldsOf(issues), mode, x.resource.undecodable); err != nil {
		return err
	}
	return s.judgeValues(x, name, raw, object, issues)
}

// judgeValues refuses what is wrong with an object beside its fields.
func (s *server) judgeValues(x *exchange, name string, raw []byte, object map[string]any, issues openapi.Issues) error {
	for range maxRounds {
		if !withoutOtherCases(object, issues) {
			break
		}
		raw = canonical(object)
		issues = s.inspect(x, raw)
	}
	if bytes.Contains(raw, []byte("null")) {
		issues = withoutNulls(object, issues, func() openapi.Issues { return s.inspect(x, canonical(object)) })
	}
	return s.judgeRules(x, name, issues)
}

// inspect returns what is to be said of an object, unknown fields included where
// somebody has a list of the known ones.
func (s *server) inspect(x *exchange, raw []byte) openapi.Issues {
	if x.resource.is(s.machines) {
		issues := s.doc.ValidateObject(raw, openapi.Strict())
		if x.resource.storedAs != "" {
			// checkKind has looked at it; the document knows the version that is stored.
			issues = slices.DeleteFunc(issues, func(i openapi.Issue) bool { return i.Pointer == "/apiVersion" && i.Rule == "enum" })
		}
		return issues
	}
	return s.doc.ValidateObject(raw, openapi.OfKind(x.resource.kind()))
}

// fieldsOf is what issues say of fields that nobody has named, or that are there twice.
func fieldsOf(issues openapi.Issues) []string {
	var fields []string
	for _, issue := range issues {
		switch issue.Rule {
		case openapi.RuleUnknownField, openapi.RuleJSONKeyCase:
			fields = append(fields, fmt.Sprintf("unknown field %q", fieldPath(issue.Pointer)))
		case openapi.RuleJSONDuplicateKey:
			fields = append(fields, fmt.Sprintf("duplicate field %q", fieldPath(issue.Pointer)))
		}
	}
	slices.SortStableFunc(fields, inOrder)
	return fields
}

// judgeFields tells of fields, or refuses them, as the client wants it.
func judgeFields(x *exchange, fields []string, mode fieldValidation, refuse func(why string) error) error {
	switch {
	case len(fields) == 0, mode == validateIgnore:
	case mode == validateStrict:
		return refuse("strict decoding error: " + strings.Join(fields, ", "))
	default:
		for _, f := range fields {
			x.warn(f)
		}
	}
	return nil
}

// undecodable refuses what cannot be read as an object of the kind.
func (r *resource) undecodable(why string) error {
	return badRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %s", r.kind(), r.version, r.kind(), why))
}

// inOrder is the order in which a Kubernetes API server tells of fields: those that are
// there twice, those of the metadata, and the rest by name.
func inOrder(a, b string) int {
	const metadata = `unknown field "metadata.`
	rank := func(s string) int {
		switch {
		case strings.HasPrefix(s, "duplicate"):
			return 0
		case strings.HasPrefix(s, metadata):
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
}

// ofFields reports whether an issue is of those that judgeFields tells.
func ofFields(i openapi.Issue) bool {
	return i.Rule == openapi.RuleUnknownField || i.Rule == openapi.RuleJSONKeyCase || i.Rule == openapi.RuleJSONDuplicateKey
}

// judgeRules refuses what breaks the profile. A name in another case that is still there
// could not be dropped.
func (s *server) judgeRules(x *exchange, name string, issues openapi.Issues) error {
	var broken openapi.Issues
	for _, issue := range issues {
		if ofFields(issue) && issue.Rule != openapi.RuleJSONKeyCase {
			continue
		}
		if issue.Rule == "enum" && s.enumUnknown == EnumWarn && issue.Pointer != "/kind" && issue.Pointer != "/apiVersion" {
			x.warn(issue.String())
			continue
		}
		broken = append(broken, issue)
	}
	if len(broken) > 0 {
		return x.resource.invalid(name, causesOf(broken))
	}
	return nil
}
