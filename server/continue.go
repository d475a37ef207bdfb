package server

import (
	"encoding/base64"
	"encoding/json"
	"path"
	"strings"
)

// continueToken is the content of metadata.continue: a state of the store and a
// position in it, spelt as a Kubernetes API server spells it, so that tools that
// look inside find what they expect. Clients must treat it as opaque.
type continueToken struct {
	Version string `json:"v"`
	// Revision of the state; -1 goes on in whatever state there is.
	Revision int64 `json:"rv"`
	// Start is the position relative to the list: /name in a namespace,
	// /namespace/name over all of them, with a NUL behind the last name shown.
	Start string `json:"start"`
}

const (
	continueVersion = "meta.k8s.io/v1"
	anyRevision     = -1
)

func (t continueToken) encode() string {
	// A struct of strings and a number always has a JSON form.
	text, _ := json.Marshal(t)
	return base64.RawURLEncoding.EncodeToString(text)
}

// nextPage is the token of the page behind the position (namespace/name NUL).
func nextPage(revision int64, namespace, position string) string {
	start := position
	if namespace != "" {
		start = strings.TrimPrefix(position, namespace+"/")
	}
	return continueToken{Version: continueVersion, Revision: revision, Start: "/" + start}.encode()
}

// decodeContinue reads a token. The messages are those of a Kubernetes API server.
func decodeContinue(token string) (continueToken, error) {
	fail := func(why string) (continueToken, error) {
		return continueToken{}, badRequest("invalid continue token: continue key is not valid: " + why)
	}
	text, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return fail(err.Error())
	}
	var t continueToken
	if err := json.Unmarshal(text, &t); err != nil {
		return fail(err.Error())
	}
	switch {
	case t.Version != continueVersion:
		return fail("server does not recognize this encoded version " + t.Version)
	case t.Revision == 0:
		return fail("incorrect encoded start resourceVersion (version " + continueVersion + ")")
	case t.Start == "":
		return fail("encoded start key empty (version " + continueVersion + ")")
	}
	// A start that climbs out of the list would show what another list has.
	if rooted := t.rooted(); path.Clean(rooted) != rooted {
		return fail(t.Start)
	}
	return t, nil
}

// rooted is the position with its slash, which a client's own tokens may lack.
func (t continueToken) rooted() string { return "/" + strings.TrimPrefix(t.Start, "/") }

// position is where a list of the namespace, "" for all, goes on.
func (t continueToken) position(namespace string) string {
	if namespace == "" {
		return strings.TrimPrefix(t.Start, "/")
	}
	return namespace + t.rooted()
}
