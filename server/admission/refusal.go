package admission

import (
	"fmt"
	"net/http"
	"strings"
)

// Refusal is why a write is not admitted, with all that a Kubernetes API server says of
// it in its Status.
type Refusal struct {
	// Webhook is the name of the one that refuses.
	Webhook string
	// Code is the HTTP status, 422 or 400.
	Code int
	// Reason is that of the Status, "Invalid" with 422 and none with 400.
	Reason string
	// Causes go into the details of the Status, ten at most.
	Causes []Cause

	message string
}

// Cause is one thing that is wrong.
type Cause struct {
	// Reason is Kubernetes' word for the kind of fault, FieldValueInvalid for one.
	Reason string
	// Field is its path, empty where KubeVirt names none.
	Field   string
	Message string
}

// Error is the message of the Status (k8s.io/apiserver, webhook/errors.ToStatusErr).
func (r *Refusal) Error() string {
	return fmt.Sprintf("admission webhook %q denied the request: %s", r.Webhook, r.message)
}

// maxCauses is how many causes KubeVirt tells (pkg/util/webhooks, ToAdmissionResponse).
const maxCauses = 10

// refused is nil where there is no cause.
func refused(webhook string, causes []Cause) error {
	if len(causes) == 0 {
		return nil
	}
	told := causes[:min(len(causes), maxCauses)]
	messages := make([]string, len(told))
	for i, c := range told {
		messages[i] = c.Message
	}
	message := strings.Join(messages, ", ")
	if rest := len(causes) - len(told); rest > 0 {
		message = fmt.Sprintf("%s, and %d more validation errors", message, rest)
	}
	return &Refusal{Webhook: webhook, Code: http.StatusUnprocessableEntity, Reason: "Invalid", Causes: told, message: message}
}

func invalid(field, message string, args ...any) Cause {
	return Cause{"FieldValueInvalid", field, fmt.Sprintf(message, args...)}
}

func required(field, message string, args ...any) Cause {
	return Cause{"FieldValueRequired", field, fmt.Sprintf(message, args...)}
}

func notSupported(field, message string, args ...any) Cause {
	return Cause{"FieldValueNotSupported", field, fmt.Sprintf(message, args...)}
}

func duplicate(field, message string, args ...any) Cause {
	return Cause{"FieldValueDuplicate", field, fmt.Sprintf(message, args...)}
}
