package kubeconfig

import (
	"errors"
	"io"
	"os"
	"time"
)

// Option changes what [Load] reads and what it makes of it. Options are applied in
// their order; an option that fails makes Load fail.
type Option func(*loader) error

// loader is what the options have asked for.
type loader struct {
	file      string
	noFiles   bool
	context   string
	overrides Overrides
	inCluster bool

	serviceAccount    string // directory
	certificatePeriod time.Duration
	stdin             stdin
	stderr            io.Writer
}

func newLoader(options []Option) (*loader, error) {
	l := &loader{serviceAccount: serviceAccountDir, certificatePeriod: certificatePeriod, stderr: os.Stderr}
	for _, option := range options {
		if option == nil {
			continue
		}
		if err := option(l); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// WithFile reads this file and no other, like kubectl's --kubeconfig. It must be
// there. The empty path changes nothing.
func WithFile(path string) Option {
	return func(l *loader) error {
		l.file = path
		return nil
	}
}

// WithoutFiles reads no kubeconfig file and no service account: what [WithOverrides]
// gives is all there is, so that the credentials of one server never go to another.
func WithoutFiles() Option {
	return func(l *loader) error {
		l.noFiles = true
		return nil
	}
}

// WithContext chooses a context, like kubectl's --context; without it the one that
// current-context names is used. The empty name changes nothing.
func WithContext(name string) Option {
	return func(l *loader) error {
		l.context = name
		return nil
	}
}

// WithOverrides lays values over those of the files, like kubectl's flags.
func WithOverrides(o Overrides) Option {
	return func(l *loader) error {
		l.overrides = o
		return nil
	}
}

// WithInCluster uses the service account of the pod that the program runs in,
// whatever kubeconfig files there are. [WithOverrides] still holds; its Cluster and
// User cannot, as there are no others.
func WithInCluster() Option {
	return func(l *loader) error {
		l.inCluster = true
		return nil
	}
}

// WithoutStdin keeps standard input from exec plugins, for programs that read it
// themselves. A plugin that cannot do without is an error that gives the reason,
// say "it is read as a manifest". Without this option a plugin that wants standard
// input gets it when it is a terminal.
func WithoutStdin(reason string) Option {
	return func(l *loader) error {
		l.stdin = stdin{unavailable: true, reason: reason}
		return nil
	}
}

// WithPluginStderr writes what exec plugins print to standard error, such as the
// code of a login, to w. By default it goes to the program's own, as with kubectl.
// Plugins run one at a time for each [Config].
func WithPluginStderr(w io.Writer) Option {
	return func(l *loader) error {
		if w == nil {
			return errors.New("the writer for the standard error of plugins is nil")
		}
		l.stderr = w
		return nil
	}
}
