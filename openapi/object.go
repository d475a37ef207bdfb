package openapi

// ObjectOption changes how ValidateObject judges.
type ObjectOption func(*objectConfig)

type objectConfig struct {
	strict bool
}

// Strict also reports fields that neither the document nor KubeVirt's definition
// of the resource names, under the rule unknown-field. By default they pass,
// since objects are open. It costs nothing.
func Strict() ObjectOption {
	return func(c *objectConfig) { c.strict = true }
}

// ValidateObject returns every rule that one VirtualMachineInstance, given as
// JSON, breaks; nil when it breaks none. A text that is not JSON has one issue
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
	return judge(data, d.object, c.strict, nil)
}
