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
	// withEmptyBearer names the scheme and no token.
	withEmptyBearer
	// withTokenCut, withTokenLonger and withTokenInOtherCase resemble the right token.
	withTokenCut
	withTokenLonger
	withTokenInOtherCase
)

// wrongToken is a token that nobody has.
const wrongToken = "vmikit-contract-wrong-token"

// forms are how a token is changed: for a header, or for a shell that makes it.
type forms struct{ basic, cut, otherCase func(token string) string }

var inHeader = forms{
	basic: func(token string) string { return base64.StdEncoding.EncodeToString([]byte("token:" + token)) },
	cut: func(token string) string {
		if len(token) < 2 {
			return "x"
		}
		return token[:len(token)-1]
	},
	otherCase: otherCase,
}

var inShell = forms{
	basic:     func(token string) string { return "$(printf token:%s " + token + " | base64 -w0)" },
	cut:       func(string) string { return "${TOKEN%?}" },
	otherCase: func(token string) string { return "$(printf %s " + token + " | tr a-zA-Z A-Za-z)" },
}

func (c credential) header(t Target) string { return c.text(t.Token, t.ForbiddenToken, inHeader) }

// shell is the header as it stands between double quotes on a command line.
func (c credential) shell(t Target) string {
	token := ""
	if t.Token != "" {
		token = "$TOKEN"
	}
	return c.text(token, "$FORBIDDEN_TOKEN", inShell)
}

func (c credential) text(token, forbidden string, in forms) string {
	switch c {
	case withToken:
		if token != "" {
			return "Bearer " + token
		}
	case withWrongToken:
		return "Bearer " + wrongToken
	case withBasic:
		return "Basic " + in.basic(token)
	case withOtherScheme:
		return "Token " + token
	case withBareToken:
		return token
	case withForbiddenToken:
		return "Bearer " + forbidden
	case withEmptyBearer:
		return "Bearer "
	case withTokenCut:
		return "Bearer " + in.cut(token)
	case withTokenLonger:
		return "Bearer " + token + "-x"
	case withTokenInOtherCase:
		return "Bearer " + in.otherCase(token)
	}
	return ""
}
