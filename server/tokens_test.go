package server_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/server"
)

func TestTokens(t *testing.T) {
	tokens, err := server.ReadTokens(strings.NewReader(`admintoken,admin,1,system:masters

janestoken,jane,2,"viewers,editors",a fifth column
"quoted,token",joe,3
nouid,jim,
spaces,jack,5," a,b "
nogroups,jill,6,""
anon,system:anonymous,7
un,guest,8,system:unauthenticated
auth,hans,9,"system:authenticated,x"
`))
	require.NoError(t, err)
	for token, want := range map[string]server.User{
		"admintoken":   {Name: "admin", UID: "1", Groups: []string{"system:masters", "system:authenticated"}},
		"janestoken":   {Name: "jane", UID: "2", Groups: []string{"viewers", "editors", "system:authenticated"}},
		"quoted,token": {Name: "joe", UID: "3", Groups: []string{"system:authenticated"}},
		"nouid":        {Name: "jim", Groups: []string{"system:authenticated"}},
		"spaces":       {Name: "jack", UID: "5", Groups: []string{" a", "b ", "system:authenticated"}},
		"nogroups":     {Name: "jill", UID: "6", Groups: []string{"system:authenticated"}},
		"anon":         {Name: "system:anonymous", UID: "7"},
		"un":           {Name: "guest", UID: "8", Groups: []string{"system:unauthenticated"}},
		"auth":         {Name: "hans", UID: "9", Groups: []string{"system:authenticated", "x"}},
	} {
		got, ok := tokens.Authenticate(token)
		assert.True(t, ok, token)
		assert.Equal(t, want, got, token)
	}
	for _, token := range []string{"", "admintoke", "admintokenn", "ADMINTOKEN", "admintoken ", "quoted", "admin", "\x00"} {
		got, ok := tokens.Authenticate(token)
		assert.False(t, ok, "%q", token)
		assert.Zero(t, got, "%q", token)
	}
}

func TestTokensNeverChange(t *testing.T) {
	tokens, err := server.ReadTokens(strings.NewReader("token,jane,1,viewers\n"))
	require.NoError(t, err)
	user, _ := tokens.Authenticate("token")
	user.Groups[0] = "system:masters"
	user, _ = tokens.Authenticate("token")
	assert.Equal(t, []string{"viewers", "system:authenticated"}, user.Groups)
}

func TestTokensAreNotPrinted(t *testing.T) {
	tokens, err := server.ReadTokens(strings.NewReader("s3cr3t,jane,1\n"))
	require.NoError(t, err)
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", tokens, tokens, tokens), "s3cr3t")
}

func TestNoTokens(t *testing.T) {
	tokens, err := server.ReadTokens(strings.NewReader("\n\n"))
	require.NoError(t, err)
	_, ok := tokens.Authenticate("")
	assert.False(t, ok)
	_, ok = new(server.Tokens).Authenticate("")
	assert.False(t, ok)
}

// Differs: token file
func TestReadTokensRefuses(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"two columns", "good,a,1\ns3cr3t,jane\n", "line 2: must have at least 3 columns (token, user name, user uid), found 2"},
		{"one column", "s3cr3t\n", "line 1: must have at least 3 columns (token, user name, user uid), found 1"},
		{"a comment", "# s3cr3t\ngood,a,1\n", "line 1: must have at least 3 columns (token, user name, user uid), found 1"},
		{"empty token", "good,a,1\n,jane,2\n", "line 2: empty token"},
		{"empty user name", "s3cr3t,,2\n", "line 1: empty user name"},
		{"duplicate", "s3cr3t,a,1\n\ngood,b,2\ns3cr3t,c,3\n", "line 4: same token as on line 1"},
		{"space", "s3cr3t ,a,1\n", "line 1: the token has a space or control character, which no bearer token can have"},
		{"line break", "good,a,1\n\"s3cr3t\ns3cr3t\",a,1\n", "line 2: the token has a space or control character, which no bearer token can have"},
		{"byte order mark", "\xef\xbb\xbfs3cr3t,a,1\n", "line 1: starts with a byte order mark"},
		{"bare quote", "good,a,1\ns3\"cr3t,a,1\n", "line 2: column 3: " + csv.ErrBareQuote.Error()},
		{"open quote", "good,a,1\n\"s3cr3t,a,1\n", "line 2: column 13: " + csv.ErrQuote.Error()},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := server.ReadTokens(strings.NewReader(test.text))
			require.EqualError(t, err, "token file: "+test.want)
		})
	}

	broken := errors.New("broken disk")
	_, err := server.ReadTokens(iotest.ErrReader(broken))
	assert.ErrorIs(t, err, broken)
}

func FuzzReadTokens(f *testing.F) {
	for _, seed := range []string{"token,jane,1,\"a,b\"\n", "a,b,c\nd,e,f\n", "\"a\"\"b\",c,d\n", "a,b\n", "\xff,a,b\n", "\xef\xbb\xbfa,b,c\n"} {
		f.Add(seed, "token")
	}
	f.Fuzz(func(t *testing.T, text, token string) {
		tokens, err := server.ReadTokens(strings.NewReader(text))
		if err != nil {
			assert.NotContains(t, err.Error(), "\n")
			return
		}
		user, ok := tokens.Authenticate(token)
		assert.Equal(t, ok, user.Name != "", "every token has a user with a name")
		if ok {
			assert.Contains(t, text, strings.ReplaceAll(token, `"`, `""`))
		}
	})
}

func BenchmarkAuthenticate(b *testing.B) {
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "token-%d,user-%d,%d,viewers\n", i, i, i)
	}
	tokens, err := server.ReadTokens(strings.NewReader(text.String()))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := tokens.Authenticate("token-500"); !ok {
			b.Fatal("not found")
		}
	}
}
