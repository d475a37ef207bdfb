package contract

// opaque is a parameter whose type says too little about what is right.
type opaque struct {
	// list and read are the values that it is asked with.
	list, read []string
	// refusable says that a list with it may be refused.
	refusable bool
	// plain are the values with which a list has the objects that it has without,
	// unlimited those with which it may have more than the limit.
	plain, unlimited []string
	reason           string
}

// opaques are what real API servers show. The values leave out what would harm or
// hold up a target.
var opaques = map[string]opaque{
	"continue": {
		list: []string{"x", "", "0", "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ"}, plain: []string{""}, refusable: true,
		reason: "only the target knows which tokens it made; others it refuses",
	},
	"resourceVersion": {
		list: []string{"0", "0", "0", "", "1", "x", "-1"}, plain: []string{"", "0"}, unlimited: []string{"0"}, refusable: true,
		read:   []string{"", "0", "1"},
		reason: "1 with a limit is status 410 once history is compacted; one of the future waits three seconds, and text is status 500 when an object is read, so neither is asked",
	},
	"resourceVersionMatch": {
		list: []string{"", "Exact", "NotOlderThan", "x"}, plain: []string{"", "Exact", "NotOlderThan", "x"}, refusable: true,
		reason: "status 422 without a resourceVersion",
	},
	"sendInitialEvents": {
		list: []string{"", "true", "false"}, plain: []string{"", "true", "false"}, refusable: true,
		reason: "status 422 for lists",
	},
	"watch": {
		list: []string{"false", "0"}, plain: []string{"false", "0"},
		reason: "any other value holds the connection open",
	},
	"includeObject": {
		list: []string{"", "None", "Object", "x"}, plain: []string{"", "None", "Object", "x"},
		read:   []string{"", "None", "Object", "x"},
		reason: "counts for tables only",
	},
}
