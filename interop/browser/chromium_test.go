package browser_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/contract"
)

// patience is how long one action waits for the browser.
const patience = time.Minute

// chromium is the path of the browser: what VMIKIT_CHROMIUM names, else the one
// that the system has.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("VMIKIT_CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("there is no Chromium here, and CI must have one: install Debian's package chromium")
	}
	t.Skip("there is no Chromium here: install one, or name it in VMIKIT_CHROMIUM")
	return ""
}

// tab is a page that is open in a Chromium without network.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu sync.Mutex
	// complaints are what the console was told, requests what the page asked for.
	complaints, requests []string
}

// open writes a page into a file and opens that, in a tab of its own.
func open(t *testing.T, report *contract.Report, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	file, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, report.WriteHTML(file))
	require.NoError(t, file.Close())

	b := &tab{t: t}
	ctx, cancel := chromedp.NewContext(shared(t), chromedp.WithListener(b.hear))
	t.Cleanup(cancel)
	b.ctx = ctx
	// The first action makes the tab, which lives as long as its context.
	require.NoError(t, chromedp.Do(b.ctx))
	b.do(
		call(network.Enable, network.EnableParams{}), call(log.Enable, cdp.Empty{}),
		chromedp.Steps(before...), chromedp.Navigate("file://"+path),
	)
	return b
}

var (
	// started is the context of the browser that all tests share, stop ends it.
	started context.Context
	stop    = func() {}
)

func TestMain(m *testing.M) {
	code := m.Run()
	stop()
	os.Exit(code)
}

// shared starts the browser, with a new profile, and returns its context.
func shared(t *testing.T) context.Context {
	t.Helper()
	path := chromium(t)
	if started != nil {
		return started
	}
	profile, err := os.MkdirTemp("", "vmikit-browser-")
	require.NoError(t, err)
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		// No name is resolved and no address reached, wherever a page points.
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND"),
		chromedp.ProxyServer("127.0.0.1:1"), chromedp.Flag("proxy-bypass-list", "<-loopback>"),
	)
	allocator, stopAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancel := chromedp.NewContext(allocator)
	stop = func() {
		cancel()
		stopAllocator()
		os.RemoveAll(profile)
	}
	require.NoError(t, chromedp.Do(ctx))
	started = ctx
	return started
}

func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, "console."+string(e.Type))
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:///") || !strings.HasSuffix(e.Request.URL, "/report.html") {
			b.requests = append(b.requests, e.Request.URL)
		}
	}
}

// heard returns the complaints and the requests until now.
func (b *tab) heard() (complaints, requests []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.complaints), slices.Clone(b.requests)
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	run(b, chromedp.Steps(steps...))
}

func run[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	require.NoError(b.t, err)
	return value
}

// eval returns the value of a JavaScript expression in the page.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// wait waits until an expression is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	run(b, chromedp.Poll[bool](expression))
}

// call is a command of the DevTools protocol as an action.
func call[P any](command cdp.Command[P, cdp.Empty], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// prefer asks for a light or dark page, on screen or print.
func prefer(scheme, media string) chromedp.Action[chromedp.Void] {
	return call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// width makes the window so many pixels wide.
func width(pixels int64) chromedp.Action[chromedp.Void] {
	return chromedp.EmulateViewport(pixels, 1400)
}
