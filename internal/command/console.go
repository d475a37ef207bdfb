package command

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/term"
)

// console is where a running server speaks to people: plain lines, which become
// records where the log is JSON so that every line can be read by a program.
type console struct {
	out *lockedWriter
	// log is that of the server, with the level that was asked for.
	log *slog.Logger
	// notices has every level: start lines are no matter of verbosity.
	notices *slog.Logger // nil for plain lines
}

func newConsole(w io.Writer, format string, quiet bool) *console {
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelWarn
	}
	c := &console{out: &lockedWriter{w: w}}
	if format == "json" {
		c.log = slog.New(slog.NewJSONHandler(c.out, &slog.HandlerOptions{Level: level}))
		c.notices = slog.New(slog.NewJSONHandler(c.out, nil))
	} else {
		c.log = slog.New(slog.NewTextHandler(c.out, &slog.HandlerOptions{Level: level}))
	}
	return c
}

// say prints one line.
func (c *console) say(format string, args ...any) {
	if c.notices != nil {
		c.notices.Info(fmt.Sprintf(format, args...))
		return
	}
	fmt.Fprintln(c.out, printable(fmt.Sprintf(format, args...)))
}

// warn prints one line about something that may not be as it was meant.
func (c *console) warn(format string, args ...any) {
	if c.notices != nil {
		c.notices.Warn(fmt.Sprintf(format, args...))
		return
	}
	fmt.Fprintln(c.out, "warning: "+printable(fmt.Sprintf(format, args...)))
}

// terminal reports whether somebody looks on.
func (c *console) terminal() bool {
	f, ok := c.out.w.(*os.File)
	return ok && c.notices == nil && term.IsTerminal(int(f.Fd()))
}

// progress shows a line that the next one overwrites; "" takes it away.
func (c *console) progress(line string) {
	fmt.Fprintf(c.out, "\r\x1b[K%s", line)
}

// lockedWriter keeps the lines of the log and those of the console apart.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
