package contract

import (
	"slices"

	"github.com/vmikit/vmikit/openapi"
)

// Checks that only observers have.
const (
	checkForm     = "schema.form"
	checkEvent    = "schema.event"
	checkRequest  = "client.request"
	checkPassedBy = subjectService + ".passed-by"
)

// Checks of a run that an observer tells as well.
const (
	checkOnce          = "consistency.list"
	checkRepeat        = "consistency.repeat"
	checkGet           = "consistency.get"
	checkNamespace     = "namespace.items"
	checkLimit         = "paging.limit"
	checkPages         = "paging.pages"
	checkAnd           = "selector.and"
	checkFieldName     = "selector.field-name"
	checkFieldHome     = "selector.field-namespace"
	checkLabelEquals   = "selector.equals"
	checkLabelDouble   = "selector.double-equals"
	checkLabelOther    = "selector.not-equals"
	checkLabelIn       = "selector.in"
	checkLabelNotIn    = "selector.not-in"
	checkLabelThere    = "selector.exists"
	checkLabelNotThere = "selector.not-exists"
)

// shared are the IDs of the checks of a run that an observer tells as well,
// besides those of prose and schema.
var shared = []string{
	checkOnce, checkGet, checkRepeat, checkNamespace, checkLimit, checkPages, checkAnd, checkFieldName, checkFieldHome,
	checkLabelEquals, checkLabelDouble, checkLabelOther, checkLabelIn, checkLabelNotIn, checkLabelThere, checkLabelNotThere,
}

// ObserverChecks returns the checks that an [Observer] tells. Those that a run has
// as well have the same IDs.
func ObserverChecks() []Check { return append(observerChecks(), passedByCheck()) }

func observerChecks() []Check {
	var checks []Check
	for _, c := range Checks() {
		if c.Subject() == subject(checkObject) || c.Subject() == subjectProse || slices.Contains(shared, c.ID) {
			checks = append(checks, c)
		}
	}
	return append(checks, Check{
		ID:      checkForm,
		Clause:  Clause{0, "a list or an object is also answered as a Table or as metadata alone, when the client asks for it"},
		Explain: "kubectl shows what stands in Tables, controllers count on metadata; neither can read another form.",
	}, Check{
		ID:      checkEvent,
		Clause:  Clause{0, "a watch is a stream of events, one JSON object a line, each judged by its type"},
		Explain: "A client that cannot read an event loses its watch, and with it what it knows.",
	}, Check{
		ID:      checkRequest,
		Clause:  Clause{0, "a request keeps the types and bounds of its parameters"},
		Explain: "What a client asks with is not what the document has. That is no fault of the server, and only ever a warning.",
	})
}

// passedByCheck stands for what an observer did not judge.
func passedByCheck() Check {
	return Check{
		ID:      checkPassedBy,
		Clause:  Clause{0, "what this API's document does not have is not judged"},
		Explain: "Discovery, other resources, writes and upgraded connections are counted, no more.",
	}
}

// everyCheck returns the checks of runs and observers, each once.
func everyCheck() []Check {
	all := Checks()
	for _, c := range ObserverChecks() {
		if !slices.ContainsFunc(all, func(have Check) bool { return have.ID == c.ID }) {
			all = append(all, c)
		}
	}
	return all
}

// wholeCheck is the check for what a body of a form has wrong as a whole.
func wholeCheck(form openapi.Form) string {
	switch form {
	case openapi.FormTable, openapi.FormPartialObject, openapi.FormPartialObjectList:
		return checkForm
	case openapi.FormWatchEvent, openapi.FormWatchEventTable, openapi.FormWatchEventPartialObject:
		return checkEvent
	}
	return checkList
}
