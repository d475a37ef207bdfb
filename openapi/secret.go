package openapi

import (
	"bytes"
	"strings"
)

// secretWords are parts of keys below which no value is ever repeated: cloud-init
// data, passwords, tokens, key material. Rather one value too many is kept back
// than one too few.
var secretWords = []string{
	"userdata", "networkdata", "cloudinit", "sysprep", "password", "passwd", "passphrase", "token", "secret",
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

// secretPrefixes are how the texts begin that are secret wherever they stand,
// such as cloud-init data under a mistyped key.
var secretPrefixes = [][]byte{
	[]byte("#cloud"), []byte("#!"), []byte("#include"), []byte("-----BEGIN"), []byte("ssh-"), []byte("ecdsa-"),
	[]byte("Content-Type: multipart"), []byte("Bearer "), []byte("eyJ"),
}

func secretText(text []byte) bool {
	for _, p := range secretPrefixes {
		if bytes.HasPrefix(text, p) {
			return true
		}
	}
	return false
}
