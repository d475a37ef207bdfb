package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// side is a server that is measured, in a process of its own.
type side struct {
	name string
	place
	trust *x509.CertPool
	pid   int
	// close ends the process and waits for its end.
	close func() error
}

// place is where a server is and what lets one in.
type place struct {
	URL   string `json:"url"`
	CA    []byte `json:"ca"` // PEM
	Token string `json:"token,omitempty"`
	// Socket is the address of a TLS socket without HTTP, which the floor has.
	Socket string `json:"socket,omitempty"`
}

// endWait is how long a server may take to end before it is killed.
const endWait = 20 * time.Second

// start starts a process. What it says is read by find, until that has found where
// the server is; after that it goes where say is.
func start(ctx context.Context, name string, cmd []string, find func(io.Reader) (place, error), output func(*exec.Cmd) (io.Reader, error)) (*side, error) {
	ctx, cancel := context.WithCancel(ctx)
	command := exec.CommandContext(ctx, cmd[0], cmd[1:]...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = endWait
	said, err := output(command)
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	s := &side{name: name, pid: command.Process.Pid, trust: x509.NewCertPool()}
	s.close = func() error {
		cancel()
		if err := command.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			return fmt.Errorf("end %s: %w", name, err)
		}
		return nil
	}
	if s.place, err = find(said); err == nil && !s.trust.AppendCertsFromPEM(s.CA) {
		err = errors.New("its certificate cannot be read")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), s.close())
	}
	return s, nil
}

// rest stops the processes of all sides but one, so that what they still do after the
// last measure, collecting gigabytes of garbage for one, is not in the figures of this
// one. They go on when awake is called.
func rest(sides map[string]*side, but string) (awake func() error, err error) {
	var resting []*side
	awake = func() (err error) {
		for _, s := range resting {
			err = errors.Join(err, s.signal(syscall.SIGCONT))
		}
		return err
	}
	for name, s := range sides {
		if name == but {
			continue
		}
		if err := s.signal(syscall.SIGSTOP); err != nil {
			return nil, errors.Join(err, awake())
		}
		resting = append(resting, s)
	}
	return awake, nil
}

func (s *side) signal(sig syscall.Signal) error {
	if err := syscall.Kill(s.pid, sig); err != nil {
		return fmt.Errorf("%s: send %s: %w", s.name, sig, err)
	}
	return nil
}

// startVmikit starts vmikit serve with a token and with what a file has.
func (b *bench) startVmikit(ctx context.Context, load string) (*side, error) {
	dir, err := os.MkdirTemp(b.dir, "serve-")
	if err != nil {
		return nil, err
	}
	const token = "measure"
	tokens, certificates := filepath.Join(dir, "tokens.csv"), filepath.Join(dir, "tls")
	if err := os.WriteFile(tokens, []byte(token+",measure,1\n"), 0o600); err != nil {
		return nil, err
	}
	cmd := []string{b.binary, "serve", "--quiet", "--listen", "127.0.0.1:0", "--strict-load", "--load", load,
		"--tls", "--tls-dir", certificates, "--token-auth-file", tokens}
	return start(ctx, vmikitName, cmd, func(said io.Reader) (place, error) {
		url, err := servingURL(said)
		if err != nil {
			return place{}, err
		}
		ca, err := os.ReadFile(filepath.Join(certificates, "ca.crt"))
		return place{URL: url, CA: ca, Token: token}, err
	}, func(c *exec.Cmd) (io.Reader, error) { return c.StderrPipe() })
}

var servingLine = regexp.MustCompile(`serving VirtualMachineInstances on (https://\S+)`)

// servingURL waits for the line in which vmikit says where it is, and lets it say
// more.
func servingURL(said io.Reader) (string, error) {
	var before bytes.Buffer
	lines := bufio.NewReader(said)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("it said %q: %w", before.String(), err)
		}
		if m := servingLine.FindStringSubmatch(line); m != nil {
			go func() { _, _ = io.Copy(io.Discard, lines) }()
			return m[1], nil
		}
		before.WriteString(line)
	}
}

// startChild starts this program as one of its [children].
func (b *bench) startChild(ctx context.Context, name string, args ...string) (*side, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return start(ctx, name, append([]string{self, childArgument, name}, args...), func(said io.Reader) (p place, err error) {
		err = json.NewDecoder(said).Decode(&p)
		return p, err
	}, func(c *exec.Cmd) (io.Reader, error) {
		c.Stderr = b.log
		if _, err := c.StdinPipe(); err != nil {
			return nil, err
		}
		return c.StdoutPipe()
	})
}

// protocol is the version of HTTP that a client speaks.
type protocol int

const (
	http1 protocol = iota
	http2
)

func (p protocol) String() string { return [...]string{"HTTP/1.1", "HTTP/2"}[p] }

// client returns a client with connections of its own.
func (s *side) client(p protocol) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(p == http1)
	protocols.SetHTTP2(p == http2)
	return &http.Client{Transport: &http.Transport{
		Protocols: protocols, TLSClientConfig: s.tls(), DisableCompression: true,
		ReadBufferSize: 64 << 10,
	}}
}

func (s *side) tls() *tls.Config { return &tls.Config{RootCAs: s.trust} }

// request is one with the token.
func (s *side) request(ctx context.Context, method, path string, body string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if s.Token != "" {
		r.Header.Set("Authorization", "Bearer "+s.Token)
	}
	switch method {
	case http.MethodPost:
		r.Header.Set("Content-Type", "application/json")
	case http.MethodPatch:
		r.Header.Set("Content-Type", "application/merge-patch+json")
	}
	return r, nil
}

// do sends a request and passes the body of the answer on. Any answer but a good one
// is an error.
func (s *side) do(ctx context.Context, client *http.Client, method, path, body string, to io.Writer) error {
	r, err := s.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	response, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return s.refused(r, response)
	}
	if _, err := io.Copy(to, response.Body); err != nil {
		return fmt.Errorf("%s: %s %s: %w", s.name, method, path, err)
	}
	return nil
}

// refused says what a bad answer says.
func (s *side) refused(r *http.Request, response *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(response.Body, 1000))
	return fmt.Errorf("%s: %s %s: %s: %s", s.name, r.Method, r.URL.Path, response.Status, bytes.TrimSpace(text))
}

// get returns the body of an answer.
func (s *side) get(ctx context.Context, path string) ([]byte, error) {
	client := s.client(http1)
	defer client.CloseIdleConnections()
	var body bytes.Buffer
	err := s.do(ctx, client, http.MethodGet, path, "", &body)
	return body.Bytes(), err
}
