package openapi

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Profile names one of the documents that the package has.
type Profile string

const (
	// ProfileDocument is the document as given: two operations, closed lists of
	// values as they stood when it was written, no bodies for errors.
	ProfileDocument Profile = "document"
	// ProfileKubernetes adds what every Kubernetes API has: error bodies, paging,
	// watches, tables, discovery. It keeps every rule of ProfileDocument.
	ProfileKubernetes Profile = "kubernetes"
	// ProfileKubeVirt adds to ProfileKubernetes the values that KubeVirt has
	// added since. It refuses nothing that ProfileKubernetes takes. Every
	// VirtualMachineInstance of a current cluster is meant to pass here.
	ProfileKubeVirt Profile = "kubevirt"
)

var (
	//go:embed kubevirt-vmi.yaml
	documentYAML []byte
	//go:embed kubernetes.gen.yaml
	kubernetesYAML []byte
	//go:embed kubevirt.gen.yaml
	kubevirtYAML []byte
)

// Profiles returns the profiles, the narrowest first.
func Profiles() []Profile {
	return []Profile{ProfileDocument, ProfileKubernetes, ProfileKubeVirt}
}

// ParseProfile returns the profile of that name. The error names all of them.
func ParseProfile(s string) (Profile, error) {
	if p := Profile(s); slices.Contains(Profiles(), p) {
		return p, nil
	}
	names := make([]string, 0, len(Profiles()))
	for _, p := range Profiles() {
		names = append(names, string(p))
	}
	return "", fmt.Errorf("no profile %q: want one of %s", s, strings.Join(names, ", "))
}

// Source returns the YAML text of a profile's document, nil for a profile that
// does not exist. The caller owns the bytes.
func Source(p Profile) []byte { return slices.Clone(source(p)) }

func source(p Profile) []byte {
	switch p {
	case ProfileDocument:
		return documentYAML
	case ProfileKubernetes:
		return kubernetesYAML
	case ProfileKubeVirt:
		return kubevirtYAML
	}
	return nil
}

// digest names document texts by their content.
func digest(sources ...[]byte) string {
	h := sha256.New()
	for _, s := range sources {
		h.Write(s)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
