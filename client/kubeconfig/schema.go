package kubeconfig

import (
	"encoding/json"
	"fmt"
)

// file is a kubeconfig file, with the members that anything is made of. The names
// are those of k8s.io/client-go/tools/clientcmd/api/v1.
type file struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	CurrentContext string         `json:"current-context"`
	Clusters       []namedCluster `json:"clusters"`
	Users          []namedUser    `json:"users"`
	Contexts       []namedContext `json:"contexts"`
}

// position is where an entry stands. The decoder fills fields of this type.
type position struct {
	file string
	line int
}

func (p position) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

type namedCluster struct {
	At      position `json:"-"`
	Name    string   `json:"name"`
	Cluster cluster  `json:"cluster"`
}

type cluster struct {
	At                 position         `json:"-"`
	Server             string           `json:"server"`
	TLSServerName      string           `json:"tls-server-name"`
	Insecure           bool             `json:"insecure-skip-tls-verify"`
	CAFile             string           `json:"certificate-authority"`
	CAData             []byte           `json:"certificate-authority-data"`
	ProxyURL           string           `json:"proxy-url"`
	DisableCompression bool             `json:"disable-compression"`
	Extensions         []namedExtension `json:"extensions"`
}

type namedExtension struct {
	Name      string          `json:"name"`
	Extension json.RawMessage `json:"extension"`
}

type namedUser struct {
	At   position `json:"-"`
	Name string   `json:"name"`
	User user     `json:"user"`
}

type user struct {
	At           position            `json:"-"`
	CertFile     string              `json:"client-certificate"`
	CertData     []byte              `json:"client-certificate-data"`
	KeyFile      string              `json:"client-key"`
	KeyData      []byte              `json:"client-key-data"`
	Token        string              `json:"token"`
	TokenFile    string              `json:"tokenFile"`
	Username     string              `json:"username"`
	Password     string              `json:"password"`
	As           string              `json:"as"`
	AsUID        string              `json:"as-uid"`
	AsGroups     []string            `json:"as-groups"`
	AsExtra      map[string][]string `json:"as-user-extra"`
	AuthProvider *authProvider       `json:"auth-provider"`
	Exec         *execConfig         `json:"exec"`
}

// authProvider is a provider that was compiled into clients before there were
// plugins.
type authProvider struct {
	Name string `json:"name"`
}

type execConfig struct {
	APIVersion         string   `json:"apiVersion"`
	Command            string   `json:"command"`
	Args               []string `json:"args"`
	Env                []envVar `json:"env"`
	InstallHint        string   `json:"installHint"`
	ProvideClusterInfo bool     `json:"provideClusterInfo"`
	InteractiveMode    string   `json:"interactiveMode"`
}

type envVar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type namedContext struct {
	At      position    `json:"-"`
	Name    string      `json:"name"`
	Context contextInfo `json:"context"`
}

type contextInfo struct {
	At        position `json:"-"`
	Cluster   string   `json:"cluster"`
	User      string   `json:"user"`
	Namespace string   `json:"namespace"`
}
