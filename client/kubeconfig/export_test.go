package kubeconfig

import "time"

// WithServiceAccount reads a pod's service account from another directory than the
// one that the kubelet uses.
func WithServiceAccount(directory string) Option {
	return func(l *loader) error {
		l.serviceAccount = directory
		return nil
	}
}

// WithCertificatePeriod changes how often certificate files are looked at.
func WithCertificatePeriod(period time.Duration) Option {
	return func(l *loader) error {
		l.certificatePeriod = period
		return nil
	}
}
