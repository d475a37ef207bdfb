package contract

import (
	"encoding/base64"
)

// credential is what a request carries in its header Authorization.
type credential int

const (
	// withToken is the target's token, nothing when there is none.
	withToken credential = iota
	withNothing
	withWrongToken
	// withBasic gives the right token as the password of another scheme.
	withBasic
	// withOtherScheme names a scheme that does not exist in front of the right token.
	withOtherScheme
	// withBareToken leaves the scheme out.
	withBareToken
	withForbiddenToken
)

// wrongToken is a token that nobody has.
const wrongToken = "vmikit-contract-wrong-token"

func (c credential) header(t Target) string {
	return c.text(t.Token, t.ForbiddenToken, func(token string) string {
		return base64.StdEncoding.EncodeToString([]byte("token:" + token))
	})
}

// shell is the header as it stands between double quotes on a command line.
func (c credential) shell(t Target) string {
	token := ""
	if t.Token != "" {
		token = "$TOKEN"
	}
	return c.text(token, "$FORBIDDEN_TOKEN", func(token string) string {
		return "$(printf token:%s " + token + " | base64 -w0)"
	})
}

func (c credential) text(token, forbidden string, basic func(string) string) string {
	switch c {
	case withToken:
		if token != "" {
			return "Bearer " + token
		}
	case withWrongToken:
		return "Bearer " + wrongToken
	case withBasic:
		return "Basic " + basic(token)
	case withOtherScheme:
		return "Token " + token
	case withBareToken:
		return token
	case withForbiddenToken:
		return "Bearer " + forbidden
	}
	return ""
}
