package command

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/vmikit/vmikit/internal/certs"
	"github.com/vmikit/vmikit/openapi"
)

// nobodysToken stands in a kubeconfig for a server that asks for no token:
// kubectl asks its user for a name and a password when it has nothing to send
// over https.
const nobodysToken = "anonymous"

// tellProfile says what objects are judged by, and how much of that is not in the
// document as given.
func tellProfile(p openapi.Profile, c *console) {
	changes, err := openapi.Diff(openapi.ProfileDocument, p)
	if err != nil {
		c.warn("comparing the profile with the document: %v", err)
		return
	}
	c.say("%s", profileLine(p, changes))
}

func profileLine(p openapi.Profile, changes []openapi.Change) string {
	widenings := 0
	for _, change := range changes {
		if change.Effect == openapi.EffectWidens {
			widenings++
		}
	}
	const enforce = "--profile document enforces the file as given"
	switch p {
	case openapi.ProfileDocument:
		return "profile document: the given document is enforced as it is"
	case openapi.ProfileKubeVirt:
		return fmt.Sprintf("profile kubevirt = the given document + %d widenings (vmikit profiles diff lists them); %s", widenings, enforce)
	}
	return fmt.Sprintf("profile %s = the given document + %d changes, %d of them widenings (vmikit profiles diff document %s lists them); %s",
		p, len(changes), widenings, p, enforce)
}

// announce writes the kubeconfig and says how to reach the server.
func (o *serveOptions) announce(url string, certificate *servingCertificate, token string, c *console) error {
	if token == "" && certificate != nil {
		token = nobodysToken
	}
	if o.kubeconfigOut != "" {
		config := certs.Kubeconfig{Server: url, Token: token}
		if certificate != nil {
			pair := certificate.current()
			config.CA = pair.CA
			if pair.CA == nil {
				c.warn("--tls-cert-file has no self-signed certificate in it, so the kubeconfig names no CA: clients must have it among their own")
			}
		}
		if err := certs.WriteKubeconfig(o.kubeconfigOut, config); err != nil {
			return err
		}
	}
	c.say("serving VirtualMachineInstances on %s", url)
	c.say("  %s", o.kubectlLine(url))
	return nil
}

// kubectlLine is a command line that lists what is served. No token stands in it.
func (o *serveOptions) kubectlLine(url string) string {
	const get = " get vmi -A"
	switch {
	case o.kubeconfigOut != "":
		return "kubectl --kubeconfig " + shellWord(o.kubeconfigOut) + get
	case o.tokenFile != "":
		return "--kubeconfig-out FILE writes a kubeconfig with the address, the CA and the first token"
	case o.clientCAFile != "":
		return "--kubeconfig-out FILE writes a kubeconfig with the address and the CA; kubectl takes --client-certificate and --client-key beside it"
	case o.tlsCertFile != "":
		return "kubectl --server " + url + " --token " + nobodysToken + get
	case o.tls:
		return "kubectl --server " + url + " --token " + nobodysToken + " --certificate-authority " + shellWord(filepath.Join(o.tlsDir, "ca.crt")) + get
	}
	return "kubectl --server " + url + get
}

// shellWord quotes what a shell would take apart.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,"
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
