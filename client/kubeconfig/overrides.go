package kubeconfig

import "slices"

// Overrides are values that replace those of the files, each named after the flag
// of kubectl that does so. The zero value of a field leaves the file's.
//
// Paths are relative to the working directory.
type Overrides struct {
	// Cluster and User choose other entries than the context names. They must exist.
	Cluster, User string
	Namespace     string

	// Server is a URL; a host without a scheme means http, as for kubectl. With it
	// the file's tls-server-name no longer holds, while its certificate authorities
	// and the user's credentials do.
	Server        string
	TLSServerName string
	// CAFile replaces the certificate authorities and insecure-skip-tls-verify;
	// Insecure replaces the certificate authorities. Both together are an error.
	CAFile             string
	Insecure           bool
	ProxyURL           string
	DisableCompression bool

	// Token is used instead of the file's token and token file, and before an exec
	// plugin. A client certificate stays. With a user name it is an error.
	Token string
	// TokenFile is used instead of the file's token and token file.
	TokenFile          string
	CertFile, KeyFile  string
	Username, Password string

	// As is the user to impersonate; the others need it.
	As       string
	AsUID    string
	AsGroups []string
	AsExtra  map[string][]string
}

// applyToCluster lays the overrides over a cluster. What clears what follows
// clientcmd's DirectClientConfig.getCluster.
func (o *Overrides) applyToCluster(c *cluster) {
	set(&c.Server, o.Server)
	set(&c.ProxyURL, o.ProxyURL)
	c.DisableCompression = c.DisableCompression || o.DisableCompression
	if o.Insecure || o.CAFile != "" {
		c.Insecure, c.CAFile, c.CAData = o.Insecure, o.CAFile, nil
	}
	if o.TLSServerName != "" || o.Server != "" {
		c.TLSServerName = o.TLSServerName
	}
}

// applyToUser lays the overrides over a user, like DirectClientConfig.getAuthInfo,
// but for tokens: clientcmd would let the file's token file win over the flag's token.
func (o *Overrides) applyToUser(u *user) {
	if o.Token != "" || o.TokenFile != "" {
		u.Token, u.TokenFile = o.Token, o.TokenFile
	}
	if o.CertFile != "" {
		u.CertFile, u.CertData = o.CertFile, nil
	}
	if o.KeyFile != "" {
		u.KeyFile, u.KeyData = o.KeyFile, nil
	}
	set(&u.Username, o.Username)
	set(&u.Password, o.Password)
	set(&u.As, o.As)
	set(&u.AsUID, o.AsUID)
	if len(o.AsGroups) > 0 {
		u.AsGroups = slices.Clone(o.AsGroups)
	}
	if len(o.AsExtra) > 0 {
		extra := make(map[string][]string, len(u.AsExtra)+len(o.AsExtra))
		for _, from := range []map[string][]string{u.AsExtra, o.AsExtra} {
			for key, values := range from {
				extra[key] = slices.Clone(values)
			}
		}
		u.AsExtra = extra
	}
}

// hasCredential reports whether the overrides alone can identify a user.
func (o *Overrides) hasCredential() bool {
	return o.Token != "" || o.TokenFile != "" || o.CertFile != "" || o.Username != ""
}

func set(to *string, value string) {
	if value != "" {
		*to = value
	}
}
