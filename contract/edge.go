package contract

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

var (
	clauseName      = Clause{610, "description: The name of the resource."}
	clauseNobody    = Clause{66, "description: VirtualMachineInstance not found"}
	clauseResponses = Clause{56, "responses:"}
)

// edgeChecks ask what nobody asks by intent: names and parameters at the edge of
// what there may be. Any refusal is right, and so is closing the connection:
// what stands in front of an implementation may refuse before it is asked.
func edgeChecks() []Check {
	return []Check{
		{
			ID: "edge.encoded-name", Clause: clauseName, Needs: []Need{needObject},
			Explain: "A letter written as %76 is that letter (RFC 3986, 2.3): the path names the same object.",
			run:     encodedName,
		}, {
			ID: "edge.near-name", Clause: clauseNobody, Needs: []Need{needObject},
			Explain: "A name that only resembles that of an object, in another case, cut or with something behind it, is not its name.",
			run:     namesAlike,
		}, {
			ID: "edge.decoding", Clause: clauseNobody, Needs: []Need{needObject},
			Explain: "A name is decoded once, is not cut at a NUL and not made from other characters: who guards names sees another one otherwise.",
			run:     decoding,
		}, {
			ID: "edge.traversal", Clause: clauseNobody, Needs: []Need{needObject},
			Explain: "Dots and encoded slashes lead nowhere: whoever may read one path reads another with them.",
			run:     traversal,
		}, {
			ID: "edge.long-name", Clause: clauseNobody,
			Explain: "A name far longer than any is refused, not an error of the server.",
			run:     longNames,
		}, {
			ID: "edge.namespace", Clause: clauseNamespace, Needs: []Need{needObject},
			Explain: "What only resembles the name of a namespace does not list its objects.",
			run:     namespacesAlike,
		}, {
			ID: "edge.path", Clause: Clause{0, "a version, resource or part of an object that is not served is answered with 404"}, Needs: []Need{needConventions, needObject},
			Explain: "Whoever asks for what is not served must not be given something else for it.",
			run:     pathsAlike,
		}, {
			ID: "edge.html", Clause: clauseResponses,
			Explain: "A browser that is shown what somebody wrote into a link as part of a page runs it, with the rights of whoever clicked.",
			run:     reflected,
		}, {
			ID: "edge.limit", Clause: Clause{590, "type: integer"},
			Explain: "A limit that is no integer from 1 on is refused, not taken for some other number.",
			run:     oddLimits,
		}, {
			ID: "edge.repeated-parameter", Clause: Clause{0, "of a parameter that is given twice the first value counts"}, Needs: []Need{needConventions, needTwoObjects, needNames},
			Explain: "Who lets a request through by its first value must not have it answered by another one.",
			run:     repeatedParameters,
		}, {
			ID: "edge.unknown-parameter", Clause: Clause{0, "parameters that are not known are ignored, and names of parameters have a case"}, Needs: []Need{needConventions, needObject},
			Explain: "Clients send parameters of newer versions, and count on being answered all the same.",
			run:     unknownParameters,
		}, {
			ID: "edge.empty-parameter", Clause: Clause{0, "a selector or continue with an empty value is none"}, Needs: []Need{needConventions, needObject},
			Explain: "Clients that always send their parameters send empty ones for nothing.",
			run:     emptyParameters,
		}, {
			ID: "edge.selector-syntax", Clause: Clause{0, "a selector that cannot be read is refused with 400"}, Needs: []Need{needConventions, needObject},
			Explain: "A selector with a slip in it that is taken for none has whoever deletes what is listed delete everything.",
			run:     selectorSyntax,
		}, {
			ID: "edge.long-selector", Clause: clauseLabelSelector, Needs: []Need{needObject},
			Explain: "A selector of 8 kB is read to its end or refused, not cut.",
			run:     longSelectors,
		}, {
			ID: "edge.continue", Clause: Clause{0, "a continue token that the server did not give out is refused"}, Needs: []Need{needConventions, needObject},
			Explain: "A client with a broken token must not take the first page, or an empty one, for the next.",
			run:     garbageContinue,
		},
	}
}

// marker is a harmless tag: where it comes back as one, others would.
const marker = "vmikit<i>x"

// provoke sends a request that may be refused in any way. The exchange is nil when
// there is nothing to tell by it: the target closed the connection, or did what
// provoke adds to v itself. That is a page with the marker in it; and, twice with
// an ordinary request between that is answered, an answer of 500 and above or none
// in time: it is this request then that the target cannot bear.
func (r *run) provoke(ctx context.Context, v *verdict, req request) (*exchange, error) {
	ex, err := r.once(ctx, req)
	if trouble(ex, err) {
		if err := r.settle(ctx, ex); err != nil {
			return nil, err // the target is in trouble with any request
		}
		ex, err = r.once(ctx, req)
	}
	switch {
	case ex != nil && busy(ex.status):
		return nil, fmt.Errorf("%w: status %d", errBusy, ex.status)
	case errors.Is(err, errNoAnswer):
		v.add(r, Finding{
			Outcome: Fail, Message: "a request is not answered, while others are", Expected: "any answer",
			Got: err.Error(), Curl: r.caller.redact.curl(req, r.caller.url(req)),
		})
		return nil, err // the rest would take as long
	case err != nil, ex == nil:
		return nil, err
	case unimplemented(ex):
		r.caller.streak = 0 // a refusal (RFC 9110, 15.6.2), not a target in trouble
	case ex.status >= http.StatusInternalServerError:
		v.add(r, fault(ex, Fail, "the server breaks at a request that it should refuse or answer",
			"a status below 500", "status "+strconv.Itoa(ex.status)))
		return nil, nil
	case reflects(ex):
		v.add(r, fault(ex, Fail, "a page repeats text of the request as it came", "the text escaped, or not as HTML", marker))
		return nil, nil
	case refused(ex.status) && mediaType(ex) == "application/json" && ex.unread == "" && len(ex.body) > 0 && !json.Valid(ex.body):
		v.add(r, fault(ex, Fail, "a refusal says that it is JSON and is none", "one JSON value", "no JSON"))
		return nil, nil
	case req.refusable:
		r.judge.see(ex)
	}
	return ex, nil
}

// once sends a request and does not try again, since a target may break off what
// it refuses, save where it is sent too many. The exchange is nil when the target
// closed the connection.
func (r *run) once(ctx context.Context, req request) (*exchange, error) {
	ex, err := r.caller.send(ctx, req)
	if err == nil && ex.status == http.StatusTooManyRequests {
		if err := r.wait(ctx, ex); err != nil {
			return nil, err
		}
		ex, err = r.caller.do(ctx, req)
	}
	r.tell()
	if errors.Is(err, errBrokenOff) {
		return nil, nil
	}
	return ex, err
}

// settle sends an ordinary request after one that brought trouble. A busy target
// is given its time first.
func (r *run) settle(ctx context.Context, before *exchange) error {
	if before != nil && busy(before.status) {
		if err := r.wait(ctx, before); err != nil {
			return err
		}
	}
	_, err := r.read(ctx, string(r.primary), r.nobody(), withToken)
	return err
}

// wait waits as long as a busy target asks for.
func (r *run) wait(ctx context.Context, ex *exchange) error {
	r.caller.hiccups["status "+strconv.Itoa(ex.status)]++
	wait := retryAfter(ex.header, time.Now())
	if wait > maxWait {
		r.caller.postpone(wait)
		return fmt.Errorf("%w: status %d", errBusy, ex.status)
	}
	return sleep(ctx, wait)
}

func trouble(ex *exchange, err error) bool {
	return errors.Is(err, errNoAnswer) || ex != nil && ex.status >= http.StatusInternalServerError && !unimplemented(ex)
}

// unimplemented reports whether an answer says that the server does not have the
// method at all, which it cannot say of GET.
func unimplemented(ex *exchange) bool {
	return ex.status == http.StatusNotImplemented && cmp.Or(ex.request.method, http.MethodGet) != http.MethodGet
}

// reflects reports whether a browser would show the marker as a tag.
func reflects(ex *exchange) bool {
	declared := cmp.Or(ex.header.Get("Content-Type"), http.DetectContentType(ex.body))
	kind, _, _ := mime.ParseMediaType(declared)
	return (kind == "text/html" || kind == "application/xhtml+xml") && bytes.Contains(ex.body, []byte(marker))
}

// reflected asks with the marker as a name and as a selector.
func reflected(ctx context.Context, r *run) (verdict, error) {
	v := passed("2 requests")
	read := r.readRequest(string(r.primary), marker, withToken)
	list := r.listRequest(r.least(), map[string][]string{"labelSelector": {marker}})
	for _, req := range []request{read, list} {
		if _, err := r.provoke(ctx, &v, req); err != nil {
			return v, err
		}
	}
	return v, nil
}

// strange is a request for a name that no object has.
type strange struct {
	path string
	// name is what the path asks for. An object of that name may be answered: it may
	// have come meanwhile. "" is a name that cannot be.
	name string
	// mayLead says that the path may be brought into another form, by a redirect.
	mayLead bool
	// resolved is what the path names once its dots are resolved, as the rules for
	// URLs have it (RFC 3986, 5.2.4 and 6.2.2.3): a proxy may do that, an API server
	// does not.
	resolved string
}

// provokeAll asks for names that no object has and adds what is shown for them.
func (r *run) provokeAll(ctx context.Context, asked []strange) (verdict, error) {
	v := passed("%d names", len(asked))
	for _, s := range asked {
		req := r.readRequest("", "", withToken)
		req.path = s.path
		ex, err := r.provoke(ctx, &v, req)
		if err != nil {
			return v, err
		}
		if ex == nil || refused(ex.status) {
			continue
		}
		f := s.shown(ex)
		if f == nil {
			continue
		}
		usual, err := r.read(ctx, string(r.primary), r.nobody(), withToken)
		if err != nil {
			return v, err
		}
		if !refused(usual.status) {
			break // no name is refused, which is for notfound.name to tell
		}
		v.add(r, *f)
	}
	return v, nil
}

// news returns the claims against the answer to an odd request, none when the
// usual one for the same objects has its faults as well: another check tells those.
func (r *run) news(ctx context.Context, sc scope, usual url.Values, want []*item, claims []claim) ([]claim, error) {
	if len(claims) == 0 {
		return nil, nil
	}
	got, err := r.expect(ctx, sc, usual, len(want))
	if err != nil || len(compare(want, got)) > 0 {
		return nil, err
	}
	return claims, nil
}

// shown judges an answer that is no refusal, nil for a right one.
func (s strange) shown(ex *exchange) *Finding {
	f := fault(ex, Fail, "a name that no object has is answered like one", "status 404", fmt.Sprintf("status %d", ex.status))
	if ex.status >= http.StatusMultipleChoices {
		f.Outcome, f.Message = Warning, "a name that no object has is redirected"
		if s.mayLead {
			return nil
		}
		return &f
	}
	if it, ok := readItem(ex.body, ""); ok {
		if s.name == it.name {
			return nil
		}
		f.Message, f.Objects = "another object is shown than the path names", []string{it.key()}
		if s.resolved != "" && s.resolved == it.key() {
			f.Outcome, f.Message = Warning, "the dots of a path are resolved"
		}
	} else if list, ok := ex.split(); ok && list.items != nil {
		f.Message, f.Got = "a list is shown where the path names an object", number(len(list.items), "object")
	}
	return &f
}
