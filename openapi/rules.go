package openapi

import "slices"

// Rule is the name of a rule that is no keyword of JSON Schema, and what it says.
type Rule struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Names of the rules that are no keyword of JSON Schema.
const (
	RuleJSONSyntax        = "json-syntax"
	RuleJSONDepth         = "json-depth"
	RuleJSONByteOrderMark = "json-byte-order-mark"
	RuleJSONInvalidUTF8   = "json-invalid-utf8"
	RuleJSONSecondValue   = "json-second-value"
	RuleJSONTrailingData  = "json-trailing-data"
	RuleJSONDuplicateKey  = "json-duplicate-key"
	RuleJSONKeyCase       = "json-key-case"
	RuleJSONIntegerForm   = "json-integer-form"
	RuleJSONIntegerRange  = "json-integer-range"
	RuleJSONNumberRange   = "json-number-range"
	RuleUnknownField      = "unknown-field"
	RuleObjectName        = "object-name"
	RuleUndeclaredStatus  = "undeclared-status"
	RuleContentType       = "content-type"
	RuleStatusCode        = "status-code"
	RuleStoredName        = "kubernetes-name"
	RuleStoredLabel       = "kubernetes-label"
	RuleTooManyIssues     = "too-many-issues"
	RuleUnjudged          = "unjudged"
)

var rules = []Rule{
	{RuleJSONSyntax, "the text must be JSON (RFC 8259)"},
	{RuleJSONDepth, "arrays and objects must not be nested more than 1,000 deep"},
	{RuleJSONByteOrderMark, "the text must not begin with a byte order mark (RFC 8259, section 8.1)"},
	{RuleJSONInvalidUTF8, "strings must be UTF-8 with no half of a surrogate pair (RFC 8259, sections 8.1 and 8.2)"},
	{RuleJSONSecondValue, "there must be one JSON value, not several"},
	{RuleJSONTrailingData, "nothing but white space may follow the JSON value"},
	{RuleJSONDuplicateKey, "an object must not have a key twice; readers disagree about which one counts"},
	{RuleJSONKeyCase, "a key must not differ from a declared one only by case; Go reads both as the same field"},
	{RuleJSONIntegerForm, "an integer must be written as one, not as 1.0 or 1e3; Go does not read those into an integer"},
	{RuleJSONIntegerRange, "an integer must fit into 64 bits; readers lose the digits of a larger one"},
	{RuleJSONNumberRange, "a number must fit into a double; readers fail on a larger one"},
	{RuleUnknownField, "a field must be named by the document or by KubeVirt's definition of the resource (strict validation only)"},
	{RuleObjectName, "an object that a server answers with must have a name (Kubernetes convention)"},
	{RuleUndeclaredStatus, "the status code of an answer must be one that the operation declares"},
	{RuleContentType, "the Content-Type of an answer must be one that the operation declares for the status code"},
	{RuleStatusCode, "the code in the Status of an error must be the status code of the answer (Kubernetes convention)"},
	{RuleStoredName, "an object that a server stores must have the name and namespace of one (RFC 1123; the server, not the document, asks for it)"},
	{RuleStoredLabel, "a label of an object that a server stores must have a name without NUL (the server, not the document, asks for it)"},
	{RuleTooManyIssues, "there were more issues than are told"},
	{RuleUnjudged, "the engine must be able to judge the value; this is a fault of the validator"},
}

// Rules returns the rules that are no keyword of JSON Schema, by which issues
// can be told apart beside the keywords.
func Rules() []Rule { return slices.Clone(rules) }
