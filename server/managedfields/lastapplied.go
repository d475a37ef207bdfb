package managedfields

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

const (
	// kubectl is the manager of kubectl apply --server-side. It alone takes over
	// what kubectl apply did without that flag.
	kubectl = "kubectl"
	// lastApplied is the annotation by which kubectl apply knows what it applied.
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	// maxAnnotations is how large all annotations may be together, in bytes.
	maxAnnotations = 256 << 10
)

// applyBy applies for any manager. For kubectl it looks after the annotation of
// its other way to apply: fields that still are as the annotation has them are no
// conflicts, and the annotation follows what is applied.
func (s *Schema) applyBy(w Write, es entries, before, patch *value, force bool) (value, entries, error) {
	after, applied, err := s.apply(w, es, before, patch, force)
	if w.Manager != kubectl {
		return after, applied, err
	}
	var conflicts Conflicts
	if errors.As(err, &conflicts) {
		if conflicts = s.besidesLastApplied(conflicts, before, w.APIVersion); len(conflicts) > 0 {
			return value{}, nil, conflicts
		}
		after, applied, err = s.apply(w, es, before, patch, true)
	}
	if err != nil {
		return value{}, nil, err
	}
	return withLastApplied(after, patch), applied, nil
}

// besidesLastApplied are the conflicts about fields that are not as the annotation
// of live has them.
func (s *Schema) besidesLastApplied(conflicts Conflicts, live *value, apiVersion string) Conflicts {
	last, err := parseString(live.get("metadata").get("annotations").getText(lastApplied))
	if err != nil || last.getText("apiVersion") != apiVersion || last.getText("kind") != s.kind ||
		s.root.validate(&last, "", false) != nil || s.root.validate(live, "", false) != nil {
		return conflicts
	}
	c := s.root.compare(&last, live)
	allowed := map[string]bool{}
	s.root.fieldsOf(&last).difference(c.changed()).paths("", func(path string) { allowed[path] = true })
	return slices.DeleteFunc(slices.Clone(conflicts), func(c Conflict) bool { return allowed[c.Field] })
}

// withLastApplied brings the annotation up to date where there is one. One that
// would be too large goes.
func withLastApplied(v value, patch *value) value {
	meta := v.get("metadata")
	annotations := meta.get("annotations")
	if annotations.getText(lastApplied) == "" {
		return v
	}
	config := *patch
	if own := patch.get("metadata"); own.get("annotations") != nil {
		if without := own.get("annotations").without(lastApplied); without.kind == null {
			config = config.with("metadata", own.without("annotations"))
		} else {
			config = config.with("metadata", own.with("annotations", without))
		}
	}
	var buf bytes.Buffer
	json.HTMLEscape(&buf, config.appendJSON(nil))
	buf.WriteByte('\n')
	with := annotations.with(lastApplied, textValue(buf.String()))
	size := 0
	for i := range with.members {
		size += len(with.members[i].name) + len(with.members[i].value.text)
	}
	if size > maxAnnotations {
		with = with.without(lastApplied)
	}
	return v.with("metadata", meta.with("annotations", with))
}
