package kubeproto

// The numbers and names of fields, and when a field is in the JSON, are those of
// generated.proto and types.go in k8s.io/api and k8s.io/apimachinery v0.37.2. The
// comparison in interop/clients holds this file to them.

// kinds are the kinds that clients send to an API server of machines.
var kinds = map[TypeMeta]*message{
	{"v1", "Event"}:     event,
	{"v1", "Namespace"}: namespace,

	{"authorization.k8s.io/v1", "SelfSubjectAccessReview"}: selfSubjectAccessReview,
	{"authorization.k8s.io/v1", "SelfSubjectRulesReview"}:  selfSubjectRulesReview,
	{"coordination.k8s.io/v1", "Lease"}:                    lease,
	{"events.k8s.io/v1", "Event"}:                          eventsEvent,
}

// kindDeleteOptions is registered in every group and version.
const kindDeleteOptions = "DeleteOptions"

var selfSubjectAccessReview = &message{[]field{
	{1, "metadata", object, always, objectMeta},
	{2, "spec", object, always, &message{[]field{
		{1, "resourceAttributes", object, present, resourceAttributes},
		{2, "nonResourceAttributes", object, present, &message{[]field{
			{1, "path", text, filled, nil},
			{2, "verb", text, filled, nil},
		}}},
	}}},
	{3, "status", object, always, &message{[]field{
		{1, "allowed", boolean, always, nil},
		{4, "denied", boolean, filled, nil},
		{2, "reason", text, filled, nil},
		{3, "evaluationError", text, filled, nil},
	}}},
}}

var resourceAttributes = &message{[]field{
	{1, "namespace", text, filled, nil},
	{2, "verb", text, filled, nil},
	{3, "group", text, filled, nil},
	{4, "version", text, filled, nil},
	{5, "resource", text, filled, nil},
	{6, "subresource", text, filled, nil},
	{7, "name", text, filled, nil},
	{8, "fieldSelector", object, present, selectorAttributes},
	{9, "labelSelector", object, present, selectorAttributes},
}}

var selectorAttributes = &message{[]field{
	{1, "rawSelector", text, filled, nil},
	{2, "requirements", objects, filled, &message{[]field{
		{1, "key", text, always, nil},
		{2, "operator", text, always, nil},
		{3, "values", texts, filled, nil},
	}}},
}}

var selfSubjectRulesReview = &message{[]field{
	{1, "metadata", object, always, objectMeta},
	{2, "spec", object, always, &message{[]field{
		{1, "namespace", text, filled, nil},
	}}},
	{3, "status", object, always, &message{[]field{
		{1, "resourceRules", objects, always, &message{[]field{
			{1, "verbs", texts, always, nil},
			{2, "apiGroups", texts, filled, nil},
			{3, "resources", texts, filled, nil},
			{4, "resourceNames", texts, filled, nil},
		}}},
		{2, "nonResourceRules", objects, always, &message{[]field{
			{1, "verbs", texts, always, nil},
			{2, "nonResourceURLs", texts, filled, nil},
		}}},
		{3, "incomplete", boolean, always, nil},
		{4, "evaluationError", text, filled, nil},
	}}},
}}

// event is that of the core group.
var event = &message{[]field{
	{1, "metadata", object, always, objectMeta},
	{2, "involvedObject", object, always, objectReference},
	{3, "reason", text, filled, nil},
	{4, "message", text, filled, nil},
	{5, "source", object, always, eventSource},
	{6, "firstTimestamp", timestamp, always, nil},
	{7, "lastTimestamp", timestamp, always, nil},
	{8, "count", integer32, filled, nil},
	{9, "type", text, filled, nil},
	{10, "eventTime", microTime, always, nil},
	{11, "series", object, present, &message{[]field{
		{1, "count", integer32, filled, nil},
		{2, "lastObservedTime", microTime, always, nil},
	}}},
	{12, "action", text, filled, nil},
	{13, "related", object, present, objectReference},
	{14, "reportingComponent", text, always, nil},
	{15, "reportingInstance", text, always, nil},
}}

// eventsEvent is that of events.k8s.io, the same object under other names.
var eventsEvent = &message{[]field{
	{1, "metadata", object, always, objectMeta},
	{2, "eventTime", microTime, always, nil},
	{3, "series", object, present, &message{[]field{
		{1, "count", integer32, always, nil},
		{2, "lastObservedTime", microTime, always, nil},
	}}},
	{4, "reportingController", text, filled, nil},
	{5, "reportingInstance", text, filled, nil},
	{6, "action", text, filled, nil},
	{7, "reason", text, filled, nil},
	{8, "regarding", object, always, objectReference},
	{9, "related", object, present, objectReference},
	{10, "note", text, filled, nil},
	{11, "type", text, filled, nil},
	{12, "deprecatedSource", object, always, eventSource},
	{13, "deprecatedFirstTimestamp", timestamp, always, nil},
	{14, "deprecatedLastTimestamp", timestamp, always, nil},
	{15, "deprecatedCount", integer32, filled, nil},
}}

var eventSource = &message{[]field{
	{1, "component", text, filled, nil},
	{2, "host", text, filled, nil},
}}

var objectReference = &message{[]field{
	{1, "kind", text, filled, nil},
	{2, "namespace", text, filled, nil},
	{3, "name", text, filled, nil},
	{4, "uid", text, filled, nil},
	{5, "apiVersion", text, filled, nil},
	{6, "resourceVersion", text, filled, nil},
	{7, "fieldPath", text, filled, nil},
}}

var namespace = &message{[]field{
	{1, "metadata", object, always, objectMeta},
	{2, "spec", object, always, &message{[]field{
		{1, "finalizers", texts, filled, nil},
	}}},
	{3, "status", object, always, &message{[]field{
		{1, "phase", text, filled, nil},
		{2, "conditions", objects, filled, &message{[]field{
			{1, "type", text, always, nil},
			{2, "status", text, always, nil},
			{4, "lastTransitionTime", timestamp, always, nil},
			{5, "reason", text, filled, nil},
			{6, "message", text, filled, nil},
		}}},
	}}},
}}

var lease = &message{[]field{
	{1, "metadata", object, always, objectMeta},
	{2, "spec", object, always, &message{[]field{
		{1, "holderIdentity", text, present, nil},
		{2, "leaseDurationSeconds", integer32, present, nil},
		{3, "acquireTime", microTime, present, nil},
		{4, "renewTime", microTime, present, nil},
		{5, "leaseTransitions", integer32, present, nil},
		{6, "strategy", text, present, nil},
		{7, "preferredHolder", text, present, nil},
	}}},
}}

var deleteOptions = &message{[]field{
	{1, "gracePeriodSeconds", integer, present, nil},
	{2, "preconditions", object, present, &message{[]field{
		{1, "uid", text, present, nil},
		{2, "resourceVersion", text, present, nil},
	}}},
	{3, "orphanDependents", boolean, present, nil},
	{4, "propagationPolicy", text, present, nil},
	{5, "dryRun", texts, filled, nil},
	{6, "ignoreStoreReadErrorWithClusterBreakingPotential", boolean, present, nil},
}}

var objectMeta = &message{[]field{
	{1, "name", text, filled, nil},
	{2, "generateName", text, filled, nil},
	{3, "namespace", text, filled, nil},
	{4, "selfLink", text, filled, nil},
	{5, "uid", text, filled, nil},
	{6, "resourceVersion", text, filled, nil},
	{7, "generation", integer, filled, nil},
	{8, "creationTimestamp", timestamp, filled, nil},
	{9, "deletionTimestamp", timestamp, present, nil},
	{10, "deletionGracePeriodSeconds", integer, present, nil},
	{11, "labels", textMap, filled, nil},
	{12, "annotations", textMap, filled, nil},
	{13, "ownerReferences", objects, filled, &message{[]field{
		{5, "apiVersion", text, always, nil},
		{1, "kind", text, always, nil},
		{3, "name", text, always, nil},
		{4, "uid", text, always, nil},
		{6, "controller", boolean, present, nil},
		{7, "blockOwnerDeletion", boolean, present, nil},
	}}},
	{14, "finalizers", texts, filled, nil},
	{17, "managedFields", objects, filled, &message{[]field{
		{1, "manager", text, filled, nil},
		{2, "operation", text, filled, nil},
		{3, "apiVersion", text, filled, nil},
		{4, "time", timestamp, present, nil},
		{6, "fieldsType", text, filled, nil},
		{7, "fieldsV1", managed, present, nil},
		{8, "subresource", text, filled, nil},
	}}},
}}

// envelope is runtime.Unknown. The constants below are places in the fields, here and
// further down.
var envelope = &message{[]field{
	{1, "typeMeta", object, always, typeMeta},
	{2, "raw", object, always, nil},
	{3, "contentEncoding", text, always, nil},
	{4, "contentType", text, always, nil},
}}

const (
	envelopeType = iota
	envelopeRaw
	envelopeEncoding
	envelopeContentType
)

var typeMeta = &message{[]field{
	{1, "apiVersion", text, always, nil},
	{2, "kind", text, always, nil},
}}

const (
	typeMetaVersion = iota
	typeMetaKind
)

// timeMessage is what both Time and MicroTime are on the wire.
var timeMessage = &message{[]field{
	{1, "seconds", integer, always, nil},
	{2, "nanos", integer32, always, nil},
}}

const (
	timeSeconds = iota
	timeNanos
)

var fieldsV1 = &message{[]field{
	{1, "raw", text, always, nil},
}}

const fieldsV1Raw = 0

var mapEntry = &message{[]field{
	{1, "key", text, always, nil},
	{2, "value", text, always, nil},
}}

const (
	mapEntryKey = iota
	mapEntryValue
)
