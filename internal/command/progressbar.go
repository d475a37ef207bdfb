package command

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/vmikit/vmikit/contract"
)

// progressBar shows on a terminal how far a run is, on one line.
type progressBar struct {
	w     *os.File
	began time.Time
	next  time.Time
	shown bool
}

// The bar is as wide as this, appears for runs that last and moves so often.
const (
	barWidth = 24
	barAfter = 300 * time.Millisecond
	barEvery = 100 * time.Millisecond
)

// newProgressBar returns nil where nobody looks on.
func newProgressBar(w io.Writer) *progressBar {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &progressBar{w: f, began: time.Now(), next: time.Now().Add(barAfter)}
}

func (b *progressBar) show(p contract.Progress) {
	if time.Now().Before(b.next) {
		return
	}
	b.next, b.shown = time.Now().Add(barEvery), true
	columns, _, err := term.GetSize(int(b.w.Fd()))
	if err != nil || columns <= 0 {
		columns = 80
	}
	fmt.Fprintf(b.w, "\r\x1b[K%.*s", columns-1, barLine(p, time.Since(b.began)))
}

// barLine is what the bar shows.
func barLine(p contract.Progress, took time.Duration) string {
	full := 0
	if p.Checks > 0 {
		full = barWidth * p.Done / p.Checks
	}
	line := fmt.Sprintf("[%s%s] %d/%d checks, %d requests, %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full),
		p.Done, p.Checks, p.Requests, took.Round(time.Second))
	if p.Failures > 0 {
		line += fmt.Sprintf(", %d failed", p.Failures)
	}
	return line + " " + p.Check
}

// clear takes the bar away.
func (b *progressBar) clear() {
	if b != nil && b.shown {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
