package kubeconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client/kubeconfig"
)

// differences are the kubeconfigs, by file or by the name of a case, of which the
// two sides may make different things, and why ours does.
var differences = map[string]string{
	"user-missing":                            "clientcmd sends anonymous requests when the context names a user that does not exist; a name misspelt is better said",
	"server-with-password":                    "clientcmd lets net/http send the URL's password instead of the user's credential; a URL is printed, so a password in it is refused",
	"token-block":                             "white space around a token is dropped; clientcmd puts the line feed of a block scalar into the header, which net/http refuses",
	"http-disable-compression":                "clientcmd ignores disable-compression where no TLS setting makes it build a transport of its own",
	"token flag over token file":              "clientcmd sends the token of the file and ignores the flag; a token that is given is meant",
	"token file that is missing over a token": "clientcmd sends the token that the flag was to replace",
}

// compare holds the two sides to each other and returns our error.
func (b *bed) compare(t *testing.T, name, file string, o kubeconfig.Overrides, contextName string) error {
	t.Helper()
	want, wantErr := b.theirs(file, o, contextName)
	got, gotErr := b.ours(file, o, contextName)
	if reason, ok := differences[name]; ok {
		assert.NotEqual(t, want, got, "no longer a difference: %s", reason)
		return gotErr
	}
	assert.Equal(t, want, got, "theirs: %v\nours: %v", wantErr, gotErr)
	return gotErr
}

// Every file of testdata is a case of its own.
func TestFiles(t *testing.T) {
	b := newBed(t)
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	require.Greater(t, len(files), 100)
	failed := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			err := b.compare(t, name, b.place(t, file), kubeconfig.Overrides{}, "")
			if err != nil {
				failed++
				assertSayable(t, err)
			}
		})
	}
	t.Logf("%d kubeconfigs, %d of them refused", len(files), failed)
}

// place expands a file of testdata into the directory of the bed.
func (b *bed) place(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	name, err := filepath.Rel("testdata", file)
	require.NoError(t, err)
	return b.write(t, name, b.expand(string(text)))
}

// assertSayable looks at an error as somebody reads it.
func assertSayable(t *testing.T, err error) {
	t.Helper()
	text := err.Error()
	assert.NotContains(t, text, "\n")
	assert.NotRegexp(t, `secret|inline|\x1b|in-the-file`, text)
}
