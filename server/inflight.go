package server

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync/atomic"
)

// inflight counts the requests that are being answered, those that change something
// apart; nil is no limit. There is no queue: who comes when all places are taken is
// told to come again.
type inflight struct {
	reading  chan struct{}
	mutating chan struct{}
	// arriving is how many bytes there are of bodies that are still on their way.
	arriving *atomic.Int64
}

func newInflight(reading, mutating int) inflight {
	i := inflight{arriving: new(atomic.Int64)}
	if reading > 0 {
		i.reading = make(chan struct{}, reading)
	}
	if mutating > 0 {
		i.mutating = make(chan struct{}, mutating)
	}
	return i
}

// receive reads the body of a write, before the write takes a place: a client that
// sends it byte by byte keeps nobody waiting. All of those together have no more memory
// than they would have in the places that there are. What is wrong with a body is for
// its handler to tell, see readBody.
func (s *server) receive(x *exchange) error {
	if x.info.reads() || x.r.Body == nil || x.r.Body == http.NoBody {
		return nil
	}
	from := io.LimitReader(x.r.Body, s.maxBody+1)
	if places := cap(s.inflight.mutating); places > 0 && !x.isMaster() {
		arrival := &arrival{from: from, total: s.inflight.arriving, limit: int64(places) * s.maxBody}
		defer arrival.end()
		from = arrival
	}
	var body bytes.Buffer
	body.Grow(int(max(0, min(x.r.ContentLength, firstRead))) + bytes.MinRead)
	_, x.bodyErr = body.ReadFrom(from)
	x.body = body.Bytes()
	if errors.Is(x.bodyErr, errTooMuchArrives) {
		return tooManyRequests()
	}
	return nil
}

// firstRead is how much room a body gets at once, if it says that it is as long: no
// more than what one must have sent before it gets more.
const firstRead = 64 << 10

// arrival is a body on its way, counted.
type arrival struct {
	from       io.Reader
	total      *atomic.Int64
	limit, got int64
}

var errTooMuchArrives = errors.New("too much is on its way")

func (a *arrival) Read(p []byte) (int, error) {
	n, err := a.from.Read(p)
	a.got += int64(n)
	if a.total.Add(int64(n)) > a.limit {
		return n, errTooMuchArrives
	}
	return n, err
}

func (a *arrival) end() { a.total.Add(-a.got) }

// limitInFlight takes a place for the request until it is answered; for a write until
// its answer is made, so that a client that does not read it keeps nobody waiting
// either. Watches take none, they last; members of system:masters always get an
// answer, so that somebody can look what is the matter (both as kube-apiserver's).
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
	if x.isMaster() {
		return nil
	}
	return tooManyRequests()
}

func (x *exchange) isMaster() bool { return slices.Contains(x.user.Groups, groupMasters) }

// leave gives the place of a request to the next.
func (x *exchange) leave() {
	if x.place != nil {
		<-x.place
		x.place = nil
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
