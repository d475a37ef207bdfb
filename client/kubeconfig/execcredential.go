package kubeconfig

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// execInfoVariable hands a plugin its ExecCredential without a status.
const execInfoVariable = "KUBERNETES_EXEC_INFO"

// execCredential is ExecCredential of client.authentication.k8s.io; v1 and v1beta1
// have the same form.
type execCredential struct {
	Kind       string      `json:"kind"`
	APIVersion string      `json:"apiVersion"`
	Spec       execSpec    `json:"spec"`
	Status     *execStatus `json:"status,omitempty"`
}

type execSpec struct {
	Cluster     *execCluster `json:"cluster,omitempty"`
	Interactive bool         `json:"interactive"`
}

type execCluster struct {
	Server             string          `json:"server"`
	TLSServerName      string          `json:"tls-server-name,omitempty"`
	Insecure           bool            `json:"insecure-skip-tls-verify,omitempty"`
	CAData             []byte          `json:"certificate-authority-data,omitempty"`
	ProxyURL           string          `json:"proxy-url,omitempty"`
	DisableCompression bool            `json:"disable-compression,omitempty"`
	Config             json.RawMessage `json:"config"`
}

type execStatus struct {
	ExpirationTimestamp   string `json:"expirationTimestamp,omitempty"`
	Token                 string `json:"token,omitempty"`
	ClientCertificateData string `json:"clientCertificateData,omitempty"`
	ClientKeyData         string `json:"clientKeyData,omitempty"`
}

// execExtension is the name of the cluster's extension that is meant for plugins.
const execExtension = "client.authentication.k8s.io/exec"

// execInfo is the value of execInfoVariable.
func (s *state) execInfo(interactive bool) ([]byte, error) {
	info := execCredential{
		Kind: "ExecCredential", APIVersion: s.user.Exec.APIVersion,
		Spec: execSpec{Interactive: interactive},
	}
	if s.user.Exec.ProvideClusterInfo {
		ca, err := s.readCA()
		if err != nil {
			return nil, err
		}
		c := &execCluster{
			Server: s.base.String(), TLSServerName: s.cluster.TLSServerName, Insecure: s.cluster.Insecure,
			CAData: ca, ProxyURL: s.cluster.ProxyURL, DisableCompression: s.cluster.DisableCompression,
		}
		for _, extension := range s.cluster.Extensions {
			if extension.Name == execExtension {
				c.Config = extension.Extension
			}
		}
		info.Spec.Cluster = c
	}
	return json.Marshal(info)
}

// parseExecCredential reads what a plugin printed. Its errors repeat nothing of it.
func parseExecCredential(text []byte, apiVersion string) (c *credential, expires time.Time, err error) {
	var printed execCredential
	if err := decodeLoosely(text, &printed); err != nil {
		return nil, expires, err
	}
	status := printed.Status
	switch {
	case printed.Kind != "ExecCredential":
		return nil, expires, errNotJSON
	case printed.APIVersion != apiVersion:
		return nil, expires, fmt.Errorf("is configured for apiVersion %s and printed %q", apiVersion, shortened(printed.APIVersion))
	case status == nil:
		return nil, expires, errors.New("printed no status")
	case status.Token == "" && status.ClientCertificateData == "" && status.ClientKeyData == "":
		return nil, expires, errors.New("printed neither a token nor a client certificate")
	case (status.ClientCertificateData == "") != (status.ClientKeyData == ""):
		return nil, expires, errors.New("printed a client certificate or a key without the other")
	}
	if status.ExpirationTimestamp != "" {
		if expires, err = time.Parse(time.RFC3339, status.ExpirationTimestamp); err != nil {
			return nil, expires, errors.New("printed an expirationTimestamp that is not RFC 3339")
		}
	}
	c = new(credential)
	if status.Token != "" {
		if c, err = bearer(status.Token); err != nil {
			return nil, expires, err
		}
	}
	if status.ClientCertificateData != "" {
		pair, err := tls.X509KeyPair([]byte(status.ClientCertificateData), []byte(status.ClientKeyData))
		if err != nil {
			return nil, expires, fmt.Errorf("client certificate and key: %w", err)
		}
		c.certificate = &pair
	}
	return c, expires, nil
}
