package kubeconfig

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// credential is what requests carry. It is never changed, so that two of them are
// the same credential if their pointers are.
type credential struct {
	authorization string // the header; empty for none
	token         string // of a bearer token
	certificate   *tls.Certificate
}

// credentials give the credential of a user.
type credentials interface {
	// get returns the credential to use now.
	get(ctx context.Context) (*credential, error)
	// renew returns another credential than one that the server has answered with
	// 401, or that one itself if there is no other.
	renew(ctx context.Context, refused *credential) (*credential, error)
}

// addCredentials chooses what identifies the user, in client-go's order: a token, a
// user name or a client certificate each switch an exec plugin off, a token and a
// client certificate go together.
func (s *state) addCredentials(l *loader) error {
	var parts []string
	s.credentials = fixed{new(credential)}
	switch u := &s.user; {
	case u.TokenFile != "":
		source := &tokenFile{path: u.TokenFile}
		if u.Token != "" {
			fallback, err := bearer(u.Token)
			if err != nil {
				return err
			}
			source.last = fallback
		}
		if _, err := source.get(context.Background()); err != nil {
			return err
		}
		s.credentials = source
		parts = append(parts, "the token in "+u.TokenFile)
	case u.Token != "":
		token, err := bearer(u.Token)
		if err != nil {
			return err
		}
		s.credentials = fixed{token}
		parts = append(parts, "a token")
	case u.Username != "":
		s.credentials = fixed{basic(u.Username, u.Password)}
		parts = append(parts, "a user name and password")
	case u.Exec != nil && !u.hasCertificate():
		s.plugin = newPlugin(u.Exec, s, l)
		s.credentials = s.plugin
		parts = append(parts, "the exec plugin "+u.Exec.Command)
	}
	if s.user.hasCertificate() {
		parts = append(parts, "a client certificate")
	}
	if len(parts) == 0 {
		parts = []string{"none"}
	}
	s.description = strings.Join(parts, " and ")
	return nil
}

// fixed is a credential that cannot be renewed.
type fixed struct{ credential *credential }

func (f fixed) get(context.Context) (*credential, error) { return f.credential, nil }

func (f fixed) renew(_ context.Context, refused *credential) (*credential, error) {
	return refused, nil
}

// bearer makes a credential of a token. White space around it is dropped, as token
// files and block scalars end in a newline.
func bearer(token string) (*credential, error) {
	token = strings.TrimSpace(token)
	switch {
	case token == "":
		return nil, errors.New("the token is empty")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("the token has characters that a header cannot carry")
	}
	return &credential{authorization: "Bearer " + token, token: token}, nil
}

func basic(username, password string) *credential {
	return &credential{authorization: "Basic " + base64.StdEncoding.EncodeToString([]byte(username+":"+password))}
}

// tokenPeriod is how long the content of a token file is used before it is read
// again. The kubelet renews a token two minutes before its end at the latest.
const tokenPeriod = time.Minute

// tokenFile reads a token from a file, again and again. While the file cannot be
// read, as in the middle of a rotation, the last token is used.
type tokenFile struct {
	path string

	mu   sync.Mutex
	last *credential // at first the user's token, if there is one too
	read time.Time   // of the file; zero before the first time
}

func (f *tokenFile) get(context.Context) (*credential, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.read.IsZero() && time.Since(f.read) < tokenPeriod {
		return f.last, nil
	}
	return f.reload()
}

func (f *tokenFile) renew(_ context.Context, refused *credential) (*credential, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.last != refused {
		return f.last, nil // by another request
	}
	return f.reload()
}

func (f *tokenFile) reload() (*credential, error) {
	next, err := f.readToken()
	if err != nil {
		if f.last == nil {
			return nil, err
		}
		return f.last, nil
	}
	f.read = time.Now()
	if f.last == nil || f.last.token != next.token {
		f.last = next
	}
	return f.last, nil
}

func (f *tokenFile) readToken() (*credential, error) {
	text, err := readFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("token file: %w", err)
	}
	token, err := bearer(string(text))
	if err != nil {
		return nil, fmt.Errorf("token file %s: %w", f.path, err)
	}
	return token, nil
}
