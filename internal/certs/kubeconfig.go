package certs

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// kubeconfigName is the name of the cluster, the user and the context.
const kubeconfigName = "vmikit"

// Kubeconfig is what WriteKubeconfig writes. Only Server is required.
//
// kubectl and client-go send a token over https only; with an http server the
// requests are anonymous.
type Kubeconfig struct {
	Server string // https://HOST:PORT or http://HOST:PORT
	CA     []byte // PEM; without it clients use the roots of their system

	Token      string
	ClientCert []byte // PEM, with ClientKey
	ClientKey  []byte // PEM
}

// WriteKubeconfig writes a kubeconfig with the one context "vmikit", which is
// current and has the namespace "default". The file has mode 0600 and is
// replaced as a whole; its directory is made with 0700 if it is not there.
//
// A file that is there is overwritten only if it is empty or holds nothing but
// the cluster, user and context "vmikit", so that nobody's ~/.kube/config is
// lost or mixed with this one. Otherwise WriteKubeconfig fails.
func WriteKubeconfig(path string, c Kubeconfig) error {
	data, err := c.encode()
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	// createFile first, because it cannot overwrite a file of somebody else
	// that appears between the check and the write.
	err = createFile(path, data, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if err = checkOurs(path); err == nil {
			err = replaceFile(path, data, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return nil
}

type kubeconfigFile struct {
	APIVersion     string         `yaml:"apiVersion"`
	Kind           string         `yaml:"kind"`
	Clusters       []namedCluster `yaml:"clusters"`
	Contexts       []namedContext `yaml:"contexts"`
	CurrentContext string         `yaml:"current-context"`
	Users          []namedUser    `yaml:"users"`
}

type namedCluster struct {
	Name    string  `yaml:"name"`
	Cluster cluster `yaml:"cluster"`
}

type cluster struct {
	Server string `yaml:"server"`
	CA     string `yaml:"certificate-authority-data,omitempty"`
}

type namedContext struct {
	Name    string        `yaml:"name"`
	Context clientContext `yaml:"context"`
}

type clientContext struct {
	Cluster   string `yaml:"cluster"`
	Namespace string `yaml:"namespace"`
	User      string `yaml:"user"`
}

type namedUser struct {
	Name string `yaml:"name"`
	User user   `yaml:"user"`
}

type user struct {
	Token      quoted `yaml:"token,omitempty"`
	ClientCert string `yaml:"client-certificate-data,omitempty"`
	ClientKey  string `yaml:"client-key-data,omitempty"`
}

// quoted is a string that stays one for readers of YAML 1.1, whatever it looks
// like: kubectl would take the token 1_000 or 12:30 for a number.
type quoted string

func (q quoted) MarshalYAML() (any, error) {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: string(q)}, nil
}

func (c Kubeconfig) encode() ([]byte, error) {
	server, err := url.Parse(c.Server)
	if err != nil || server.Host == "" || server.Scheme != "https" && server.Scheme != "http" {
		return nil, errors.New("the server is not an http or https URL")
	}
	if (len(c.ClientCert) == 0) != (len(c.ClientKey) == 0) {
		return nil, errors.New("a client certificate and its key must be given together")
	}
	base64 := base64.StdEncoding.EncodeToString
	return yaml.Marshal(kubeconfigFile{
		APIVersion:     "v1",
		Kind:           "Config",
		CurrentContext: kubeconfigName,
		Clusters:       []namedCluster{{kubeconfigName, cluster{Server: c.Server, CA: base64(c.CA)}}},
		Contexts:       []namedContext{{kubeconfigName, clientContext{kubeconfigName, "default", kubeconfigName}}},
		Users: []namedUser{{kubeconfigName, user{
			Token:      quoted(c.Token),
			ClientCert: base64(c.ClientCert),
			ClientKey:  base64(c.ClientKey),
		}}},
	})
}

// checkOurs fails unless the file at path can be overwritten without a loss.
func checkOurs(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("there is something that is not a regular file; give another path")
	}
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return err
	}
	type entry struct{ Name string }
	var found struct {
		Kind                      string
		Clusters, Contexts, Users []entry
	}
	onlyOurs := func(list []entry) bool { return len(list) == 1 && list[0].Name == kubeconfigName }
	// The text of a YAML error can hold parts of the file, so it is not shown.
	documents := yaml.NewDecoder(bytes.NewReader(data))
	err = documents.Decode(&found)
	more := documents.Decode(new(any))
	if err != nil || !errors.Is(more, io.EOF) || found.Kind != "Config" || !onlyOurs(found.Clusters) || !onlyOurs(found.Contexts) || !onlyOurs(found.Users) {
		return errors.New("the file was not written by vmikit and is left alone; give another path")
	}
	return nil
}
