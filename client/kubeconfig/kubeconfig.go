package kubeconfig

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Config is how to reach one API server as one user. It is made by [Load], and
// safe for use by several goroutines.
type Config struct {
	// URL is the server's base URL, without a slash at its end. Its path, if it has
	// one, is a prefix of every request's.
	URL string
	// Namespace is for requests that name none. It is never empty.
	Namespace string
	// Context, Cluster and User are the names of the entries that were chosen;
	// empty where there is none, as with a service account.
	Context, Cluster, User string

	// loaded gives the state. It is a function because fmt follows pointers for some
	// verbs, and the state has secrets.
	loaded func() *state
}

// state is what Load made, nil if c was made in another way.
func (c *Config) state() *state {
	if c == nil || c.loaded == nil {
		return nil
	}
	return c.loaded()
}

// state is what the transports are made of.
type state struct {
	base        *url.URL
	proxy       *url.URL // nil for the environment's
	cluster     cluster
	user        user
	credentials credentials
	plugin      *plugin // nil when there is none or it does not count
	description string

	certificatePeriod time.Duration
}

// Load finds and reads a configuration, and checks it with the files that it names.
// No plugin is run and no request is sent.
//
// Its errors name the file, with the line where there is one, and the context,
// cluster or user that is wrong or missing. Where nothing names a server they wrap
// [ErrNotConfigured]; a file that cannot be read is an [io/fs.PathError].
func Load(options ...Option) (*Config, error) {
	l, err := newLoader(options)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	c, err := l.load()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig: %w", err)
	}
	return c, nil
}

func (l *loader) load() (*Config, error) {
	chosen, err := l.find()
	if err != nil {
		return nil, err
	}
	if err := chosen.validate(); err != nil {
		return nil, err
	}
	s, err := l.newState(chosen)
	if err != nil {
		return nil, err
	}
	c := &Config{
		URL: s.base.String(), Namespace: chosen.namespace,
		Context: chosen.context, Cluster: chosen.clusterName, User: chosen.userName, loaded: func() *state { return s },
	}
	if c.Namespace == "" {
		c.Namespace = l.podNamespace()
	}
	return c, nil
}

// find takes the entries of the files, or of the service account.
func (l *loader) find() (*chosen, error) {
	if l.inCluster {
		return l.chooseInPod()
	}
	files, err := l.places().read()
	if err != nil {
		return nil, err
	}
	c, err := l.choose(files)
	if errors.Is(err, ErrNotConfigured) && !files.places.explicit && !files.places.none && l.inPod() {
		return l.chooseInPod()
	}
	return c, err
}

// newState makes the credentials, and tries the certificates once so that Load
// fails rather than the first request.
func (l *loader) newState(c *chosen) (*state, error) {
	base, err := parseServer(c.cluster.Server)
	if err != nil {
		return nil, fmt.Errorf("%scluster %q: %w", at(c.cluster.At), c.clusterName, err)
	}
	s := &state{base: base, cluster: c.cluster, user: c.user, certificatePeriod: l.certificatePeriod}
	if s.proxy, err = parseProxy(c.cluster.ProxyURL); err != nil {
		return nil, err
	}
	if base.Scheme != "https" {
		s.description = "none, as credentials go over https only"
		return s, nil
	}
	if err := c.validateTLS(); err != nil {
		return nil, err
	}
	if err := s.addCredentials(l); err != nil {
		return nil, fmt.Errorf("%suser %q: %w", at(c.user.At), c.userName, err)
	}
	if err := s.tryMaterial(); err != nil {
		return nil, fmt.Errorf("%scluster %q, user %q: %w", at(c.cluster.At), c.clusterName, c.userName, err)
	}
	return s, nil
}
