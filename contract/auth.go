package contract

import (
	"context"
	"fmt"
	"net/http"
	"slices"
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
			ID: "auth.no-token", Clause: clauseUnauthorized, Needs: []Need{needToken},
			Explain: "Without a token nothing is shown. Kubernetes answers 403 where it knows anonymous users, 401 where it does not.",
			run:     credentials(http.StatusUnauthorized, []int{http.StatusForbidden}, withNothing),
		}, {
			ID: "auth.wrong-token", Clause: clauseUnauthorized, Needs: []Need{needToken},
			Explain: "A token that nobody has is refused, not taken for an anonymous or any other user.",
			run:     credentials(http.StatusUnauthorized, nil, withWrongToken),
		}, {
			ID: "auth.wrong-scheme", Clause: clauseUnauthorized, Needs: []Need{needToken},
			Explain: "The right token counts behind the scheme Bearer only. Behind another one it is no token.",
			run:     credentials(http.StatusUnauthorized, []int{http.StatusForbidden}, withBasic, withOtherScheme, withBareToken),
		}, {
			ID: "auth.forbidden", Clause: clauseForbidden, Needs: []Need{needForbiddenToken},
			Explain: "Somebody who is known and has no rights is told so, and shown nothing.",
			run:     credentials(http.StatusForbidden, nil, withForbiddenToken),
		},
	}
}

// credentials asks the lists and an object with credentials that must be refused,
// and asks for their heads, which tell an intruder what there is.
func credentials(want int, alsoRight []int, as ...credential) func(context.Context, *run) (verdict, error) {
	return func(ctx context.Context, r *run) (verdict, error) {
		var requests []request
		for _, sc := range r.scopes() {
			requests = append(requests, r.listRequest(sc, nil))
		}
		name := r.nobody()
		if items := r.latest[r.primary].all(); len(items) > 0 {
			name = items[0].name
		}
		requests = append(requests, r.readRequest(string(r.primary), name, withToken))
		if r.conventions() {
			for _, get := range slices.Clone(requests) {
				get.method = http.MethodHead
				requests = append(requests, get)
			}
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
// another status is a lesser fault than letting somebody in: it is a warning,
// save where 403 is due, since any other status sends the client on a wrong way.
func refusal(ex *exchange, want int, alsoRight []int, conventions bool) *Finding {
	f := fault(ex, Fail, "somebody is let in who must not be", fmt.Sprintf("status %d", want), fmt.Sprintf("status %d", ex.status))
	switch {
	case ex.status == want, slices.Contains(alsoRight, ex.status):
		return nil
	case ex.request.method == http.MethodHead && ex.status == http.StatusMethodNotAllowed:
		return nil // it shows nothing to anybody, which is for consistency.head to tell
	case !refused(ex.status):
		return &f
	case !conventions && slices.Contains(ex.request.op.Statuses(), ex.status):
		return nil // the document leaves open when each of its answers is due
	}
	f.Message = "the refusal has another status than it should"
	f.Outcome = Warning
	if want == http.StatusForbidden {
		f.Outcome = Fail
	}
	return &f
}
