package kubeconfig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
)

const (
	// maxPluginOutput bounds what a plugin may print.
	maxPluginOutput = 1 << 20
	// renewalPause is how long a credential that came of a 401 is kept although the
	// server answers 401 to it too. Some plugins open a browser.
	renewalPause = time.Minute
	// leastUse is how long a credential is used although it says that it has
	// expired, so that where the clocks of two machines differ the plugin does not
	// run for every request.
	leastUse = 10 * time.Second
)

// plugin runs an exec plugin and keeps what it prints until that expires.
type plugin struct {
	config *execConfig
	state  *state
	stdin  stdin
	stderr io.Writer

	// generation counts the client certificates that the plugin has given.
	generation atomic.Uint64

	mu      sync.Mutex
	last    *credential // nil before the first run
	expires time.Time   // zero for never
	renewed time.Time   // when last came of a 401; zero if it did not
	run     *run        // nil when the plugin is not running
}

// run is one run of the plugin that several requests may wait for.
type run struct {
	done       chan struct{}
	cancel     context.CancelFunc
	waiting    int
	credential *credential // with err, set before done is closed
	err        error
}

func newPlugin(config *execConfig, s *state, l *loader) *plugin {
	return &plugin{config: config, state: s, stdin: l.stdin, stderr: l.stderr}
}

func (p *plugin) get(ctx context.Context) (*credential, error) {
	p.mu.Lock()
	if p.last != nil && (p.expires.IsZero() || time.Now().Before(p.expires)) {
		defer p.mu.Unlock()
		return p.last, nil
	}
	return p.wait(ctx, p.join(ctx, time.Time{}))
}

func (p *plugin) renew(ctx context.Context, refused *credential) (*credential, error) {
	now := time.Now()
	p.mu.Lock()
	if p.last != refused || !p.renewed.IsZero() && now.Sub(p.renewed) < renewalPause {
		defer p.mu.Unlock()
		return p.last, nil // renewed by another request, or to no avail
	}
	return p.wait(ctx, p.join(ctx, now))
}

// join starts the plugin unless it is running. The caller holds mu.
func (p *plugin) join(ctx context.Context, renewed time.Time) *run {
	if p.run == nil {
		// The run outlives the request that started it if others wait for it.
		ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
		p.run = &run{done: make(chan struct{}), cancel: cancel}
		go p.finish(ctx, p.run, renewed)
	}
	p.run.waiting++
	return p.run
}

// wait waits for a run. The caller holds mu, which wait gives back. A run that
// nobody waits for any longer is stopped.
func (p *plugin) wait(ctx context.Context, r *run) (*credential, error) {
	p.mu.Unlock()
	select {
	case <-r.done:
		return r.credential, r.err
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.waiting--; r.waiting == 0 {
		r.cancel()
		if p.run == r {
			p.run = nil
		}
	}
	return nil, fmt.Errorf("exec plugin %s: %w", p.config.Command, context.Cause(ctx))
}

// finish runs the plugin and keeps its credential.
func (p *plugin) finish(ctx context.Context, r *run, renewed time.Time) {
	defer r.cancel()
	credential, expires, err := p.execute(ctx)
	if err != nil {
		r.err = fmt.Errorf("exec plugin %s: %w", p.config.Command, err)
	}
	r.credential = credential
	p.mu.Lock()
	defer p.mu.Unlock()
	defer close(r.done)
	if p.run != r {
		return
	}
	p.run = nil
	if err != nil {
		return
	}
	if !sameCertificate(p.last, credential) {
		p.generation.Add(1)
	}
	if soon := time.Now().Add(leastUse); !expires.IsZero() && expires.Before(soon) {
		expires = soon
	}
	p.last, p.expires, p.renewed = credential, expires, renewed
}

func sameCertificate(a, b *credential) bool {
	if a == nil || a.certificate == nil || b.certificate == nil {
		return (a == nil || a.certificate == nil) && b.certificate == nil
	}
	return slices.EqualFunc(a.certificate.Certificate, b.certificate.Certificate, slices.Equal[[]byte])
}

// execute runs the plugin once, as client-go does: with the environment of this
// program, its own variables, and what it must know in KUBERNETES_EXEC_INFO.
func (p *plugin) execute(ctx context.Context) (*credential, time.Time, error) {
	interactive, err := p.stdin.interactive(p.config.interactiveMode())
	if err != nil {
		return nil, time.Time{}, err
	}
	info, err := p.state.execInfo(interactive)
	if err != nil {
		return nil, time.Time{}, err
	}
	cmd := exec.CommandContext(ctx, p.config.Command, p.config.Args...)
	cmd.Env = os.Environ()
	for _, v := range p.config.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	cmd.Env = append(cmd.Env, execInfoVariable+"="+string(info))
	if interactive {
		cmd.Stdin = os.Stdin
	}
	output := new(boundedBuffer)
	cmd.Stdout, cmd.Stderr = output, p.stderr
	// What the plugin has started may keep its output open when it has ended, as a
	// daemon that holds logins does.
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, time.Time{}, p.failure(ctx, err, output)
	}
	return parseExecCredential(output.bytes, p.config.APIVersion)
}

// failure explains why the plugin could not be run.
func (p *plugin) failure(ctx context.Context, err error, output *boundedBuffer) error {
	_, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case output.full:
		return fmt.Errorf("printed more than %d MiB", maxPluginOutput>>20)
	case exited:
		return fmt.Errorf("failed: %w", err)
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		if hint := oneLine(p.config.InstallHint); hint != "" {
			return fmt.Errorf("is not installed: %w: %s", err, hint)
		}
		return fmt.Errorf("is not installed: %w", err)
	}
	return fmt.Errorf("cannot be run: %w", err)
}

// maxHint bounds an install hint.
const maxHint = 500

// oneLine keeps a hint from disturbing a terminal or a log.
func oneLine(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(text) > maxHint {
		text = strings.ToValidUTF8(text[:maxHint], "") + "…"
	}
	return text
}

// boundedBuffer keeps the beginning of an output and refuses the rest.
type boundedBuffer struct {
	bytes []byte
	full  bool
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	if len(b.bytes)+len(p) > maxPluginOutput {
		b.full = true
		return 0, errors.New("too much output")
	}
	b.bytes = append(b.bytes, p...)
	return len(p), nil
}
