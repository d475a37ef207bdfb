package kubeconfig

import (
	"errors"
	"fmt"
)

// ErrNotConfigured is what errors of [Load] wrap when nothing names a server: no
// kubeconfig file has an entry for it, no override gives one, and the program does
// not run in a pod.
var ErrNotConfigured = errors.New("no server is configured")

// chosen is one context with the overrides laid over it.
type chosen struct {
	context, clusterName, userName string
	cluster                        cluster
	user                           user
	namespace                      string // empty for the default
}

// choose takes a context, its cluster and its user, by the rules of clientcmd's
// DirectClientConfig. Unlike it, an entry that is named and not there is an error
// wherever it would count.
func (l *loader) choose(m *merged) (*chosen, error) {
	o := &l.overrides
	context, name, err := l.chooseContext(m)
	if err != nil {
		return nil, err
	}
	c := &chosen{context: name, clusterName: context.Cluster, userName: context.User, namespace: context.Namespace}
	set(&c.clusterName, o.Cluster)
	set(&c.userName, o.User)
	set(&c.namespace, o.Namespace)

	var ok bool
	if c.cluster, ok = m.clusters[c.clusterName]; !ok && (o.Cluster != "" || c.clusterName != "" && o.Server == "") {
		return nil, fmt.Errorf("%s names the cluster %q, which does not exist; %s", c.whoNames(context, o.Cluster), c.clusterName, names(m.clusters))
	}
	if c.user, ok = m.users[c.userName]; !ok && (o.User != "" || c.userName != "" && !o.hasCredential()) {
		return nil, fmt.Errorf("%s names the user %q, which does not exist; %s", c.whoNames(context, o.User), c.userName, names(m.users))
	}
	o.applyToCluster(&c.cluster)
	o.applyToUser(&c.user)
	if c.cluster.Server == "" && c.clusterName == "" {
		return nil, notConfigured(m, name)
	}
	return c, nil
}

// whoNames says where a name comes from.
func (c *chosen) whoNames(context contextInfo, override string) string {
	if override != "" {
		return "the override"
	}
	return fmt.Sprintf("%s: the context %q", context.At, c.context)
}

// chooseContext returns the context asked for, or the current one; the empty one
// if there is neither.
func (l *loader) chooseContext(m *merged) (contextInfo, string, error) {
	name := m.current
	set(&name, l.context)
	context, ok := m.contexts[name]
	switch {
	case ok || name == "":
		return context, name, nil
	case l.context != "":
		return context, name, fmt.Errorf("the context %q does not exist; %s", name, names(m.contexts))
	}
	return context, name, fmt.Errorf("current-context is %q, which does not exist; %s", name, names(m.contexts))
}

func notConfigured(m *merged, context string) error {
	if context == "" && len(m.contexts) > 0 {
		return fmt.Errorf("%w: there is no current-context; choose a context: %s", ErrNotConfigured, names(m.contexts))
	}
	if context != "" {
		return fmt.Errorf("%w: the context %q names no cluster", ErrNotConfigured, context)
	}
	return fmt.Errorf("%w: %s; set %s, or give a file or a server", ErrNotConfigured, m.places.missing(), kubeconfigVariable)
}
