package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/vmikit/vmikit/contract"
)

// status is the body of an answer that is the proxy's own (meta/v1 Status).
type status struct {
	Kind       string         `json:"kind"`
	APIVersion string         `json:"apiVersion"`
	Metadata   struct{}       `json:"metadata"`
	Status     string         `json:"status"`
	Message    string         `json:"message"`
	Reason     string         `json:"reason"`
	Details    *statusDetails `json:"details,omitempty"`
	Code       int            `json:"code"`
}

type statusDetails struct {
	Causes []statusCause `json:"causes"`
}

type statusCause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

func newStatus(code int, reason, message string) status {
	return status{Kind: "Status", APIVersion: "v1", Status: "Failure", Reason: reason, Message: message, Code: code}
}

// maxCauses bounds what is said of one answer.
const maxCauses = 20

// broken is the Status in place of an answer that breaks the contract.
func broken(what string, failures []contract.Violation) status {
	s := newStatus(http.StatusBadGateway, "ContractBroken", fmt.Sprintf("the upstream's %s breaks the contract of the API: %s", what, failures[0].Message))
	if n := len(failures) - 1; n > 0 {
		s.Message += fmt.Sprintf(", and %d more", n)
	}
	s.Details = new(statusDetails)
	for _, v := range failures[:min(len(failures), maxCauses)] {
		message := v.Message
		if v.Expected != "" {
			message += "; expected: " + v.Expected
		}
		if v.Got != "" {
			message += "; got: " + v.Got
		}
		s.Details.Causes = append(s.Details.Causes, statusCause{Reason: v.Check.ID, Message: message, Field: v.Pointer()})
	}
	return s
}

func (s status) json() []byte {
	text, err := json.Marshal(s)
	if err != nil {
		return []byte("{}") // there is nothing in a Status that cannot be JSON
	}
	return append(text, '\n')
}

func writeStatus(w http.ResponseWriter, s status) {
	body := s.json()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(s.Code)
	// The client is gone where this fails.
	_, _ = w.Write(body)
}
