package kubeconfig

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
)

// Credential says what identifies the user, in words and without secrets: "a token",
// "the exec plugin aws", "a client certificate" or, for anonymous requests, "none"
// and why.
func (c *Config) Credential() string {
	if s := c.state(); s != nil {
		return s.description
	}
	return "none"
}

// Anonymous reports whether nothing identifies the user: no token, certificate,
// password or plugin counts.
func (c *Config) Anonymous() bool {
	return c.Credential() == "none" || strings.HasPrefix(c.Credential(), "none, ")
}

// String describes the configuration in one line, without secrets.
func (c *Config) String() string {
	if c.state() == nil {
		return "kubeconfig.Config{}"
	}
	parts := []string{"namespace " + c.Namespace}
	for _, named := range []struct{ kind, name string }{{"context", c.Context}, {"cluster", c.Cluster}, {"user", c.User}} {
		if named.name != "" {
			parts = append(parts, named.kind+" "+named.name)
		}
	}
	return fmt.Sprintf("%s (%s, credential: %s)", c.URL, strings.Join(parts, ", "), c.Credential())
}

// GoString is [Config.String], for %#v.
func (c *Config) GoString() string { return c.String() }

// LogValue is the configuration for log/slog, without secrets.
func (c *Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// redacted stands for a secret that is there.
const redacted = "REDACTED"

// plainOverrides is Overrides without methods, so that printing it does not recur.
type plainOverrides Overrides

// withoutSecrets returns what may be printed.
func (o Overrides) withoutSecrets() plainOverrides {
	if o.Token != "" {
		o.Token = redacted
	}
	if o.Password != "" {
		o.Password = redacted
	}
	o.Server, o.ProxyURL = withoutUser(o.Server), withoutUser(o.ProxyURL)
	return plainOverrides(o)
}

// withoutUser hides the user name and password of a URL.
func withoutUser(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		scheme, _, ok := strings.Cut(text[:at], "://")
		if ok {
			scheme += "://"
		} else {
			scheme = ""
		}
		return scheme + redacted + text[at:]
	}
	return text
}

// Format prints the overrides without secrets, whatever the verb.
func (o Overrides) Format(f fmt.State, verb rune) {
	fmt.Fprintf(f, fmt.FormatString(f, verb), o.withoutSecrets())
}

// String describes the overrides without secrets.
func (o Overrides) String() string { return fmt.Sprintf("%+v", o) }

// GoString is [Overrides.String].
func (o Overrides) GoString() string { return o.String() }

// MarshalJSON is the overrides without secrets, as programs dump their settings.
func (o Overrides) MarshalJSON() ([]byte, error) { return json.Marshal(o.withoutSecrets()) }

// LogValue is the overrides for log/slog, without secrets.
func (o Overrides) LogValue() slog.Value { return slog.AnyValue(o.withoutSecrets()) }
