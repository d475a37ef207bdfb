package server

import (
	"net/http"
	"strings"
)

// credential is what became of one way to say who asks.
type credential int

const (
	credentialNone credential = iota // nothing was presented
	credentialBad
	credentialGood
)

// authenticate finds out who asks, by certificate and then by token, as a Kubernetes
// API server does: the first good one counts, and bad ones are refused where none is
// good, on every path. So is the lack of any, unless the server lets in everybody or
// [WithAnonymous].
func (s *server) authenticate(x *exchange) error {
	if s.tokens == nil && s.clientCAs == nil {
		x.user = nobody()
		return nil
	}
	user, certificate := s.byCertificate(x)
	if certificate == credentialGood {
		x.user = user
		return nil
	}
	user, token := s.byToken(x.r)
	if token == credentialGood {
		x.user = user
		return nil
	}
	if x.r.ProtoMajor == 2 {
		// Many streams of one connection are for those who say who they are.
		x.w.Header().Set("Connection", "close")
	}
	if certificate == credentialBad || token == credentialBad || !s.anonymous {
		return unauthorized()
	}
	x.user = nobody()
	return nil
}

// nobody is who asks without saying so.
func nobody() User { return User{Name: userAnonymous, Groups: []string{groupUnauthenticated}} }

// byToken looks at no token where the server has none to compare it with.
func (s *server) byToken(r *http.Request) (User, credential) {
	token := bearer(r.Header.Get("Authorization"))
	if token == "" || s.tokens == nil {
		return User{}, credentialNone
	}
	user, ok := s.tokens.Authenticate(token)
	if !ok {
		return User{}, credentialBad
	}
	return user, credentialGood
}

// bearer returns the token of an Authorization header, "" for another scheme.
func bearer(header string) string {
	scheme, token, ok := strings.Cut(strings.TrimSpace(header), " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func (s *server) authorize(x *exchange) error { return s.allow(x.user, &x.info) }

// allow returns nil, or why the user may not do what the request asks for.
func (s *server) allow(u User, i *requestInfo) error {
	if s.policy == nil {
		return nil
	}
	if ok, reason := s.policy.Authorize(i.attributes(u)); !ok {
		return forbidden(u.Name, i, reason)
	}
	return nil
}
