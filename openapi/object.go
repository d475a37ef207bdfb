package openapi

// ObjectOption changes how ValidateObject judges.
type ObjectOption func(*objectConfig)

type objectConfig struct {
	strict bool
	kind   string
}

// Strict also reports fields that neither the document nor KubeVirt's definition
// of the resource names, under the rule unknown-field. By default they pass,
// since objects are open. It costs nothing.
func Strict() ObjectOption {
	return func(c *objectConfig) { c.strict = true }
}

// OfKind judges the object as one of another kind that the document has: Event,
// Lease. [Strict] knows no fields of those.
func OfKind(kind string) ObjectOption {
	return func(c *objectConfig) { c.kind = kind }
}

// ValidateObject returns every rule that one VirtualMachineInstance (or see
// [OfKind]), given as JSON, breaks; nil when it breaks none. A text that is not JSON has one issue
// for that, and others only for what stands before the fault.
//
// It asks what the document asks of an object wherever it stands, a manifest
// included: a name, for one, is asked for only by answers (see ValidateResponse).
// Integers written as 1.0 or 1e3 are refused under a rule of their own,
// json-integer-form, for callers that want to let others write so.
func (d *Document) ValidateObject(data []byte, opts ...ObjectOption) Issues {
	var c objectConfig
	for _, opt := range opts {
		opt(&c)
	}
	k, issues := d.kind(c.kind)
	if issues != nil {
		return issues
	}
	return judge(data, k.forms[FormItem], c.strict, nil)
}
