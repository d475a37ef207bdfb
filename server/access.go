package server

import "strings"

// authenticate finds out who asks. A bad token is refused on every path. So is
// the lack of one when there are tokens at all: this server lets nobody in
// unknown unless it lets everybody in.
func (s *server) authenticate(x *exchange) error {
	if s.tokens == nil {
		x.user = User{Name: userAnonymous, Groups: []string{groupUnauthenticated}}
		return nil
	}
	user, ok := s.tokens.Authenticate(bearer(x.r.Header.Get("Authorization")))
	if !ok {
		return unauthorized()
	}
	x.user = user
	return nil
}

// bearer returns the token of an Authorization header, "" for another scheme.
func bearer(header string) string {
	scheme, token, ok := strings.Cut(strings.TrimSpace(header), " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

func (s *server) authorize(x *exchange) error {
	if s.policy == nil {
		return nil
	}
	if ok, reason := s.policy.Authorize(x.info.attributes(x.user)); !ok {
		return forbidden(x.user.Name, &x.info, reason)
	}
	return nil
}
