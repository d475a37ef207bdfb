package contract

import (
	"encoding/json"
	"net/http"

	"github.com/vmikit/vmikit/openapi"
)

// seeWrite judges the answer to a write. The documents have no operations for
// writes, so which status codes there may be is for the checks to say; a body is the
// one that a read would have brought, or a Status.
func (j *judge) seeWrite(ex *exchange) {
	j.seen[checkJSON]++
	j.seen[checkContentType]++
	if ex.unread != "" {
		j.add(checkJSON, fault(ex, Fail, ex.unread, "a whole body", ""))
		return
	}
	if success(ex.status) && bodyKind(ex.body) != "Status" {
		j.seeItem(ex, ex.header, ex.body, requested(ex))
		return
	}
	// As a read: this judges the Content-Type, and the body as a Status.
	issues := j.doc.ValidateResponse(openapi.Response{
		Operation: j.doc.Operation(opRead), Form: openapi.FormStatus, Status: http.StatusOK, Header: ex.header, Body: ex.body,
	})
	if len(issues) == 0 {
		issues = j.doc.ValidateResponse(openapi.Response{Form: openapi.FormStatus, Status: ex.status, Body: ex.body})
	}
	if success(ex.status) {
		j.file(ex, requested(ex), issues)
		return
	}
	j.seen[checkError]++
	j.file(ex, "", issues)
	if len(issues) == 0 {
		j.seeReason(ex)
	}
}

// seeEvent judges one event of a watch.
func (j *judge) seeEvent(ex *exchange, e event) {
	j.seen[checkObject]++
	key := "an event without a name"
	if e.machine != nil {
		key = e.machine.key()
	}
	j.file(ex.about(e.line, "one event of the watch"), key, j.doc.ValidateResponse(openapi.Response{
		Operation: ex.request.op, Form: openapi.FormWatchEvent, Status: ex.status, Header: ex.header, Body: e.line,
	}))
}

func bodyKind(body []byte) string {
	var object struct{ Kind string }
	if json.Unmarshal(body, &object) != nil {
		return ""
	}
	return object.Kind
}
