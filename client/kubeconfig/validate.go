package kubeconfig

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// validate refuses what kubectl refuses (clientcmd's validateClusterInfo and
// validateAuthInfo), whatever the server's scheme.
func (c *chosen) validate() error {
	if err := c.cluster.validate(); err != nil {
		return fmt.Errorf("%scluster %q: %w", at(c.cluster.At), c.clusterName, err)
	}
	if err := c.user.validate(); err != nil {
		return fmt.Errorf("%suser %q: %w", at(c.user.At), c.userName, err)
	}
	return nil
}

// at is the front of an error about an entry; empty for one made of overrides.
func at(p position) string {
	if p.file == "" {
		return ""
	}
	return p.String() + ": "
}

func (c *cluster) validate() error {
	if c.Server == "" {
		return fmt.Errorf("has no server")
	}
	if _, err := parseProxy(c.ProxyURL); err != nil {
		return err
	}
	if c.CAFile != "" && len(c.CAData) > 0 {
		return bothGiven("certificate-authority")
	}
	return mustOpen("certificate-authority", c.CAFile)
}

func (u *user) validate() error {
	if u.Token != "" && (u.Username != "" || u.Password != "") {
		return errTwoWays
	}
	if u.hasCertificate() {
		switch {
		case u.CertFile != "" && len(u.CertData) > 0:
			return bothGiven("client-certificate")
		case u.KeyFile != "" && len(u.KeyData) > 0:
			return bothGiven("client-key")
		case u.KeyFile == "" && len(u.KeyData) == 0:
			return fmt.Errorf("has a client certificate without client-key or client-key-data")
		}
		if err := mustOpen("client-certificate", u.CertFile); err != nil {
			return err
		}
		if err := mustOpen("client-key", u.KeyFile); err != nil {
			return err
		}
	}
	if u.As == "" && (u.AsUID != "" || len(u.AsGroups) > 0 || len(u.AsExtra) > 0) {
		return fmt.Errorf("impersonates a uid, groups or extra values without a user (as)")
	}
	if u.Exec == nil {
		return nil
	}
	if u.AuthProvider != nil {
		return fmt.Errorf("has an auth-provider and an exec plugin; only one is allowed")
	}
	return u.Exec.validate()
}

var errTwoWays = errors.New("has a token and a user name with password; only one way to authenticate is allowed")

func (u *user) hasCertificate() bool { return u.CertFile != "" || len(u.CertData) > 0 }

func bothGiven(name string) error {
	return fmt.Errorf("has both %s and %s-data; only one is allowed", name, name)
}

// mustOpen fails unless a file that is given can be opened.
func mustOpen(member, path string) error {
	if path == "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", member, err)
	}
	return f.Close()
}

const (
	execV1      = "client.authentication.k8s.io/v1"
	execV1beta1 = "client.authentication.k8s.io/v1beta1"
	// execV1alpha1 has been gone from Kubernetes since 1.24.
	execV1alpha1 = "client.authentication.k8s.io/v1alpha1"

	interactiveNever       = "Never"
	interactiveIfAvailable = "IfAvailable"
	interactiveAlways      = "Always"
)

func (e *execConfig) validate() error {
	for _, v := range e.Env {
		if v.Name == "" {
			return fmt.Errorf("exec plugin: an environment variable has no name")
		}
	}
	switch {
	case e.Command == "":
		return fmt.Errorf("exec plugin: command is missing")
	case e.APIVersion == "":
		return fmt.Errorf("exec plugin: apiVersion is missing; it is usually %s", execV1)
	}
	switch e.interactiveMode() {
	case interactiveNever, interactiveIfAvailable, interactiveAlways:
		return nil
	}
	return fmt.Errorf("exec plugin: interactiveMode must be Never, IfAvailable or Always, not %q", shortened(e.InteractiveMode))
}

// interactiveMode is the mode with the default of the versions that had none.
func (e *execConfig) interactiveMode() string {
	if e.InteractiveMode == "" && (e.APIVersion == execV1beta1 || e.APIVersion == execV1alpha1) {
		return interactiveIfAvailable
	}
	return e.InteractiveMode
}

// validateTLS refuses what only counts for an https server (client-go's
// transport and rest packages).
func (c *chosen) validateTLS() error {
	if c.cluster.Insecure && (c.cluster.CAFile != "" || len(c.cluster.CAData) > 0) {
		return fmt.Errorf("%scluster %q: has certificate authorities together with insecure-skip-tls-verify; only one is allowed", at(c.cluster.At), c.clusterName)
	}
	if c.user.TokenFile != "" && c.user.Username != "" {
		return fmt.Errorf("%suser %q: %w", at(c.user.At), c.userName, errTwoWays)
	}
	if p := c.user.AuthProvider; p != nil {
		return fmt.Errorf("%suser %q: the auth-provider %q is not supported; %s", at(c.user.At), c.userName, shortened(p.Name), insteadOf(p.Name))
	}
	if e := c.user.Exec; e != nil && e.APIVersion != execV1 && e.APIVersion != execV1beta1 {
		return fmt.Errorf("%suser %q: exec plugin: the apiVersion %q is not supported, only %s and v1beta1; a newer %s may have one of them",
			at(c.user.At), c.userName, shortened(e.APIVersion), execV1, e.Command)
	}
	return nil
}

// insteadOf says what took the place of a provider.
func insteadOf(provider string) string {
	switch provider {
	case "gcp":
		return "use the exec plugin gke-gcloud-auth-plugin (gcloud container clusters get-credentials writes it)"
	case "azure":
		return "use the exec plugin kubelogin (kubelogin convert-kubeconfig writes it)"
	case "oidc":
		return "use an exec plugin such as kubectl oidc-login"
	}
	return "use an exec plugin"
}

// shortened keeps a name from a file short and on one line.
func shortened(name string) string {
	const most = 60
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	return name
}
