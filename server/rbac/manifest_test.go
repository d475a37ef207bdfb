package rbac_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server/rbac"
)

// What kubectl get -o json and old dumps carry is accepted.
func TestRealManifests(t *testing.T) {
	p := policy(t, `{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{
		"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"},"creationTimestamp":"2026-01-01T00:00:00Z",
		"labels":{"app":"x"},"managedFields":[{"manager":"kubectl","fieldsV1":{"f:rules":{}}}],"name":"Viewer:of VMIs",
		"resourceVersion":"1","uid":"2","selfLink":"/x","generation":1,"ownerReferences":null,"finalizers":[]},
		"rules":[`+readVMI+`]}`,
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding","metadata":{"name":"b","namespace":"vms","creationTimestamp":null},
		"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"Viewer:of VMIs"},"subjects":[
		{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":"jane@example.org"}]}`,
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"none","namespace":"vms"},"rules":null}`,
		`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"none"},"roleRef":{"kind":"ClusterRole","name":"cluster-admin"},"subjects":null}`)
	assert.Empty(t, p.Warnings())
	allowed, _ := p.Authorize(get(func(a *rbac.Attributes) { a.User = "jane@example.org" }))
	assert.True(t, allowed)
}

func TestRefusedManifests(t *testing.T) {
	const subjects = `"subjects":[],`
	roleWith := func(rest string) string { return object("Role", "vms", "r", rest) }
	ruleWith := func(rule string) string { return clusterRole("c", rule) }
	bindingWith := func(rest string) string { return object("RoleBinding", "vms", "b", rest) }
	subject := func(s string) string {
		return bindingWith(`"roleRef":{"kind":"Role","name":"r"},"subjects":[` + s + `]`)
	}
	clusterSubject := func(s string) string { return clusterRoleBinding("b", "c", s) }
	selector := func(s string) string { return aggregated("a", "", s) }
	for _, test := range []struct{ object, want string }{
		// The text
		{``, "object 1: not valid JSON: ends too early"},
		{`[]`, "object 1: not a JSON object"},
		{`null`, "object 1: not a JSON object"},
		{`{"kind":`, "object 1: not valid JSON: ends too early"},
		{`{"kind":"Role"} {}`, "object 1: more than one JSON value"},
		{`{"kind":"Role"}]`, "object 1: more than one JSON value"},
		{"{\"kind\":\"R\xff\"}", "object 1: not valid UTF-8"},
		{"\xef\xbb\xbf{}", "object 1: not valid JSON: invalid character 'ï' looking for beginning of value"},
		{strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200), "object 1: nested deeper than 100 levels"},
		{`{"kind":"Role","kind":"Role"}`, "object 1: kind: duplicate field"},
		{ruleWith(`{"verbs":["get"],"verbs":["*"]}`), "object 1: rules[0].verbs: duplicate field"},

		{`{"x` + strings.Repeat("ä", 90) + `":1,"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"c"}}`,
			`ClusterRole c: "x` + strings.Repeat("ä", 76) + `...": unknown field`},

		// Which object
		{`{}`, "object 1: kind: missing"},
		{`{"kind":"Role"}`, "object 1 Role: apiVersion: missing"},
		{`{"kind":7,"apiVersion":"v1"}`, "object 1: kind: must be a string"},
		{`{"apiVersion":"rbac.authorization.k8s.io/v1beta1","kind":"Role","metadata":{"name":"r","namespace":"vms"}}`,
			`Role vms/r: apiVersion: "rbac.authorization.k8s.io/v1beta1" is not supported, only rbac.authorization.k8s.io/v1`},
		{`{"apiVersion":"authorization.openshift.io/v1","kind":"ClusterRole","metadata":{"name":"c"}}`,
			`ClusterRole c: apiVersion: "authorization.openshift.io/v1" is not supported, only rbac.authorization.k8s.io/v1`},
		{`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Rolebinding","metadata":{"name":"r"}}`,
			`Rolebinding r: kind: "Rolebinding" is not a kind of rbac.authorization.k8s.io/v1`},
		{`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleList","items":[]}`,
			`object 1 RoleList: kind: "RoleList" is not a kind of rbac.authorization.k8s.io/v1`},
		{`{"apiVersion":"v1","kind":"List","items":[]}`, "object 1 List: kind: a List is not an object of a policy; give its items"},

		// metadata
		{object("Role", "vms", "", `"rules":[]`), "object 1 Role vms/: metadata.name: missing"},
		{object("Role", "vms", "a/b", `"rules":[]`), `Role vms/a/b: metadata.name: "a/b" must not be "." or "..", and must not contain "/" or "%"`},
		{object("Role", "vms", "..", `"rules":[]`), `Role vms/..: metadata.name: ".." must not be "." or "..", and must not contain "/" or "%"`},
		{object("Role", "Vms", "r", `"rules":[]`), `Role Vms/r: metadata.namespace: "Vms" is not the name of a namespace`},
		{object("ClusterRole", "vms", "c", `"rules":[]`), "ClusterRole vms/c: metadata.namespace: not allowed, ClusterRoles belong to no namespace"},
		{`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"c","label":{}}}`, "ClusterRole c: metadata.label: unknown field"},
		{`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"c","labels":{"a":1}}}`, "ClusterRole c: metadata.labels.a: must be a string"},
		{`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":[]}`, "object 1 ClusterRole: metadata: must be an object"},
		{`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"a\nb"},"x":1}`, `ClusterRole "a\nb": x: unknown field`},

		// rules
		{roleWith(`"rule":[]`), "Role vms/r: rule: unknown field"},
		{roleWith(`"Rules":[]`), "Role vms/r: Rules: unknown field"},
		{roleWith(`"rules":[],"aggregationRule":{}`), "Role vms/r: aggregationRule: unknown field"},
		{roleWith(`"rules":{}`), "Role vms/r: rules: must be a list"},
		{roleWith(`"rules":["x"]`), "Role vms/r: rules[0]: must be an object"},
		{roleWith(`"rules":[null]`), "Role vms/r: rules[0]: must be an object"},
		{roleWith(`"rules":[` + readVMI + `,{"verbs":["get"],"apiGroups":[""],"resource":["pods"]}]`), "Role vms/r: rules[1].resource: unknown field"},
		{roleWith(`"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]`), "Role vms/r: rules[0].nonResourceURLs: not allowed in a Role, only in a ClusterRole"},
		{ruleWith(`{}`), "ClusterRole c: rules[0].verbs: must have at least one verb"},
		{ruleWith(`{"verbs":"get","apiGroups":[""],"resources":["pods"]}`), "ClusterRole c: rules[0].verbs: must be a list"},
		{ruleWith(`{"verbs":["get",1],"apiGroups":[""],"resources":["pods"]}`), "ClusterRole c: rules[0].verbs[1]: must be a string"},
		{ruleWith(`{"verbs":["get",null],"apiGroups":[""],"resources":["pods"]}`), "ClusterRole c: rules[0].verbs[1]: must be a string"},
		{ruleWith(`{"verbs":["get"],"resources":["pods"]}`), `ClusterRole c: rules[0].apiGroups: must have at least one group ("" is the core group)`},
		{ruleWith(`{"verbs":["get"],"apiGroups":[""]}`), "ClusterRole c: rules[0].resources: must have at least one resource"},
		{ruleWith(`{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"nonResourceURLs":["/x"]}`), "ClusterRole c: rules[0].nonResourceURLs: not allowed together with resources"},

		// aggregationRule
		{object("ClusterRole", "", "c", `"aggregationRule":{}`), "ClusterRole c: aggregationRule.clusterRoleSelectors: must have at least one selector"},
		{object("ClusterRole", "", "c", `"aggregationRule":{"selectors":[]}`), "ClusterRole c: aggregationRule.selectors: unknown field"},
		{selector(`{"matchLabel":{}}`), "ClusterRole a: aggregationRule.clusterRoleSelectors[0].matchLabel: unknown field"},
		{selector(`{},{"matchLabels":{"a":true}}`), "ClusterRole a: aggregationRule.clusterRoleSelectors[1].matchLabels.a: must be a string"},
		{selector(`{"matchLabels":{"a b":"x"}}`), `ClusterRole a: aggregationRule.clusterRoleSelectors[0].matchLabels: "a b" is not a label key`},
		{selector(`{"matchLabels":{"A/b":"x"}}`), `ClusterRole a: aggregationRule.clusterRoleSelectors[0].matchLabels: "A/b" is not a label key`},
		{selector(`{"matchLabels":{"` + strings.Repeat("a.", 127) + `/b":"x"}}`), `ClusterRole a: aggregationRule.clusterRoleSelectors[0].matchLabels: "` + strings.Repeat("a.", 38) + `a..." is not a label key`},
		{selector(`{"matchLabels":{"a":"-x"}}`), `ClusterRole a: aggregationRule.clusterRoleSelectors[0].matchLabels: "-x" is not a label value`},
		{selector(`{"matchExpressions":[{"operator":"Exists"}]}`), `ClusterRole a: aggregationRule.clusterRoleSelectors[0].matchExpressions[0]: "" is not a label key`},
		{selector(`{"matchExpressions":[{"key":"a","operator":"in","values":["x"]}]}`), `ClusterRole a: aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: "in" is not supported, only In, NotIn, Exists and DoesNotExist`},
		{selector(`{"matchExpressions":[{"key":"a","operator":"NotIn"}]}`), "ClusterRole a: aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: must have at least one value with NotIn"},
		{selector(`{"matchExpressions":[{"key":"a","operator":"Exists","values":["x"]}]}`), "ClusterRole a: aggregationRule.clusterRoleSelectors[0].matchExpressions[0].values: must be empty with Exists"},
		{selector(`{"matchExpressions":[{"key":"a","operator":"Exists","value":"x"}]}`), "ClusterRole a: aggregationRule.clusterRoleSelectors[0].matchExpressions[0].value: unknown field"},

		// roleRef
		{bindingWith(`"subjects":[]`), `RoleBinding vms/b: roleRef.kind: "" is not supported, only Role and ClusterRole`},
		{bindingWith(subjects + `"roleRef":{"kind":"role","name":"r"}`), `RoleBinding vms/b: roleRef.kind: "role" is not supported, only Role and ClusterRole`},
		{object("ClusterRoleBinding", "", "b", subjects+`"roleRef":{"kind":"Role","name":"r"}`), `ClusterRoleBinding b: roleRef.kind: "Role" is not supported, only ClusterRole`},
		{bindingWith(subjects + `"roleRef":{"kind":"Role"}`), "RoleBinding vms/b: roleRef.name: missing"},
		{bindingWith(subjects + `"roleRef":{"kind":"Role","name":"a%b"}`), `RoleBinding vms/b: roleRef.name: "a%b" must not be "." or "..", and must not contain "/" or "%"`},
		{bindingWith(subjects + `"roleRef":{"kind":"Role","name":"r","apiGroup":"x"}`), `RoleBinding vms/b: roleRef.apiGroup: "x" is not supported, only rbac.authorization.k8s.io`},
		{bindingWith(subjects + `"roleRef":{"kind":"Role","name":"r","namespace":"x"}`), "RoleBinding vms/b: roleRef.namespace: unknown field"},
		{bindingWith(`"roleRef":{"kind":"Role","name":"r"},"rules":[]`), "RoleBinding vms/b: rules: unknown field"},

		// subjects
		{subject(`{"kind":"user","name":"jane"}`), `RoleBinding vms/b: subjects[0].kind: "user" is not supported, only User, Group and ServiceAccount`},
		{subject(`{"kind":"User"}`), "RoleBinding vms/b: subjects[0].name: missing"},
		{subject(user("jane") + `,{"kind":"Group","name":"g","apiGroup":"v1"}`), `RoleBinding vms/b: subjects[1].apiGroup: "v1" is not supported for a Group, only "rbac.authorization.k8s.io"`},
		{subject(`{"kind":"ServiceAccount","name":"x","apiGroup":"rbac.authorization.k8s.io"}`), `RoleBinding vms/b: subjects[0].apiGroup: "rbac.authorization.k8s.io" is not supported for a ServiceAccount, only ""`},
		{subject(`{"kind":"ServiceAccount","name":"x:y"}`), `RoleBinding vms/b: subjects[0].name: "x:y" is not the name of a service account`},
		{subject(`{"kind":"User","name":"jane","groups":[]}`), "RoleBinding vms/b: subjects[0].groups: unknown field"},
		{clusterSubject(`{"kind":"ServiceAccount","name":"x"}`), "ClusterRoleBinding b: subjects[0].namespace: missing"},
	} {
		_, err := rbac.New([]byte(test.object))
		require.Error(t, err, test.object)
		assert.EqualError(t, err, "rbac: "+test.want, test.object)
		var object *rbac.ObjectError
		require.ErrorAs(t, err, &object)
		assert.Zero(t, object.Index)
	}
}

func TestObjectErrorHasItsParts(t *testing.T) {
	_, err := rbac.New([]byte(clusterRole("c", readVMI)), []byte(role("vms", "r", `{"verbs":[]}`)))
	assert.Equal(t, &rbac.ObjectError{Index: 1, Kind: "Role", Namespace: "vms", Name: "r",
		Field: "rules[0].verbs", Message: "must have at least one verb"}, err)
}

func TestObjectGivenTwice(t *testing.T) {
	r := role("vms", "r", readVMI)
	_, err := rbac.New(bytesOf([]string{r, clusterRole("r", readVMI), role("other", "r", readVMI), r})...)
	assert.EqualError(t, err, "rbac: Role vms/r: given twice, as object 1 and 4")
	_, err = rbac.New([]byte(role("", "r", readVMI)), []byte(role("default", "r", readVMI)))
	assert.EqualError(t, err, "rbac: Role default/r: given twice, as object 1 and 2")
}

func TestWarnings(t *testing.T) {
	p := policy(t,
		`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"jenkins","namespace":"vms"},"anything":1}`,
		role("", "r", readVMI),
		clusterRole("c", `{"verbs":["get"],"apiGroups":["*"],"resources":["*","*/status","pods/*","po*","*/*","*/"],"resourceNames":["web-*"]},
			{"verbs":["get"],"nonResourceURLs":["*","/a","/a/*","/a**","metrics","","/*/b","/*/b*"]}`),
		roleBinding("default", "b", "Role", "r", `{"kind":"User","name":"jane","namespace":"vms"}`))
	assert.Equal(t, []string{
		`ServiceAccount vms/jenkins: not a role or binding, left out`,
		`Role default/r: metadata.namespace: missing, "default" assumed`,
		`ClusterRole c: rules[0].resources[2]: "pods/*" matches nothing; the wildcards are "*" and "*/subresource"`,
		`ClusterRole c: rules[0].resources[3]: "po*" matches nothing; the wildcards are "*" and "*/subresource"`,
		`ClusterRole c: rules[0].resources[4]: "*/*" matches nothing; the wildcards are "*" and "*/subresource"`,
		`ClusterRole c: rules[0].resources[5]: "*/" matches nothing; the wildcards are "*" and "*/subresource"`,
		`ClusterRole c: rules[0].resourceNames[0]: "web-*" is taken as a name, not as a wildcard`,
		`ClusterRole c: rules[1].nonResourceURLs[4]: "metrics" matches nothing; paths begin with "/"`,
		`ClusterRole c: rules[1].nonResourceURLs[5]: "" matches nothing; paths begin with "/"`,
		`ClusterRole c: rules[1].nonResourceURLs[6]: "/*/b" has a "*" that is not at its end and is taken literally`,
		`ClusterRole c: rules[1].nonResourceURLs[7]: "/*/b*" has a "*" that is not at its end and is taken literally`,
		`RoleBinding default/b: subjects[0].namespace: has no effect for a User`,
	}, p.Warnings())

	p.Warnings()[0] = "changed"
	assert.NotEqual(t, "changed", p.Warnings()[0])
	allowed, _ := p.Authorize(get(func(a *rbac.Attributes) { a.Namespace = "default" }))
	assert.True(t, allowed)
}

func FuzzNew(f *testing.F) {
	for _, seed := range []string{
		role("vms", "r", readVMI),
		clusterRole("c", `{"verbs":["get"],"nonResourceURLs":["/x*"]}`),
		roleBinding("vms", "b", "Role", "r", user("jane")+","+group("g")+","+serviceAccount("ci", "x")),
		clusterRoleBinding("b", "c", group("system:authenticated")),
		aggregated("a", `"l":"1"`, `{"matchExpressions":[{"key":"l","operator":"In","values":["1"]}]}`),
		`{"kind":"x","kind":"y"}`, `[[[[`, `{"a":"\ud800"}`, `{"kind":"Role\n"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := rbac.New(data)
		if err != nil {
			assert.NotContains(t, err.Error(), "\n")
			assert.Less(t, len(err.Error()), 10_000)
			return
		}
		for _, warning := range p.Warnings() {
			assert.NotContains(t, warning, "\n")
		}
		p.Authorize(get(nil))
		p.Authorize(path("jane", "get", "/version"))
		_, err = rbac.New(data, data)
		if len(p.Warnings()) == 0 {
			assert.ErrorContains(t, err, "given twice")
		}
	})
}
