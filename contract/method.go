package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

var needProbes = Need{"leave to send other methods than GET and HEAD", func(r *run) (Outcome, string) {
	return unless(r.config.probeMethods, Skipped, "not asked for (--probe-methods)")
}}

// methodChecks send other methods than GET and HEAD, without a body, and to the
// path of an object that does not exist.
func methodChecks() []Check {
	needs := []Need{needProbes, needConventions}
	return []Check{
		{
			ID: "method.write", Clause: Clause{0, "a write to an object that does not exist is refused"}, Needs: needs,
			Explain: "A client that is told that its change was made, or its object deleted, does not look again.",
			run: func(ctx context.Context, r *run) (verdict, error) {
				v, err := probeMethods(http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodPost)(ctx, r)
				if err != nil || r.target.Token == "" && r.target.Bare == nil {
					return v, err
				}
				return v, r.deleteAsNobody(ctx, &v)
			},
		}, {
			ID: "method.unknown", Clause: Clause{0, "a method that is not supported is refused with 405"}, Needs: needs,
			Explain: "A method that nobody knows is not taken for another one, and breaks nothing; neither does OPTIONS, which may be answered.",
			run:     probeMethods(unknownMethod, http.MethodOptions),
		}, {
			ID: "method.trace", Clause: Clause{0, "a method that is not supported is refused with 405"}, Needs: needs,
			Explain: "A server that repeats a request shows its credentials to whoever can read the answer, scripts in a page among them (RFC 9110, 9.3.8).",
			run:     trace,
		},
	}
}

const unknownMethod = "FOO"

// deleteAsNobody asks for a deletion without a credential.
func (r *run) deleteAsNobody(ctx context.Context, v *verdict) error {
	req := r.methodRequest(http.MethodDelete)
	req.credential = withNothing
	ex, err := r.provoke(ctx, v, req)
	if err != nil || ex == nil {
		return err
	}
	if f := refusal(ex, http.StatusUnauthorized, []int{http.StatusForbidden, http.StatusMethodNotAllowed}, true); f != nil {
		v.add(r, *f)
	}
	return nil
}

// probeMethods asks with methods for an object that does not exist.
func probeMethods(methods ...string) func(context.Context, *run) (verdict, error) {
	return func(ctx context.Context, r *run) (verdict, error) {
		v := passed("%s", number(len(methods), "method"))
		for _, method := range methods {
			ex, err := r.provoke(ctx, &v, r.methodRequest(method))
			if err != nil {
				return v, err
			}
			// OPTIONS may be answered by any server (RFC 9110, 9.3.7).
			if ex == nil || refused(ex.status) || unimplemented(ex) || method == http.MethodOptions {
				if ex != nil && method != http.MethodOptions {
					r.methodRefusal(&v, ex)
				}
				continue
			}
			f := fault(ex, Fail, "a method is said to have been carried out on an object that does not exist",
				"status 404 or 405", fmt.Sprintf("status %d to %s", ex.status, method))
			if ex.status >= http.StatusMultipleChoices {
				f.Outcome, f.Message = Warning, "a method is redirected"
			}
			v.add(r, f)
		}
		return v, nil
	}
}

// methodRefusal looks at the body with which a method is refused: the Status of
// another code or reason, or a page, sends a client on a wrong way.
func (r *run) methodRefusal(v *verdict, ex *exchange) {
	if ex.request.method == unknownMethod && ex.status == http.StatusNotFound {
		v.add(r, fault(ex, Warning, "a method that nobody knows seems to be taken for another one", "status 405", "status 404, as to GET"))
	}
	if mediaType(ex) == "text/html" {
		f := fault(ex, Fail, "a method is refused with a page", "a Status", "text/html")
		if unimplemented(ex) {
			f.Outcome = Warning // the words of a web server that does not know the method
		}
		v.add(r, f)
		return
	}
	var status struct {
		Kind, Reason string
		Code         int
	}
	if json.Unmarshal(ex.body, &status) != nil || status.Kind != "Status" {
		return
	}
	if want := reasons[ex.status]; status.Code != ex.status || want != nil && !slices.Contains(want, status.Reason) {
		v.add(r, fault(ex, Fail, "the Status that refuses a method does not agree with the status code",
			fmt.Sprintf("code %d, reason %s", ex.status, strings.Join(want, " or ")), fmt.Sprintf("code %d, reason %s", status.Code, status.Reason)))
	}
}

func (r *run) methodRequest(method string) request {
	req := r.readRequest(string(r.primary), r.nobody(), withToken)
	req.method = method
	return req
}

// trace looks for the credentials of the request in the answer to TRACE. Without
// any of its own it sends a wrong token.
func trace(ctx context.Context, r *run) (verdict, error) {
	v := passed("1 method")
	req := r.methodRequest(http.MethodTrace)
	if r.target.Token == "" {
		req.credential = withWrongToken
	}
	ex, err := r.provoke(ctx, &v, req)
	if err != nil || ex == nil || refused(ex.status) || unimplemented(ex) {
		return v, err
	}
	f := fault(ex, Warning, "TRACE is answered", "status 405", fmt.Sprintf("status %d", ex.status))
	if bytes.Contains(ex.body, []byte(req.credential.header(r.target))) {
		f.Outcome, f.Message, f.Got = Fail, "the answer to TRACE has the credentials of the request in it", "the header Authorization"
	}
	v.add(r, f)
	return v, nil
}
