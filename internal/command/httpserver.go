package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/vmikit/vmikit/internal/certs"
)

// Limits of connections. They are about clients that do not do their part;
// --request-timeout is about the server's.
const (
	readHeaderTimeout = 10 * time.Second
	readTimeout       = time.Minute
	// writeGrace is what a slow client may take for an answer of some hundred
	// megabytes, behind the request time-out.
	writeGrace  = 2 * time.Minute
	idleTimeout = 90 * time.Second
	// stuckTimeout is for an HTTP/2 connection of which nothing is read, so that no
	// stream on it can be ended.
	stuckTimeout = 30 * time.Second
	// maxHeaderBytes leaves room for selectors of 100 KB in a URL.
	maxHeaderBytes = 1 << 20
	// shutdownGrace is how long requests in flight may take once the server is told to stop.
	shutdownGrace = 10 * time.Second
)

func newHTTPServer(handler http.Handler, certificate *servingCertificate, requestTimeout time.Duration, log *slog.Logger) *http.Server {
	s := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      requestTimeout + writeGrace,
		IdleTimeout:       idleTimeout,
		HTTP2:             &http.HTTP2Config{WriteByteTimeout: stuckTimeout},
		MaxHeaderBytes:    maxHeaderBytes,
		// "OPTIONS *" is for the handler to refuse, like everything without a token.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	if certificate != nil {
		s.TLSConfig = &tls.Config{
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &certificate.current().Certificate, nil },
			MinVersion:     tls.VersionTLS12,
			NextProtos:     []string{"h2", "http/1.1"},
		}
	}
	return s
}

// servingCertificate is the certificate of a server, as it is at the time.
type servingCertificate struct{ current func() *certs.Pair }

// lasting is a certificate that stays as it is.
func lasting(pair *certs.Pair) *servingCertificate {
	return &servingCertificate{func() *certs.Pair { return pair }}
}

// serveUntil answers requests until ctx ends. Requests that are in flight then
// are finished, within shutdownGrace.
func serveUntil(ctx context.Context, s *http.Server, l net.Listener) error {
	failed := make(chan error, 1)
	go func() {
		if s.TLSConfig != nil {
			failed <- s.ServeTLS(l, "", "")
		} else {
			failed <- s.Serve(l)
		}
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	err := s.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		s.Close()
		return fmt.Errorf("requests were still in flight %s after the signal and are cut off", shutdownGrace)
	}
	return err
}
