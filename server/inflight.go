package server

import (
	"net/http"
	"slices"
)

// inflight counts the requests that are being answered, those that change something
// apart; nil is no limit. There is no queue: who comes when all places are taken is
// told to come again.
type inflight struct {
	reading  chan struct{}
	mutating chan struct{}
}

func newInflight(reading, mutating int) inflight {
	var i inflight
	if reading > 0 {
		i.reading = make(chan struct{}, reading)
	}
	if mutating > 0 {
		i.mutating = make(chan struct{}, mutating)
	}
	return i
}

// limitInFlight takes a place for the request until it is answered. Watches take none,
// they last; members of system:masters always get an answer, so that somebody can look
// what is the matter (both as kube-apiserver's).
func (s *server) limitInFlight(x *exchange) error {
	if x.info.Verb == "watch" {
		return nil
	}
	places := s.inflight.mutating
	if x.info.reads() {
		places = s.inflight.reading
	}
	if places == nil {
		return nil
	}
	select {
	case places <- struct{}{}:
		x.place = places
		return nil
	default:
	}
	if slices.Contains(x.user.Groups, groupMasters) {
		return nil
	}
	return tooManyRequests()
}

// leave gives the place of a request to the next.
func (x *exchange) leave() {
	if x.place != nil {
		<-x.place
	}
}

// reads reports whether a request changes nothing.
func (i *requestInfo) reads() bool {
	return slices.Contains([]string{"get", "list", "watch", "head", "options"}, i.Verb)
}

func tooManyRequests() *statusError {
	e := failure(http.StatusTooManyRequests, "TooManyRequests", "Too many requests, please try again later.")
	e.status.Details.RetryAfterSeconds = 1
	return e
}
