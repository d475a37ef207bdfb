package contract

import (
	"context"
	"fmt"
)

const (
	checkObject      = "schema.object"
	checkList        = "schema.list"
	checkError       = "schema.error"
	checkJSON        = "schema.json"
	checkContentType = "schema.content-type"
	checkStatusCode  = "schema.status-code"
	checkDrift       = "schema.drift"
)

// schemaChecks report what the judge found in the answers to all other checks,
// so they come last.
func schemaChecks() []Check {
	return []Check{
		{
			ID:      checkObject,
			Clause:  Clause{190, "VirtualMachineInstance:"},
			Explain: "Every machine, in a list or by itself, keeps the types, closed lists, patterns, bounds and required fields of the document.",
			run:     judged(checkObject, "%d bodies of machines judged"),
		}, {
			ID:      checkList,
			Clause:  Clause{208, "VirtualMachineInstanceList:"},
			Explain: "Every list has the form of a VirtualMachineInstanceList.",
			run:     judged(checkList, "%d lists judged"),
		}, {
			ID:      checkError,
			Clause:  Clause{0, "an error has a Status as its body, whose code and reason agree with the status code"},
			Needs:   []Need{needConventions},
			Explain: "Clients decide by reason and code of the Status, not by its message; kubectl shows nothing useful without it.",
			run:     judged(checkError, "%d errors judged"),
		}, {
			ID:      checkJSON,
			Clause:  Clause{39, "application/json:"},
			Explain: "Every body is one JSON value, in UTF-8, whole, with no key twice: readers disagree about anything else.",
			run:     judged(checkJSON, "%d bodies judged"),
		}, {
			ID:      checkContentType,
			Clause:  Clause{39, "application/json:"},
			Explain: "Every body says that it is JSON; a client that believes another type does not read it.",
			run:     judged(checkContentType, "%d bodies judged"),
		}, {
			ID:      checkStatusCode,
			Clause:  Clause{35, "responses:"},
			Explain: "Every status code is declared. One that is only usual in Kubernetes is a gap of the document, and a warning; a redirect is no answer of this API.",
			run:     judged(checkStatusCode, "%d answers judged"),
		}, {
			ID:      checkDrift,
			Clause:  Clause{190, "VirtualMachineInstance:"},
			Needs:   []Need{needConventions},
			Explain: "What only the document as given objects to: KubeVirt has moved on since it was written. A client made from the document may stumble over it.",
			run:     judged(checkDrift, "%d bodies of machines judged by the document as given"),
		},
	}
}

func judged(check, format string) func(context.Context, *run) (verdict, error) {
	return func(_ context.Context, r *run) (verdict, error) {
		n := r.judge.seen[check]
		if n == 0 {
			return notExercised("nothing of the kind was answered"), nil
		}
		return verdict{message: fmt.Sprintf(format, n), findings: r.judge.found[check]}, nil
	}
}
