package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/store"
)

// answer is what a handler wants to send. A list is an envelope, head and tail,
// around stored objects; anything else is head alone.
type answer struct {
	status      int
	form        openapi.Form
	contentType string
	head        []byte
	items       []*store.Object
	tail        []byte
	// render appends an item as the list shows it; nil is its bytes as they are.
	// Items are rendered when they are sent, so that a client that is slow to read
	// a table of the whole fleet does not hold all of it in memory.
	render func(to []byte, o *store.Object) []byte
	// stored is set when head is one stored object: it was validated when it
	// entered the store, by the schema that the answer is declared to have.
	stored bool
	// stream is set for a watch, in place of a body.
	stream *watchStream
	// etag names the content, for clients that keep it; "" for none. cache is how they
	// may, "" for not at all.
	etag, cache string
	// fixed is set for what goes out byte for byte, however the client likes its JSON.
	fixed bool
}

func okJSON(form openapi.Form, body []byte) answer {
	return answer{status: http.StatusOK, form: form, contentType: mediaJSON, head: body}
}

// errorAnswer is the answer to an error.
func (s *server) errorAnswer(x *exchange, err error) answer {
	if errors.Is(err, errNoSuchPath) {
		x.w.Header().Set("X-Content-Type-Options", "nosniff")
		return answer{status: http.StatusNotFound, contentType: "text/plain; charset=utf-8", head: []byte("404 page not found\n")}
	}
	e, ours := toStatus(err)
	if ours {
		s.log.Error("request failed", "id", x.id, "operation", operationID(x), "error", err)
	}
	return e.answer(x.w.Header())
}

func (e *statusError) answer(h http.Header) answer {
	e.header(h)
	return answer{status: int(e.status.Code), form: openapi.FormStatus, contentType: mediaJSON, head: e.body()}
}

func operationID(x *exchange) string {
	if x.op == nil {
		return ""
	}
	return x.op.ID()
}

// respond validates the answer and writes it. An answer that breaks the document
// is our fault: the client gets a 500, the log what is wrong.
func (s *server) respond(x *exchange) {
	a := x.answer
	if x.err != nil {
		a = s.errorAnswer(x, x.err)
	}
	if issues := s.validateAnswer(x, a); len(issues) > 0 {
		s.logBroken(x, a.form, issues)
		a = failure(http.StatusInternalServerError, "InternalError",
			"Internal error occurred: the answer breaks the OpenAPI document; the server's log says where").answer(x.w.Header())
	}
	s.write(x, a)
}

// validateAnswer returns the rules of the document that the answer breaks. A text
// 404 is none of the document's answers: it says that the path is none of its paths.
// Nor is a 204, which is for a browser.
func (s *server) validateAnswer(x *exchange, a answer) openapi.Issues {
	if s.validate == ValidateOff || errors.Is(x.err, errNoSuchPath) || a.status == http.StatusNoContent {
		return nil
	}
	r := openapi.Response{Operation: x.op, Form: a.form, Kind: x.kind(), Status: a.status, Header: http.Header{"Content-Type": {a.contentType}}}
	switch {
	case a.stream != nil:
		r.Head = true
	case s.validate == ValidateFull:
		r.Body = x.resource.judged(a.whole())
	case a.stored:
		r.Head = true
	default: // The envelope: objects are valid.
		r.Body = x.resource.judged(slices.Concat(a.head, a.tail))
	}
	return s.doc.ValidateResponse(r)
}

// appendItem appends an item as the list shows it.
func (a *answer) appendItem(to []byte, o *store.Object) []byte {
	if a.render != nil {
		return a.render(to, o)
	}
	return append(to, o.JSON...)
}

// whole is the body in one piece.
func (a *answer) whole() []byte {
	var buf bytes.Buffer
	// Writing to a bytes.Buffer does not fail.
	_ = a.writeTo(&buf)
	return buf.Bytes()
}

func (a *answer) writeTo(w io.Writer) error {
	if _, err := w.Write(a.head); err != nil {
		return err
	}
	var rendered []byte
	for i, o := range a.items {
		if i > 0 {
			if _, err := w.Write(comma); err != nil {
				return err
			}
		}
		item := o.JSON
		if a.render != nil {
			rendered = a.render(rendered[:0], o)
			item = rendered
		}
		if _, err := w.Write(item); err != nil {
			return err
		}
	}
	_, err := w.Write(a.tail)
	return err
}

var comma = []byte{','}

// write sends the answer. As from a Kubernetes API server, what is one piece has
// a length, where that is known, and a list with items is streamed.
func (s *server) write(x *exchange, a answer) {
	r := x.rendition(&a)
	x.status = a.status
	h := x.w.Header()
	if a.status == http.StatusNoContent {
		x.w.WriteHeader(a.status)
		return
	}
	if a.etag != "" {
		h.Set("Etag", a.etag)
	}
	if a.cache != "" {
		h.Set("Cache-Control", a.cache)
	}
	if a.heldBy(x.r) {
		x.status = http.StatusNotModified
		x.w.WriteHeader(x.status)
		return
	}
	h.Set("Content-Type", r.contentType(a.contentType))
	if a.stream != nil {
		s.stream(x, a.stream)
		return
	}
	begun, err := x.send(&a, r)
	if err == nil {
		return
	}
	s.log.Error("the answer cannot be written as YAML", "id", x.id, "operation", operationID(x), "error", err)
	if begun {
		// The end of a chunked body would say that this was all.
		panic(http.ErrAbortHandler)
	}
	a = failure(http.StatusInternalServerError, "InternalError", "Internal error occurred").answer(h)
	a.fixed = true
	s.write(x, a)
}

// heldBy reports whether a client says that it has the content already (RFC 9110,
// If-None-Match).
func (a *answer) heldBy(r *http.Request) bool {
	if a.etag == "" || a.status != http.StatusOK {
		return false
	}
	for _, tags := range r.Header.Values("If-None-Match") {
		for tag := range strings.SplitSeq(tags, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == "*" || tag == a.etag {
				return true
			}
		}
	}
	return false
}

// stream answers a watch. Nothing but the client, its time and the end of the server
// end it: the time-out of requests is not about watches.
func (s *server) stream(x *exchange, st *watchStream) {
	ctx, cancel := context.WithCancel(x.base)
	defer cancel()
	defer context.AfterFunc(s.lifetime, cancel)()
	x.w.WriteHeader(http.StatusOK)
	if x.r.Method == http.MethodHead {
		return
	}
	// An error is the client's connection: there is nobody left to tell.
	_ = st.run(ctx)
}
