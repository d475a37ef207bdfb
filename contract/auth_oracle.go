package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

var needAnyCredential = Need{"a token, a client certificate or a token without rights", func(r *run) (Outcome, string) {
	t := r.target
	return unless(t.Token != "" || t.Bare != nil || t.ForbiddenToken != "", Skipped, "no credential was given")
}}

// oracle asks for an object that exists and for one that does not, in a namespace
// that exists and one that does not, with each credential that must be refused, and
// compares the refusals. Somebody who is let in is for the other checks to tell.
func oracle(ctx context.Context, r *run) (verdict, error) {
	var as []credential
	if r.target.Token != "" || r.target.Bare != nil {
		as = append(as, withNothing, withWrongToken)
	}
	if r.target.Token != "" {
		as = append(as, withBasic)
	}
	if r.target.ForbiddenToken != "" {
		as = append(as, withForbiddenToken)
	}
	v := passed("%s", number(len(as), "credential"))
	for _, c := range as {
		there := r.readRequest(string(r.primary), r.anyName(), c)
		absent := r.readRequest(string(r.primary), r.nobody(), c)
		absent2 := r.readRequest(string(r.primary), r.nobody()+"-2", c)
		if err := r.alike(ctx, &v, there, absent, absent2, "names"); err != nil {
			return v, err
		}
		if !r.conventions() {
			continue
		}
		nowhere, nowhere2 := r.readRequest(r.nobody(), r.nobody(), c), r.readRequest(r.nobody()+"-2", r.nobody(), c)
		if err := r.alike(ctx, &v, absent, nowhere, nowhere2, "namespaces"); err != nil {
			return v, err
		}
		there.method, absent.method, absent2.method = http.MethodHead, http.MethodHead, http.MethodHead
		if err := r.alike(ctx, &v, there, absent, absent2, "names"); err != nil {
			return v, err
		}
	}
	return v, nil
}

// alike tells when what exists is refused in another way than what does not. What
// differs from refusal to refusal for two things of which neither exists, such as
// the number of the request, says nothing.
func (r *run) alike(ctx context.Context, v *verdict, there, absent, absent2 request, what string) error {
	got, err := r.ask(ctx, there)
	if err != nil || !refused(got.status) {
		return err
	}
	var forms []string
	for _, req := range []request{absent, absent2, there, absent} {
		ex, err := r.ask(ctx, req)
		if err != nil {
			return err
		}
		forms = append(forms, refusalForm(ex, req))
		if len(forms) == 1 && forms[0] == refusalForm(got, there) {
			return nil
		}
	}
	// The last two are the first two once more: one may have been refused for another
	// reason.
	if forms[0] == forms[1] && forms[0] == forms[3] && forms[2] != forms[0] && forms[2] == refusalForm(got, there) {
		v.add(r, fault(got, Fail, "who is refused is told which "+what+" exist", "the answer to what does not exist: "+forms[0], forms[2]))
	}
	return nil
}

// refusalForm is what an answer gives away besides the names that were asked for:
// the status, the fields of the body and its texts without those names.
func refusalForm(ex *exchange, req request) string {
	form := fmt.Sprintf("status %d", ex.status)
	var body map[string]any
	switch {
	case len(bytes.TrimSpace(ex.body)) == 0:
		return form + " without a body"
	case json.Unmarshal(ex.body, &body) != nil:
		return form + " with a body of another form than JSON"
	}
	if reason, ok := body["reason"].(string); ok {
		form += ", reason " + reason
	}
	form += ", fields " + strings.Join(fields(body, ""), " ")
	if message, ok := body["message"].(string); ok {
		parts := strings.Split(req.path, "/")
		for i, part := range slices.Backward(parts[max(0, len(parts)-3):]) {
			if name, err := url.PathUnescape(part); err == nil && i != 1 {
				message = strings.ReplaceAll(message, strconv.Quote(name), "…")
			}
		}
		form += ", message " + message
	}
	return form
}

// fields are the names of the fields of an object and of those in it.
func fields(object map[string]any, under string) []string {
	var names []string
	for _, key := range slices.Sorted(maps.Keys(object)) {
		names = append(names, under+key)
		if inner, ok := object[key].(map[string]any); ok {
			names = append(names, fields(inner, under+key+".")...)
		}
	}
	return names
}
