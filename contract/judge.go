package contract

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/openapi"
)

// judge holds every answer of a run against the document and keeps what it finds
// for the schema checks.
type judge struct {
	doc, given *openapi.Document
	enumWarn   bool
	redact     *redactor

	// judged are the digests of the items that were judged already: most lists
	// show the same ones.
	judged map[[sha256.Size]byte]bool
	// told are the faults that were told of an object already.
	told map[string]bool
	// uids has the object of each uid.
	uids  map[string]string
	found map[string]findings
	// seen counts what was judged for each check.
	seen map[string]int
}

func newJudge(doc, given *openapi.Document, cfg *config) *judge {
	return &judge{
		doc: doc, given: given, enumWarn: cfg.enumWarn,
		judged: make(map[[sha256.Size]byte]bool),
		told:   make(map[string]bool),
		uids:   make(map[string]string),
		found:  make(map[string]findings),
		seen:   make(map[string]int),
	}
}

// conventions reports whether there is more to ask than the given document does.
func (j *judge) conventions() bool { return j.doc.Profile() != openapi.ProfileDocument }

// see judges one answer.
func (j *judge) see(ex *exchange) {
	if ex.request.writes {
		j.seeWrite(ex)
		return
	}
	j.seen[checkStatusCode]++
	if ex.request.method == http.MethodHead {
		j.file(ex, "", j.doc.ValidateResponse(openapi.Response{
			Operation: ex.request.op, Status: ex.status, Header: ex.header, Head: true,
		}))
		return
	}
	j.seen[checkJSON]++
	j.seen[checkContentType]++
	if ex.unread != "" {
		j.add(checkJSON, fault(ex, Fail, ex.unread, "a whole body", ""))
		return
	}
	switch {
	case ex.status != http.StatusOK:
		j.seeError(ex)
	case ex.request.form == openapi.FormList:
		j.seeList(ex)
	default:
		j.seeItem(ex, ex.header, ex.body, requested(ex))
	}
}

// asJSON is the header that what is a part of an answer is judged with.
var asJSON = http.Header{"Content-Type": {"application/json"}}

// seeEncoding judges how the answer to a request of the run's own is encoded. The
// transport asks for gzip alone, and takes the header away when it has decoded the
// body.
func (j *judge) seeEncoding(ex *exchange) {
	if ex.request.method == http.MethodHead {
		return // the transport asks for no encoding there, and there is no body
	}
	if encoding := ex.header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		j.add(checkJSON, fault(ex, Fail, "a body is said to be encoded in a way that was not asked for", "no Content-Encoding", encoding))
	}
}

// seeList judges a list: what is around the items, and each item that was not
// judged before.
func (j *judge) seeList(ex *exchange) {
	j.seen[checkList]++
	body := ex.body
	list, ok := ex.split()
	if ok && list.items != nil {
		body = list.envelope
	}
	j.file(ex, "", j.doc.ValidateResponse(openapi.Response{
		Operation: ex.request.op, Form: openapi.FormList, Status: ex.status, Header: ex.header, Body: body,
	}))
	for i, raw := range list.items {
		digest := sha256.Sum256(raw)
		if j.judged[digest] {
			continue
		}
		j.judged[digest] = true
		key := "items/" + strconv.Itoa(i)
		if it, ok := readItem(raw, ""); ok {
			key = it.key()
		}
		j.seeItem(ex, asJSON, raw, key)
	}
}

// seeItem judges one machine, in a list or by itself.
func (j *judge) seeItem(ex *exchange, header http.Header, raw []byte, key string) {
	j.seen[checkObject]++
	issues := j.doc.ValidateResponse(openapi.Response{
		Operation: j.doc.Operation(opRead), Form: openapi.FormItem, Status: http.StatusOK, Header: header, Body: raw,
	})
	if ex.request.form == openapi.FormList {
		ex = ex.about(raw, "the item "+key+" of the list")
	}
	j.file(ex, key, issues)
	j.seeProse(ex, key, raw)
	if !j.conventions() {
		return
	}
	j.seen[checkDrift]++
	for _, issue := range j.given.ValidateObject(raw) {
		if !told(issues, issue) {
			j.fileAs(checkDrift, Warning, ex, key, issue)
		}
	}
}

// told reports whether issues have one of the same rule at the same place.
func told(issues openapi.Issues, issue openapi.Issue) bool {
	for _, i := range issues {
		if i.Rule == issue.Rule && i.Pointer == issue.Pointer {
			return true
		}
	}
	return false
}

// reasons are the words that a Status says for a code (meta/v1 StatusReason).
var reasons = map[int][]string{
	http.StatusBadRequest:          {"BadRequest"},
	http.StatusUnauthorized:        {"Unauthorized"},
	http.StatusForbidden:           {"Forbidden"},
	http.StatusNotFound:            {"NotFound"},
	http.StatusMethodNotAllowed:    {"MethodNotAllowed"},
	http.StatusNotAcceptable:       {"NotAcceptable"},
	http.StatusConflict:            {"AlreadyExists", "Conflict"},
	http.StatusGone:                {"Expired", "Gone"},
	http.StatusUnprocessableEntity: {"Invalid"},
}

// seeError judges an answer that is no success.
func (j *judge) seeError(ex *exchange) {
	if j.conventions() {
		j.seen[checkError]++
	}
	issues := j.doc.ValidateResponse(openapi.Response{
		Operation: ex.request.op, Status: ex.status, Header: ex.header, Body: ex.body,
	})
	j.file(ex, "", issues)
	if j.conventions() && len(issues) == 0 {
		j.seeReason(ex)
	}
}

// seeReason judges whether an error says the same thing by its status code and by
// its Status.
func (j *judge) seeReason(ex *exchange) {
	want := reasons[ex.status]
	if want == nil {
		return
	}
	var status struct{ Reason, Status string }
	if json.Unmarshal(ex.body, &status) != nil {
		return
	}
	if status.Status != "Failure" {
		j.add(checkError, fault(ex, Fail, "an error has a Status that says another thing than Failure", "status Failure", "status "+status.Status))
	}
	for _, reason := range want {
		if status.Reason == reason {
			return
		}
	}
	j.add(checkError, fault(ex, Fail, fmt.Sprintf("status code %d and the reason of the Status do not agree", ex.status),
		"reason "+strings.Join(want, " or "), "reason "+strconv.Quote(status.Reason)))
}

// file puts issues where they belong.
func (j *judge) file(ex *exchange, object string, issues openapi.Issues) {
	for _, issue := range issues {
		switch {
		case issue.Rule == openapi.RuleUndeclaredStatus:
			j.fileStatus(ex)
		case issue.Rule == openapi.RuleContentType:
			j.fileAs(checkContentType, Fail, ex, object, issue)
		case issue.Rule == openapi.RuleJSONIntegerForm && j.conventions():
			j.fileAs(checkJSON, Warning, ex, object, issue)
		case strings.HasPrefix(issue.Rule, "json-"):
			j.fileAs(checkJSON, Fail, ex, object, issue)
		case ex.status >= http.StatusBadRequest:
			j.fileAs(checkError, Fail, ex, object, issue)
		case object == "":
			j.fileAs(wholeCheck(ex.request.form), Fail, ex, object, issue)
		case j.conventions() && issue.Rule == "format" && issue.Pointer == "/spec/domain/firmware/uuid":
			j.fileAs(checkObject, Warning, ex, object, issue) // KubeVirt takes any text
		case j.enumWarn && issue.Rule == "enum" && inside(issue.Pointer):
			j.fileAs(checkObject, Warning, ex, object, issue)
		default:
			j.fileAs(checkObject, Fail, ex, object, issue)
		}
	}
}

// inside reports whether a pointer leads into what a machine is or does, not
// into what says that it is one.
func inside(pointer string) bool {
	return strings.HasPrefix(pointer, "/spec/") || strings.HasPrefix(pointer, "/status/")
}

// gaps are the codes that the given document leaves out and that every
// Kubernetes API answers with.
var gaps = map[int]bool{400: true, 403: true, 404: true, 405: true, 406: true, 410: true, 422: true, 429: true, 500: true, 503: true, 504: true}

func (j *judge) fileStatus(ex *exchange) {
	if ex.request.refusable && refused(ex.status) {
		return
	}
	f := fault(ex, Fail, fmt.Sprintf("status code %d is not declared for %s", ex.status, ex.request.op.ID()),
		"one of "+strings.Trim(fmt.Sprint(ex.request.op.Statuses()), "[]"), strconv.Itoa(ex.status))
	if gaps[ex.status] {
		f.Outcome = Warning
		f.Message += ", though usual in Kubernetes"
	}
	j.add(checkStatusCode, f)
}

func (j *judge) fileAs(check string, outcome Outcome, ex *exchange, object string, issue openapi.Issue) {
	f := fault(ex, outcome, anywhere(issue.Pointer)+" breaks "+issue.Rule, issue.Message, issue.Value)
	f.pointer = issue.Pointer
	j.addOnce(check, object, f)
}

// addOnce adds a fault of an object unless it was told of that object already.
func (j *judge) addOnce(check, object string, f Finding) {
	if object != "" {
		once := strings.Join([]string{check, f.Message, object}, "\x00")
		if j.told[once] {
			return
		}
		j.told[once], f.Objects = true, []string{object}
	}
	j.add(check, f)
}

func (j *judge) add(check string, f Finding) {
	fs := j.found[check]
	fs.add(j.redact, f)
	j.found[check] = fs
}

// anywhere returns a pointer with * for the positions in arrays, so that the same
// fault in many places is one.
func anywhere(pointer string) string {
	if pointer == "" {
		return "the body"
	}
	parts := strings.Split(pointer, "/")
	for i, p := range parts {
		if _, err := strconv.ParseUint(p, 10, 64); err == nil {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}

// requested is the key of the machine that a request is for, else the path.
func requested(ex *exchange) string {
	if it, ok := readItem(ex.body, ""); ok {
		return it.key()
	}
	return ex.request.path
}

func refused(status int) bool { return status >= 400 && status < 500 }
