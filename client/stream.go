package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"time"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/gen/vmiclient"
)

const (
	// minWatch and maxWatch are between which a watch asks to be ended, so that one
	// whose connection has died without a word does not wait for ever. Kubernetes'
	// own clients ask for the same.
	minWatch = 5 * time.Minute
	maxWatch = 2 * minWatch
	// watchGrace is how much later than asked for the end of a watch may come, and how
	// long its beginning may take.
	watchGrace = 30 * time.Second
	// maxEnvelope is what an event may have around its object.
	maxEnvelope = 1 << 10
	// lasting is how long a watch without an event lives when nothing is wrong.
	lasting = 5 * time.Second
	// maxRetryAfter bounds for how long a server may send a watch away.
	maxRetryAfter = 5 * time.Minute
)

// watchBackoff is a wait after so many failures in a row: at random, up to a bound
// that doubles from 50 milliseconds to half a minute.
func watchBackoff(failures int) time.Duration {
	return rand.N(min(50*time.Millisecond<<min(failures, 10), 30*time.Second))
}

// stream is an answer to a watch.
type stream struct {
	call   *call
	most   int64              // bytes of an event
	cancel context.CancelFunc // of its own time limit
	parent context.Context    // of the range
	body   io.ReadCloser
	answer *answer
	room   *io.LimitedReader
	events *json.Decoder
	began  time.Time
}

// wireEvent is one as it is sent.
type wireEvent struct {
	Type   string
	Object json.RawMessage
}

// open asks for what comes after the watcher's revision.
func (w *watcher) open(parent context.Context) (*stream, error) {
	lasts := minWatch + rand.N(maxWatch-minWatch)
	ctx, cancel := context.WithTimeout(parent, lasts+watchGrace)
	var late *time.Timer
	s := &stream{call: w.call(), most: w.client.cfg.maxObject + maxEnvelope, cancel: cancel, parent: parent, began: time.Now()}
	s.call.attempt, s.call.cancel = w.failures+1, cancel
	s.call.sent = func() { late = time.AfterFunc(watchGrace, cancel) }
	resp, err := w.send(ctx, int64(lasts/time.Second), s.call.record)
	if late != nil {
		late.Stop()
	}
	if err != nil {
		cancel()
		return nil, s.call.wrap(parent, err)
	}
	if resp.StatusCode != http.StatusOK {
		defer cancel()
		defer s.call.discard(resp.Body)
		return nil, s.call.refused(resp)
	}
	s.body = resp.Body
	s.room = &io.LimitedReader{R: resp.Body}
	s.answer = &answer{from: s.room, contentType: resp.Header.Get("Content-Type")}
	s.events = json.NewDecoder(s.answer)
	return s, nil
}

func (w *watcher) send(ctx context.Context, seconds int64, record vmiclient.RequestEditorFn) (*http.Response, error) {
	yes := "true"
	params := vmi.ListNamespacedVirtualMachineInstanceParams{
		LabelSelector: present(w.opts.LabelSelector), FieldSelector: present(w.opts.FieldSelector),
		ResourceVersion: &w.revision, TimeoutSeconds: &seconds, Watch: &yes, AllowWatchBookmarks: &yes,
	}
	if w.namespace == "" {
		all := vmi.ListVirtualMachineInstanceForAllNamespacesParams(params)
		return w.client.raw.ListVirtualMachineInstanceForAllNamespaces(ctx, &all, record)
	}
	return w.client.raw.ListNamespacedVirtualMachineInstance(ctx, w.namespace, &params, record)
}

// close hangs up; what is still to come would come for ever.
func (s *stream) close() {
	s.cancel()
	_ = s.body.Close()
}

// lasted reports whether the watch went on for as long as a healthy one does.
func (s *stream) lasted() bool { return time.Since(s.began) >= lasting }

// next reads an event; nil is the end of the watch.
func (s *stream) next() (*wireEvent, error) {
	s.room.N = s.most
	var e struct{ Type, Object, Kind json.RawMessage }
	err := s.events.Decode(&e)
	switch {
	case err == nil && text(e.Type) != "":
		return &wireEvent{text(e.Type), e.Object}, nil
	case err == nil:
		return nil, s.wrong(wrongKind(text(e.Kind), "stream of events", "").Error())
	case s.room.N <= 0:
		return nil, s.wrong(fmt.Sprintf("an event has more than %d bytes", s.most))
	case s.answer.failed != nil:
		return nil, s.call.wrap(s.parent, s.answer.failed)
	case err == io.EOF:
		return nil, nil
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, s.call.wrap(s.parent, err)
	}
	return nil, s.wrong(s.notJSON(err))
}

func (s *stream) notJSON(err error) string {
	if mediaType, _, _ := mime.ParseMediaType(s.answer.contentType); mediaType != "" && mediaType != "application/json" {
		return "answer is not JSON but " + oneLine(mediaType, 80)
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return "an event is no JSON object"
	}
	return "answer is not JSON: " + err.Error()
}

// wrong is the error of an answer that is not the stream of events it should be.
func (s *stream) wrong(what string) error {
	return &Error{Op: s.call.op, Method: s.call.method, Path: s.call.path, Status: http.StatusOK, Message: what}
}

// failure is the error that an ERROR event tells of. Its code counts as a status does.
func (s *stream) failure(object json.RawMessage) error {
	status, _ := parseStatus(object)
	code := int(status.Code)
	switch {
	case status.Reason == "Expired" || status.Reason == "Gone":
		code = http.StatusGone
	case code < 400:
		code = http.StatusInternalServerError
	}
	return &Error{
		Op: s.call.op, Method: s.call.method, Path: s.call.path, Status: code,
		Reason: status.Reason, Message: status.Message, Details: status.Details,
		RetryAfter: time.Duration(max(status.Details.RetryAfterSeconds, 0)) * time.Second,
	}
}
