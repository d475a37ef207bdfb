package openapi

import (
	"regexp"
	"strings"
	"unicode"
)

// secretWords are parts of keys below which no value is ever repeated: cloud-init
// data, passwords, tokens, key material. Rather one value too many is kept back
// than one too few.
var secretWords = []string{
	"userdata", "networkdata", "cloudinit", "ignition", "sysprep", "password", "passwd", "passphrase", "token", "secret",
	"credential", "privatekey", "publickey", "sshkey", "ssh-key", "ssh_key", "authorizedkey", "authorized_key",
	"apikey", "accesskey", "keydata", "tls.key", "certificate",
	// kubectl keeps the whole object under this annotation, cloud-init data included.
	"last-applied-configuration",
}

// longestKey is how much of a key is looked at: more than a label's key may have
// (317 bytes), and little enough to look at for every issue.
const longestKey = 512

func secretKey(key string) bool {
	key = strings.ToLower(key[:min(len(key), longestKey)])
	for _, w := range secretWords {
		if strings.Contains(key, w) {
			return true
		}
	}
	return false
}

// cloudInitData reports whether a key is one of those of cloud-init data.
func cloudInitData(key string) bool {
	key = strings.ToLower(key[:min(len(key), longestKey)])
	return strings.Contains(key, "userdata") || strings.Contains(key, "networkdata")
}

func secretPath(path []step) bool {
	for _, s := range path {
		if s.index < 0 && secretKey(s.key) {
			return true
		}
	}
	return false
}

// secretPrefixes are how the lines begin, in any case, of texts that are secret
// wherever they stand, such as cloud-init data under a mistyped key.
var secretPrefixes = []string{
	"#cloud", "#!", "#include", "-----BEGIN", "ssh-", "ecdsa-", "Content-Type: multipart", "Bearer ", "Basic ", "eyJ",
	// #cloud, #!/, -----BEGIN, Content-Type, ssh-, gzip and a JSON Web Token as base64.
	"I2Nsb3Vk", "IyEv", "LS0tLS1CRUdJTi", "Q29udGVudC1UeXBl", "c3NoL", "H4sI", "ZXlK",
}

// passwordLine is a line of YAML or a shell that sets a password or a token.
var passwordLine = regexp.MustCompile(`(?i)^[\w.\- ]{0,40}(passw(or)?d|passphrase|token|secret)\w{0,20}\s*[:=]`)

// urlPassword is a URL with a user and password in it.
var urlPassword = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^/\s:@]+:[^/\s@]+@`)

// secretText reports whether a line of the text begins as secrets do. Blanks and
// marks without a width in front of it do not count.
func secretText(text string) bool {
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimLeftFunc(line, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
		if passwordLine.MatchString(line) || urlPassword.MatchString(line) {
			return true
		}
		for _, p := range secretPrefixes {
			if len(line) >= len(p) && strings.EqualFold(line[:len(p)], p) {
				return true
			}
		}
	}
	return false
}
