package server

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// User is an authenticated user, as kube-apiserver's token file or a certificate
// names one.
type User struct {
	Name   string
	UID    string
	Groups []string // system:authenticated among them
}

// Tokens authenticates bearer tokens by a list that was read once. It never
// changes and is safe for concurrent use. It keeps keyed hashes, not tokens.
type Tokens struct {
	key   [sha256.Size]byte
	users map[[sha256.Size]byte]User
}

// Groups and names that the authentication of kube-apiserver treats apart.
const (
	userAnonymous        = "system:anonymous"
	groupAuthenticated   = "system:authenticated"
	groupUnauthenticated = "system:unauthenticated"
	groupMasters         = "system:masters"
)

// ReadTokens reads kube-apiserver's --token-auth-file: CSV lines of
//
//	token,user name,user uid[,"group1,group2"]
//
// More columns are ignored and there are no comments, as there. Where
// kube-apiserver would start with a token that does not do what its line says,
// ReadTokens fails instead: an empty or duplicate token, a token that no
// Authorization header can carry, an empty user name, a byte order mark.
// Errors name the line and never show what stands in it.
func ReadTokens(r io.Reader) (*Tokens, error) {
	t := &Tokens{users: map[[sha256.Size]byte]User{}}
	rand.Read(t.key[:]) // never fails, see crypto/rand
	in := bufio.NewReader(r)
	if start, _ := in.Peek(3); bytes.Equal(start, []byte("\xef\xbb\xbf")) {
		return nil, errors.New("token file: line 1: starts with a byte order mark")
	}
	records := csv.NewReader(in)
	records.FieldsPerRecord = -1
	lines := map[[sha256.Size]byte]int{}
	for {
		record, err := records.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, tokenFileError(err)
		}
		line, _ := records.FieldPos(0)
		user, err := readUser(record)
		if err != nil {
			return nil, fmt.Errorf("token file: line %d: %w", line, err)
		}
		sum := t.sum(record[0])
		if first, ok := lines[sum]; ok {
			return nil, fmt.Errorf("token file: line %d: same token as on line %d", line, first)
		}
		lines[sum], t.users[sum] = line, user
	}
}

// tokenFileError keeps the place and kind of a CSV error. Its text would be
// harmless today, but encoding/csv does not promise to leave the fields out.
func tokenFileError(err error) error {
	parse, ok := errors.AsType[*csv.ParseError](err)
	if !ok {
		return fmt.Errorf("token file: %w", err)
	}
	return fmt.Errorf("token file: line %d: column %d: %w", parse.Line, parse.Column, parse.Err)
}

func readUser(record []string) (User, error) {
	if len(record) < 3 {
		return User{}, fmt.Errorf("must have at least 3 columns (token, user name, user uid), found %d", len(record))
	}
	token, user := record[0], User{Name: record[1], UID: record[2]}
	switch {
	case token == "":
		return User{}, errors.New("empty token")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return User{}, errors.New("the token has a space or control character, which no bearer token can have")
	case user.Name == "":
		return User{}, errors.New("empty user name")
	}
	if len(record) > 3 && record[3] != "" {
		user.Groups = strings.Split(record[3], ",")
	}
	user.addAuthenticated()
	return user, nil
}

// addAuthenticated puts a user into the group of those who said who they are, unless
// the credential says of itself that they did not.
func (u *User) addAuthenticated() {
	if u.Name != userAnonymous && !slices.Contains(u.Groups, groupAuthenticated) && !slices.Contains(u.Groups, groupUnauthenticated) {
		u.Groups = append(u.Groups, groupAuthenticated)
	}
}

// Authenticate returns the user of a token.
//
// Its time does not depend on how much of a presented token is right. What is
// looked up is a hash of the token under a key that exists in this process only:
// comparisons stop early on the hashes, but nobody outside can tell the hash of
// a guess, so what they give away says nothing about a token. It depends on the
// length of the presented token, which is the caller's own.
func (t *Tokens) Authenticate(token string) (User, bool) {
	user, ok := t.users[t.sum(token)]
	user.Groups = slices.Clone(user.Groups)
	return user, ok
}

// sum hashes a token behind the key. The sums never leave the process, so a plain
// hash is enough: what an HMAC defends against needs a sum to start from.
func (t *Tokens) sum(token string) [sha256.Size]byte {
	keyed := append(make([]byte, 0, 256), t.key[:]...)
	return sha256.Sum256(append(keyed, token...))
}
