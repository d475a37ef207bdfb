package servertest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/vmikit/vmikit/gen/vmi"
)

// Fault is something that goes wrong with requests. The first three fields say with
// which of them; where all three are empty it is with every request, whatever its
// path.
type Fault struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection,
	// and empty for all of them.
	Verb string
	// Namespace of the request; empty is any, and requests over all namespaces.
	Namespace string
	// Name of the machine, in the path or as metadata.name in a field selector;
	// empty is any, and requests for many.
	Name string
	// Times is how many requests it strikes, 0 all until it is lifted.
	Times int

	// Delay is how long a request waits before anything else becomes of it. With
	// nothing else the request is then answered as it would be.
	Delay time.Duration
	// Status is answered instead, from 300 to 599, with a Kubernetes Status that has
	// the reason an API server gives.
	Status int
	// RetryAfter is sent with Status, in whole seconds, rounded up.
	RetryAfter time.Duration
	// Body is sent with Status instead of a Kubernetes Status; its content type is
	// found by [http.DetectContentType].
	Body string
	// Drop closes the connection.
	Drop Drop
	// After is how many bytes of the body come before [DropInBody]; a body that is
	// shorter comes whole.
	After int
}

// Drop is where in its answer a connection is lost.
type Drop int

const (
	// DropBeforeAnswer: before there is an answer.
	DropBeforeAnswer Drop = iota + 1
	// DropInBody: after the head of the answer and as much of its body as
	// [Fault.After] says, for a watch in the middle of its events.
	DropInBody
)

// injected is a fault that is in force.
type injected struct {
	Fault
	struck int
}

// Inject has a fault strike the requests that it is about, from now until it has
// done so as often as it should, lift is called or the server is [Server.Reset]. Of
// several faults that a request matches, the one that was injected first strikes it,
// alone. Inject fails the test where the fault contradicts itself.
//
// [Server.Client] tries again where that may help, see [client.DefaultRetry]: a fault
// that its caller is to see lasts longer than that, or comes with
// WithClientOptions(client.WithRetry([client.NoRetry])).
func (s *Server) Inject(f Fault) (lift func()) {
	s.t.Helper()
	if err := f.check(); err != nil {
		s.t.Fatal(fmt.Errorf("fault: %w", err))
	}
	one := &injected{Fault: f}
	s.front.mu.Lock()
	defer s.front.mu.Unlock()
	s.front.faults = append(s.front.faults, one)
	return func() {
		s.front.mu.Lock()
		defer s.front.mu.Unlock()
		s.front.lift(one)
	}
}

// lift takes a fault out of force; f.mu is held.
func (f *front) lift(one *injected) {
	f.faults = slices.DeleteFunc(f.faults, func(i *injected) bool { return i == one })
}

// strike is the fault that a request meets, nil for none; f.mu is held.
func (f *front) strike(t target) *Fault {
	for _, one := range f.faults {
		if !one.matches(t) {
			continue
		}
		if one.struck++; one.struck == one.Times {
			f.lift(one)
		}
		return &one.Fault
	}
	return nil
}

func (f *Fault) matches(t target) bool {
	if f.Verb == "" && f.Namespace == "" && f.Name == "" {
		return true
	}
	return t.machines && (f.Verb == "" || f.Verb == t.verb) &&
		(f.Namespace == "" || f.Namespace == t.namespace) && (f.Name == "" || f.Name == t.name)
}

var verbs = []string{"", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

func (f *Fault) check() error {
	switch {
	case !slices.Contains(verbs, f.Verb):
		return fmt.Errorf("there is no verb %q", f.Verb)
	case f.Times < 0 || f.Delay < 0 || f.RetryAfter < 0 || f.After < 0:
		return errors.New("a number is below zero")
	case f.Status != 0 && (f.Status < 300 || f.Status > 599):
		return fmt.Errorf("status %d is not from 300 to 599", f.Status)
	case f.Drop < 0 || f.Drop > DropInBody:
		return fmt.Errorf("there is no drop %d", f.Drop)
	case f.Status != 0 && f.Drop != 0:
		return errors.New("it has both a status and a drop")
	case f.Status == 0 && (f.RetryAfter != 0 || f.Body != ""):
		return errors.New("a retry-after or a body needs a status")
	case f.After != 0 && f.Drop != DropInBody:
		return errors.New("only a drop in the body has bytes before it")
	case f.Status == 0 && f.Drop == 0 && f.Delay == 0:
		return errors.New("nothing goes wrong")
	}
	return nil
}

// reasons are those of a Kubernetes API server, which has none for other statuses.
var reasons = map[int]string{
	http.StatusBadRequest:            "BadRequest",
	http.StatusUnauthorized:          "Unauthorized",
	http.StatusForbidden:             "Forbidden",
	http.StatusNotFound:              "NotFound",
	http.StatusMethodNotAllowed:      "MethodNotAllowed",
	http.StatusNotAcceptable:         "NotAcceptable",
	http.StatusConflict:              "Conflict",
	http.StatusGone:                  "Expired",
	http.StatusRequestEntityTooLarge: "RequestEntityTooLarge",
	http.StatusUnsupportedMediaType:  "UnsupportedMediaType",
	http.StatusUnprocessableEntity:   "Invalid",
	http.StatusTooManyRequests:       "TooManyRequests",
	http.StatusInternalServerError:   "InternalError",
	http.StatusServiceUnavailable:    "ServiceUnavailable",
	http.StatusGatewayTimeout:        "Timeout",
}

// write answers with the status of the fault.
func (f *Fault) write(w http.ResponseWriter) {
	seconds := int32((f.RetryAfter + time.Second - 1) / time.Second)
	if seconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	body := []byte(f.Body)
	if f.Body == "" {
		// A struct of strings and numbers always has a JSON form.
		body, _ = json.Marshal(vmi.Status{
			APIVersion: "v1", Kind: "Status", Status: vmi.StatusStatusFailure,
			Code: int32(f.Status), Reason: reasons[f.Status],
			Message: cmp.Or(http.StatusText(f.Status), "unknown") + " (a fault of the test)",
			Details: vmi.StatusDetails{RetryAfterSeconds: seconds},
		})
		w.Header().Set("Content-Type", "application/json")
	} else {
		w.Header().Set("Content-Type", http.DetectContentType(body))
	}
	w.WriteHeader(f.Status)
	_, _ = w.Write(body)
}
