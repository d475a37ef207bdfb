package server

import (
	"errors"
	"net/http"
	"slices"
	"time"
)

// RequestInfo is what an [Observer] is told of a request. There are only so many
// different ones, whatever clients send.
type RequestInfo struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection for a
	// resource, the method in lower case for another path, and empty for a method that
	// there is no such word for, and for what was refused before it was looked at.
	Verb string
	// Resource is empty for a path that is none of a resource that the server has.
	Group, Version, Resource string
}

// Outcome is what became of a request.
type Outcome struct {
	// Code is the HTTP status.
	Code int
	// Took is the time until the answer was written, the client's part of it included;
	// for a watch it is how long it lasted.
	Took time.Duration
}

// Observer is told what the server does, as metrics want to know. Its methods are
// called from many goroutines at once, and requests wait for them.
type Observer interface {
	// RequestBegan tells that a request is being answered, and RequestEnded, once for
	// each, that it was.
	RequestBegan(RequestInfo)
	RequestEnded(RequestInfo, Outcome)
	// EventSent tells that an event of a watch was written.
	EventSent(RequestInfo)
}

// WithObserver tells o of every request.
func WithObserver(o Observer) Option {
	return func(c *config) error {
		if o == nil {
			return errors.New("the observer is nil")
		}
		c.observer = o
		return nil
	}
}

// nobodyLooks is the observer of a server that has none.
type nobodyLooks struct{}

func (nobodyLooks) RequestBegan(RequestInfo)          {}
func (nobodyLooks) RequestEnded(RequestInfo, Outcome) {}
func (nobodyLooks) EventSent(RequestInfo)             {}

// tellBegin tells that a request is being answered.
func (s *server) tellBegin(x *exchange) error {
	x.begun, x.observed = true, s.observable(&x.info, x.r.Method)
	s.observer.RequestBegan(x.observed)
	return nil
}

// tellEnd tells that it was. One that was refused before it was looked at begins here.
func (s *server) tellEnd(x *exchange, took time.Duration) {
	if !x.begun {
		s.observer.RequestBegan(x.observed)
	}
	s.observer.RequestEnded(x.observed, Outcome{Code: x.status, Took: took})
}

// observable is a request without what clients may make up.
func (s *server) observable(i *requestInfo, method string) RequestInfo {
	info := RequestInfo{Verb: i.Verb}
	if !i.isResource() && !slices.Contains(methods, method) {
		info.Verb = ""
	}
	if s.resource(i) != nil {
		info.Group, info.Version, info.Resource = i.Group, i.Version, i.Resource
	}
	return info
}

var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}
