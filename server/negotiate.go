package server

import (
	"cmp"
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

const (
	mediaJSON       = "application/json"
	mediaYAML       = "application/yaml"
	mediaAggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// wanted is the form that an answer was negotiated to have.
type wanted struct {
	form openapi.Form
	// metaVersion is the version of meta.k8s.io for tables and partial objects.
	metaVersion string
	// yaml is set when it is wanted in YAML.
	yaml bool
}

// mediaRange is one entry of an Accept header.
type mediaRange struct {
	name   string // e.g. application/json, with wild cards
	params map[string]string
	q      float64
}

// parseAccept returns the entries by falling preference, of equals those with wild
// cards last. What cannot be read is left out, so that a header of nothing but
// nonsense accepts nothing.
func parseAccept(header string) []mediaRange {
	var ranges []mediaRange
	for entry := range strings.SplitSeq(header, ",") {
		entry = strings.TrimSpace(entry)
		name, _, _ := strings.Cut(entry, ";")
		// ParseMediaType folds case; Kubernetes compares media types as they are.
		name = strings.TrimSpace(name)
		_, params, err := mime.ParseMediaType(entry)
		if err != nil || !strings.Contains(name, "/") {
			continue
		}
		r := mediaRange{name: name, params: params, q: 1}
		if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
			r.q = q
		}
		if r.q > 0 {
			ranges = append(ranges, r)
		}
	}
	slices.SortStableFunc(ranges, func(a, b mediaRange) int {
		return cmp.Or(cmp.Compare(b.q, a.q), cmp.Compare(strings.Count(a.name, "*"), strings.Count(b.name, "*")))
	})
	return ranges
}

func (r mediaRange) takesJSON() bool {
	return r.name == mediaJSON || r.name == "application/*" || r.name == "*/*"
}

func (r mediaRange) takesYAML() bool { return r.name == mediaYAML }

// asksAggregated reports whether the entry asks for the aggregated form of discovery.
func (r mediaRange) asksAggregated() bool {
	return r.params["as"] == "APIGroupDiscoveryList" && r.params["g"] == "apidiscovery.k8s.io" && r.params["v"] == "v2"
}

// negotiate chooses the form of a list or an object.
func negotiate(accept string, list bool) (wanted, error) {
	plain := wanted{form: openapi.FormItem}
	if list {
		plain.form = openapi.FormList
	}
	if strings.TrimSpace(accept) == "" {
		return plain, nil
	}
	for _, r := range parseAccept(accept) {
		if !r.takesJSON() && !r.takesYAML() {
			continue
		}
		as, ok := r.params["as"]
		if !ok {
			plain.yaml = r.takesYAML()
			return plain, nil
		}
		if w, ok := transformed(as, r.params); ok {
			w.yaml = r.takesYAML()
			return w, checkPartial(w, list)
		}
	}
	return wanted{}, notAcceptable(mediaJSON, mediaYAML)
}

// negotiateWatch chooses the form of the objects of a watch, of which each event has
// one. YAML has no form for a stream of events.
func negotiateWatch(accept string) (wanted, error) {
	w, err := negotiate(accept, false)
	if err == nil && w.yaml {
		err = notAcceptable(mediaJSON + ";stream=watch")
	}
	return w, err
}

// transformed reads the as, g and v parameters of meta.k8s.io.
func transformed(as string, params map[string]string) (wanted, bool) {
	v := params["v"]
	if params["g"] != "meta.k8s.io" || (v != "v1" && v != "v1beta1") {
		return wanted{}, false
	}
	forms := map[string]openapi.Form{
		"Table":                     openapi.FormTable,
		"PartialObjectMetadata":     openapi.FormPartialObject,
		"PartialObjectMetadataList": openapi.FormPartialObjectList,
	}
	form, ok := forms[as]
	return wanted{form: form, metaVersion: "meta.k8s.io/" + v}, ok
}

// checkPartial refuses the metadata of one object for a list, and the other way round.
func checkPartial(w wanted, list bool) error {
	var message string
	switch {
	case w.form == openapi.FormPartialObject && list:
		message = "you requested PartialObjectMetadata, but the requested object is a list (*unstructured.UnstructuredList)"
	case w.form == openapi.FormPartialObjectList && !list:
		message = "you requested PartialObjectMetadataList, but the requested object is not a list (*unstructured.Unstructured)"
	default:
		return nil
	}
	e := notAcceptable()
	e.status.Message = message
	return e
}

// acceptsAggregated reports whether discovery is wanted in the aggregated form.
// plain is false when nothing else would do.
func acceptsAggregated(accept string) (aggregated bool, err error) {
	if strings.TrimSpace(accept) == "" {
		return false, nil
	}
	for _, r := range parseAccept(accept) {
		if !r.takesJSON() && !r.takesYAML() {
			continue
		}
		_, as := r.params["as"]
		switch {
		case !as:
			return false, nil
		case r.asksAggregated():
			return true, nil
		}
	}
	return false, notAcceptable(mediaJSON, mediaYAML)
}

// acceptsJSON is the negotiation of what has one form only, in JSON or in the YAML
// that is made of it.
func acceptsJSON(accept string) error {
	return acceptsOne(accept, mediaJSON, mediaYAML)
}

// acceptsOnlyJSON is the negotiation of what is sent byte for byte.
func acceptsOnlyJSON(accept string) error {
	return acceptsOne(accept, mediaJSON)
}

func acceptsOne(accept string, media ...string) error {
	if strings.TrimSpace(accept) == "" {
		return nil
	}
	for _, r := range parseAccept(accept) {
		if _, as := r.params["as"]; !as && (r.takesJSON() || slices.Contains(media, r.name)) {
			return nil
		}
	}
	return notAcceptable(media...)
}
