package server

import (
	"bytes"
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
	// arriving is how many bytes large bodies that are on their way may come to have.
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
// sends it byte by byte keeps nobody waiting. A large body first takes the room that it
// may need, of which there is as much as the places together could have: who takes that
// and stays keeps out other large bodies, and none of the size that objects have. What is
// wrong with a body is for its handler to tell, see readBody.
func (s *server) receive(x *exchange) error {
	if x.info.reads() || x.r.Body == nil || x.r.Body == http.NoBody {
		return nil
	}
	from := io.LimitReader(x.r.Body, s.maxBody+1)
	body := withRoom(max(0, min(x.r.ContentLength, smallBody)))
	n, err := body.ReadFrom(io.LimitReader(from, smallBody))
	if err == nil && n == smallBody {
		most := s.maxBody + 1
		room := most
		if x.r.ContentLength >= 0 {
			room = x.r.ContentLength
		}
		if places := cap(s.inflight.mutating); places > 0 && !x.isMaster() {
			defer s.inflight.arriving.Add(-room)
			if s.inflight.arriving.Add(room) > int64(places)*most {
				return tooManyRequests()
			}
		}
		small := body.Bytes()
		body = withRoom(room)
		body.Write(small)
		_, err = body.ReadFrom(from)
	}
	x.body, x.bodyErr = body.Bytes(), err
	return nil
}

// smallBody is what each body may have without asking. It is about what the buffers of a
// connection cost.
const smallBody = 64 << 10

// withRoom is a buffer that need not grow for so many bytes.
func withRoom(n int64) *bytes.Buffer {
	return bytes.NewBuffer(make([]byte, 0, int(n)+bytes.MinRead))
}

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
