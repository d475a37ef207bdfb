package contract

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

var (
	clauseUnauthorized = Clause{43, "description: Unauthorized"}
	clauseForbidden    = Clause{45, "description: Forbidden"}
)

// authChecks run although the document has no security section: it declares the
// answers 401 and 403, and a server that takes anybody is the worst fault of all.
func authChecks() []Check {
	return []Check{
		{
			ID: "auth.no-token", Clause: clauseUnauthorized, Needs: []Need{needCredential},
			Explain: "Without a token nothing is shown. Kubernetes answers 403 where it knows anonymous users, 401 where it does not.",
			run:     credentials(everywhereAsked, http.StatusUnauthorized, []int{http.StatusForbidden}, withNothing),
		}, {
			ID: "auth.wrong-token", Clause: clauseUnauthorized, Needs: []Need{needCredential},
			Explain: "A token that nobody has is refused, not taken for an anonymous or any other user.",
			run:     credentials(everywhereAsked, http.StatusUnauthorized, nil, withWrongToken),
		}, {
			ID: "auth.wrong-scheme", Clause: clauseUnauthorized, Needs: []Need{needToken},
			Explain: "The right token counts behind the scheme Bearer only. Behind another one it is no token.",
			run:     credentials(listsAndObject, http.StatusUnauthorized, []int{http.StatusForbidden}, withBasic, withOtherScheme, withBareToken),
		}, {
			ID: "auth.forbidden", Clause: clauseForbidden, Needs: []Need{needForbiddenToken},
			Explain: "Somebody who is known and has no rights is told so, and shown nothing.",
			run:     credentials(everywhereAsked, http.StatusForbidden, nil, withForbiddenToken),
		}, {
			ID: "auth.near-token", Clause: clauseUnauthorized, Needs: []Need{needToken},
			Explain: "A token that only resembles the right one, cut, longer or in another case, or an empty one, is another token.",
			run:     credentials(oneObject, http.StatusUnauthorized, []int{http.StatusForbidden}, withEmptyBearer, withTokenCut, withTokenLonger, withTokenInOtherCase),
		}, {
			ID: "auth.query-token", Clause: clauseUnauthorized, Needs: []Need{needToken},
			Explain: "A token in a URL is no token: URLs stand in logs, histories and links. This check puts the token there, so it is in the logs of the target.",
			run:     queryToken,
		}, {
			ID: "auth.oracle", Clause: clauseUnauthorized, Needs: []Need{needAnyCredential, needObject},
			Explain: "Who may see nothing is not told either which objects there are: a name that exists is refused like one that does not.",
			run:     oracle,
		},
	}
}

// questions are the requests that a check of credentials sends.
type questions func(context.Context, *run) ([]request, error)

func oneObject(_ context.Context, r *run) ([]request, error) {
	return []request{r.readRequest(string(r.primary), r.anyName(), withToken)}, nil
}

// listsAndObject are the lists and an object, and their heads, which tell an intruder
// what there is.
func listsAndObject(ctx context.Context, r *run) ([]request, error) {
	requests, err := oneObject(ctx, r)
	for _, sc := range r.scopes() {
		requests = append(requests, r.listRequest(sc, nil))
	}
	if r.conventions() {
		for _, get := range slices.Clone(requests) {
			get.method = http.MethodHead
			requests = append(requests, get)
		}
	}
	return requests, err
}

// everywhereAsked adds lists that are asked for with parameters, the list of another
// namespace, and a second page.
func everywhereAsked(ctx context.Context, r *run) ([]request, error) {
	requests, err := listsAndObject(ctx, r)
	if err != nil {
		return nil, err
	}
	requests = append(requests, r.listRequest(r.primary, url.Values{"labelSelector": {"!" + unknownKey}, "limit": {"1"}}))
	if !r.conventions() {
		return requests, nil
	}
	if sc := r.least(); sc != r.primary {
		requests = append(requests, r.listRequest(sc, nil))
	}
	first, err := r.ask(ctx, r.listRequest(r.widest, limited(1)))
	if err != nil {
		return nil, err
	}
	if list, ok := first.split(); ok && list.cont != "" {
		query := limited(1)
		query.Set("continue", list.cont)
		requests = append(requests, r.listRequest(r.widest, query))
	}
	return requests, nil
}

// credentials asks with credentials that must be refused.
func credentials(with questions, want int, alsoRight []int, as ...credential) func(context.Context, *run) (verdict, error) {
	return func(ctx context.Context, r *run) (verdict, error) {
		requests, err := with(ctx, r)
		if err != nil {
			return verdict{}, err
		}
		v := passed("%d requests", len(as)*len(requests))
		for _, c := range as {
			for _, req := range requests {
				req.credential = c
				ex, err := r.ask(ctx, req)
				if err != nil {
					return v, err
				}
				if f := refusal(ex, want, alsoRight, r.conventions()); f != nil {
					v.add(r, *f)
				}
			}
		}
		return v, nil
	}
}

// refusal judges the answer to credentials that must be refused. A refusal with
// another status is a fault as well: clients ask for a new credential at 401 and for
// rights at 403, and at any other status they go a wrong way. One that confuses the
// two is a warning where 401 is due. A redirect to a login page is none: a client follows it and takes the page for
// its answer.
func refusal(ex *exchange, want int, alsoRight []int, conventions bool) *Finding {
	f := fault(ex, Fail, "somebody is let in who must not be", fmt.Sprintf("status %d", want), fmt.Sprintf("status %d", ex.status))
	switch {
	case ex.status == want, slices.Contains(alsoRight, ex.status):
		return nil
	case ex.request.method == http.MethodHead && ex.status == http.StatusMethodNotAllowed:
		return nil // it shows nothing to anybody, which is for consistency.head to tell
	case ex.status >= 300 && ex.status < 400:
		f.Message = "redirects to a login page instead of refusing"
		to, _, _ := strings.Cut(ex.header.Get("Location"), "?")
		f.Got += " to " + cmp.Or(to, "nowhere")
		return &f
	case ex.status == http.StatusOK && mediaType(ex) == "text/html":
		f.Message = "shows a page, as for a login, instead of refusing"
		return &f
	case !refused(ex.status):
		return &f
	case !conventions && slices.Contains(ex.request.op.Statuses(), ex.status):
		return nil // the document leaves open when each of its answers is due
	}
	f.Message = "the refusal has another status than it should"
	if want == http.StatusUnauthorized && ex.status == http.StatusForbidden {
		f.Outcome = Warning
	}
	return &f
}

// queryToken asks the lists and an object with the token in the query and without
// a header. What is shown to anybody, auth.no-token tells.
func queryToken(ctx context.Context, r *run) (verdict, error) {
	requests := []request{r.readRequest(string(r.primary), r.anyName(), withNothing)}
	for _, sc := range r.scopes() {
		req := r.listRequest(sc, nil)
		req.credential = withNothing
		requests = append(requests, req)
	}
	if head := requests[0]; r.conventions() {
		head.method = http.MethodHead
		requests = append(requests, head)
	}
	v := passed("%d requests", len(requests))
	for _, without := range requests {
		req := without
		// A target that refuses what it does not know may do so with 400.
		req.query, req.refusable = url.Values{"access_token": {r.target.Token}, "token": {r.target.Token}}, true
		ex, err := r.ask(ctx, req)
		if err != nil {
			return v, err
		}
		f := refusal(ex, http.StatusUnauthorized, []int{http.StatusForbidden, http.StatusBadRequest}, r.conventions())
		if f == nil {
			continue
		}
		plain, err := r.ask(ctx, without)
		if err != nil {
			return v, err
		}
		if plain.status != ex.status {
			v.add(r, *f)
		}
	}
	return v, nil
}

// anyName is the name of an object in the primary namespace, if there is one.
func (r *run) anyName() string {
	if items := r.latest[r.primary].all(); len(items) > 0 {
		return items[0].name
	}
	return r.nobody()
}
