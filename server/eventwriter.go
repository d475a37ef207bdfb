package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

const (
	// eventWait is how long a client may take to read what it was sent, before it is
	// cut off.
	eventWait = 30 * time.Second
	// eventBuffer is what is gathered while there is more to send at once. Each watch
	// has one; a machine hardly fits in and goes out as it is.
	eventBuffer = 4 << 10

	eventBookmark = "BOOKMARK"
	eventError    = "ERROR"
	// initialEventsEnd marks the bookmark behind what there was at the beginning
	// (meta/v1 InitialEventsAnnotationKey).
	initialEventsEnd = "k8s.io/initial-events-end"
)

// errBrokenEvent ends a watch whose events break the document: the server's fault.
var errBrokenEvent = errors.New("an event breaks the OpenAPI document")

// eventWriter writes the events of one watch, a line for each.
type eventWriter struct {
	server  *server
	x       *exchange
	want    wanted
	include includeObject
	// defined is set once a table has said what its columns are, which it does once.
	defined  bool
	line     []byte
	to       *bufio.Writer
	control  *http.ResponseController
	patience *patience
	// gather holds an event back until all of it is there.
	gather *gatherConn
}

// open sends the head of the answer: a client waits for it before it waits for
// events.
func (w *eventWriter) open() error {
	w.control = http.NewResponseController(w.x.w)
	w.patience = newPatience(w.control)
	w.to = bufio.NewWriterSize(w, eventBuffer)
	w.gather = gatherConnOf(w.x.r)
	return w.flush()
}

// close leaves the connection to the next request.
func (w *eventWriter) close() {
	w.gather.release()
	w.patience.close()
}

// Write passes on what the buffer has gathered, and does not wait for ever for a
// client that does not read.
func (w *eventWriter) Write(p []byte) (n int, err error) {
	err = w.patience.while(func() error {
		w.gather.hold()
		n, err = w.x.w.Write(p)
		return err
	})
	w.x.written += int64(n)
	return n, err
}

// flush sends what was written.
func (w *eventWriter) flush() error {
	if err := w.to.Flush(); err != nil {
		return err
	}
	return w.patience.while(func() error {
		w.gather.release()
		if err := w.control.Flush(); err != nil {
			return err
		}
		return w.gather.send()
	})
}

// object writes what became of an object.
func (w *eventWriter) object(event string, o *store.Object) error {
	line := append(append(append(w.line[:0], `{"type":"`...), event...), `","object":`...)
	switch w.want.form {
	case openapi.FormTable:
		line = w.appendTable(line, o)
	case openapi.FormPartialObject:
		line = appendPartial(line, metadataOf(o), w.want)
	default:
		line = append(line, w.x.resource.show(o)...)
	}
	w.line = append(line, "}\n"...)
	return w.end(event)
}

// end writes the line. Objects are valid since they entered the store, so that
// what the server has made itself is all that there is to judge.
func (w *eventWriter) end(event string) error {
	s := w.server
	own := event == eventBookmark || event == eventError
	if s.validate == ValidateFull || s.validate == ValidateEnvelope && own {
		form := eventForms[w.want.form]
		issues := s.doc.ValidateResponse(openapi.Response{Form: form, Kind: w.x.kind(), Status: http.StatusOK, Body: w.x.resource.judged(w.line)})
		if len(issues) > 0 {
			s.logBroken(w.x, form, issues)
			return errBrokenEvent
		}
	}
	s.observer.EventSent(w.x.observed)
	_, err := w.to.Write(w.line)
	return err
}

// eventForms are the forms of events by those of their objects.
var eventForms = map[openapi.Form]openapi.Form{
	openapi.FormItem:          openapi.FormWatchEvent,
	openapi.FormTable:         openapi.FormWatchEventTable,
	openapi.FormPartialObject: openapi.FormWatchEventPartialObject,
}

// appendTable is a table of one row. Only the first says what its columns are.
func (w *eventWriter) appendTable(to []byte, o *store.Object) []byte {
	definitions := []byte("null")
	if !w.defined {
		w.defined = true
		// Structs of strings and numbers always have a JSON form.
		definitions, _ = json.Marshal(columnDefinitions(w.x.resource.columns))
	}
	to = append(to, `{"kind":"Table","apiVersion":"`+w.want.metaVersion+`","metadata":{"resourceVersion":"`...)
	to = append(strconv.AppendInt(to, o.Revision, 10), `"},"columnDefinitions":`...)
	to = append(append(to, definitions...), `,"rows":[`...)
	return append(w.server.appendRow(to, w.x.resource, o, w.want, w.include), "]}"...)
}

// bookmark tells how far the watch is, and whether all has been shown that was
// there at its beginning.
func (w *eventWriter) bookmark(revision int64, initialEnd bool) error {
	annotations := ""
	if initialEnd {
		annotations = `"annotations":{"` + initialEventsEnd + `":"true"},`
	}
	o := &store.Object{Revision: revision, JSON: []byte(`{"apiVersion":"` + w.x.resource.storedVersion() + `","kind":"` + w.x.resource.kind() + `","metadata":{` + annotations +
		`"resourceVersion":"` + strconv.FormatInt(revision, 10) + `"}}`)}
	if err := w.object(eventBookmark, o); err != nil {
		return err
	}
	return w.flush()
}

// failure tells why the watch ends.
func (w *eventWriter) failure(e *statusError) error {
	line := append(w.line[:0], `{"type":"`+eventError+`","object":`...)
	w.line = append(append(line, trimLine(e.body())...), "}\n"...)
	if err := w.end(eventError); err != nil {
		return err
	}
	return w.flush()
}

func trimLine(body []byte) []byte { return body[:len(body)-len(lineFeed)] }

// logBroken says where an answer of the server breaks the document.
func (s *server) logBroken(x *exchange, form openapi.Form, issues openapi.Issues) {
	attrs := []any{"id", x.id, "operation", operationID(x), "form", form.String()}
	for i, is := range issues[:min(len(issues), 10)] {
		attrs = append(attrs, slog.Group("issue"+strconv.Itoa(i), "pointer", is.Pointer, "rule", is.Rule, "message", is.Message))
	}
	s.log.Error("the answer breaks the document", attrs...)
}
