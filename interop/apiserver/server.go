package apiserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"time"

	"go.uber.org/zap/zapcore"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
)

// Options say who gets in and where the log goes. The zero value is a server
// whose every request needs a token and that logs nothing.
type Options struct {
	// Anonymous lets requests without a bearer token in as system:anonymous, as
	// kube-apiserver does by default. They may read no machine, so the difference
	// is a 403 instead of a 401.
	Anonymous bool
	// Log gets what Kubernetes and etcd log; nil drops it.
	Log io.Writer
}

// Server is a running API server. Its tokens are random.
type Server struct {
	// URL is the base URL: https on a port of 127.0.0.1.
	URL string
	// CA is the certificate that the server shows, in PEM. It is for 127.0.0.1
	// and localhost.
	CA []byte
	// AdminToken is that of a user who may do everything.
	AdminToken string
	// ViewerToken is that of a user who may get, list and watch the machines of
	// every namespace, and read discovery.
	ViewerToken string
	// NobodyToken is that of a user who may read discovery and nothing else.
	NobodyToken string

	users  *access
	client *http.Client
	// undo has what Close does, last first.
	undo []func() error
}

// Start starts a server and returns when machines can be read, which takes one or
// two seconds. The first creation takes two more, which is how long every API
// server makes it wait after a new CRD. ctx bounds the start alone: the server
// runs until [Server.Close].
func Start(ctx context.Context, options Options) (*Server, error) {
	if options.Log == nil {
		options.Log = io.Discard
	}
	s := &Server{users: &access{users: make(map[string]user.Info)}}
	if err := s.start(ctx, options); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends the server within a second or two, the second for requests that are
// under way, such as watches. Then the ports are free and the data is gone. To
// call it again does nothing.
func (s *Server) Close() error {
	var errs []error
	for _, undo := range slices.Backward(s.undo) {
		errs = append(errs, undo())
	}
	s.undo = nil
	return errors.Join(errs...)
}

// HTTPClient returns a client that trusts the server. It carries no token.
func (s *Server) HTTPClient() *http.Client { return s.client }

// NamespaceViewerToken returns a new token of a user who may get, list and watch
// the machines of one namespace, and read discovery.
func (s *Server) NamespaceViewerToken(namespace string) string {
	return s.users.issue(viewerOf(namespace))
}

func (s *Server) start(ctx context.Context, options Options) error {
	log := zapcore.Lock(zapcore.AddSync(options.Log)) // etcd and Kubernetes both write
	if err := logTo(log); err != nil {
		return err
	}
	s.AdminToken = s.users.issue("admin", user.SystemPrivilegedGroup)
	s.ViewerToken = s.users.issue(viewer)
	s.NobodyToken = s.users.issue("nobody")

	dir, err := os.MkdirTemp("", "vmikit-apiserver-")
	if err != nil {
		return fmt.Errorf("make a directory for the data: %w", err)
	}
	s.undo = append(s.undo, func() error { return os.RemoveAll(dir) })
	etcd, err := startEtcd(ctx, dir, log)
	if err != nil {
		return err
	}
	s.undo = append(s.undo, func() error { etcd.Close(); return nil })

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.undo = append(s.undo, func() error {
		if err := listener.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil // the server has closed it
	})
	config, certificate, err := configure(endpoint(etcd), listener, s.users, options.Anonymous)
	if err != nil {
		return err
	}
	server, err := config.Complete().New(genericapiserver.NewEmptyDelegate())
	if err != nil {
		return fmt.Errorf("make the API server: %w", err)
	}
	ctx, ended := context.WithCancelCause(ctx)
	defer ended(nil)
	s.run(server.GenericAPIServer, ended)
	if err := s.dial(listener, certificate); err != nil {
		return err
	}
	if err := s.waitFor(ctx, "/readyz"); err != nil {
		return err
	}
	return s.installCRD(ctx)
}

// shutdownTimeout is for requests that are under way when the server ends. An
// HTTP/2 connection takes a second to say goodbye.
const shutdownTimeout = 2 * time.Second

// run lets the server serve until Close, and tells when it ends, so that nobody
// waits for a server that could not start.
func (s *Server) run(server *genericapiserver.GenericAPIServer, end func(error)) {
	server.ShutdownTimeout = shutdownTimeout
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := server.PrepareRun().RunWithContext(ctx)
		end(err)
		ended <- err
	}()
	s.undo = append(s.undo, func() error {
		cancel()
		if err := <-ended; err != nil {
			return fmt.Errorf("end the API server: %w", err)
		}
		return nil
	})
}

// dial makes what clients need to reach the server.
func (s *Server) dial(listener net.Listener, certificate []byte) error {
	s.URL, s.CA = "https://"+listener.Addr().String(), certificate
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(certificate) {
		return errors.New("the certificate of the API server cannot be read")
	}
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}}
	s.undo = append(s.undo, func() error { s.client.CloseIdleConnections(); return nil })
	return nil
}

// adminConfig is for client-go. It has no limit of requests per second.
func (s *Server) adminConfig() *rest.Config {
	return &rest.Config{Host: s.URL, Transport: transport.NewBearerAuthRoundTripper(s.AdminToken, s.client.Transport), QPS: -1}
}

// waitFor returns when a get of the path is answered with 200.
func (s *Server) waitFor(ctx context.Context, path string) error {
	for {
		code, err := s.status(ctx, path)
		if code == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			if err == nil {
				err = fmt.Errorf("status %d", code)
			}
			return fmt.Errorf("wait for %s, last answered with %w: %w", path, err, context.Cause(ctx))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (s *Server) status(ctx context.Context, path string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+s.AdminToken)
	response, err := s.client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}
