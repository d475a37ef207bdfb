package kubeconfig

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

const (
	// serviceAccountDir is where the kubelet puts a pod's service account.
	serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

	defaultNamespace = "default"
)

// inPod reports whether a service account can be used, by clientcmd's conditions.
func (l *loader) inPod() bool {
	info, err := os.Stat(filepath.Join(l.serviceAccount, "token"))
	return err == nil && !info.IsDir() &&
		os.Getenv("KUBERNETES_SERVICE_HOST") != "" && os.Getenv("KUBERNETES_SERVICE_PORT") != ""
}

// chooseInPod makes entries of the service account, with the overrides laid over
// them. The certificate authorities are those of the system if the pod has none.
func (l *loader) chooseInPod() (*chosen, error) {
	if o := l.overrides; o.Cluster != "" || o.User != "" || l.context != "" {
		return nil, fmt.Errorf("there is no context, cluster or user to choose from in a pod's service account")
	}
	if !l.inPod() {
		return nil, fmt.Errorf("%w: this is no pod with a service account (KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT and %s/token)",
			ErrNotConfigured, l.serviceAccount)
	}
	c := &chosen{
		cluster: cluster{Server: "https://" + net.JoinHostPort(
			os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))},
		user:      user{TokenFile: filepath.Join(l.serviceAccount, "token")},
		namespace: l.overrides.Namespace,
	}
	if ca := filepath.Join(l.serviceAccount, "ca.crt"); mustOpen("", ca) == nil {
		c.cluster.CAFile = ca
	}
	l.overrides.applyToCluster(&c.cluster)
	l.overrides.applyToUser(&c.user)
	return c, nil
}

// podNamespace is the namespace of requests that name none: the pod's in a pod, as
// for kubectl even if the server comes from a file, and else "default".
func (l *loader) podNamespace() string {
	if !l.inPod() {
		return defaultNamespace
	}
	if namespace := os.Getenv("POD_NAMESPACE"); namespace != "" {
		return namespace
	}
	if text, err := readFile(filepath.Join(l.serviceAccount, "namespace")); err == nil {
		if namespace := strings.TrimSpace(string(text)); namespace != "" {
			return namespace
		}
	}
	return defaultNamespace
}
