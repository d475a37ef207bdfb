package clients_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// terminal is a program in a terminal, with a person before it.
type terminal struct {
	t    *testing.T
	keys *os.File

	mu       sync.Mutex
	emulator *vt.Emulator
}

// Keys that have no letter.
const (
	enter  = "\r"
	escape = "\x1b"
	tab    = "\t"
	ctrlD  = "\x04"
)

// The size of the screen has room for every column of a table.
const (
	screenWidth  = 200
	screenHeight = 60
)

// glance is how often a person looks at the screen.
const glance = 50 * time.Millisecond

// openTerminal starts a program. It has to end, by itself, when the test is over.
func openTerminal(t *testing.T, cmd *exec.Cmd) *terminal {
	t.Helper()
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: screenHeight, Cols: screenWidth})
	require.NoError(t, err)
	c := &terminal{t: t, keys: file, emulator: vt.NewEmulator(screenWidth, screenHeight)}
	answers := c.emulator.InputPipe().(io.Closer)
	var copying sync.WaitGroup
	copying.Go(func() { _, _ = io.Copy(c, file) })          // ends with the program
	copying.Go(func() { _, _ = io.Copy(file, c.emulator) }) // what a terminal says when it is asked
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen:\n%s", c.screen())
			_ = cmd.Process.Kill()
		}
		limit := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		assert.NoError(t, cmd.Wait(), "how the program ended")
		limit.Stop()
		_ = answers.Close()
		_ = file.Close()
		copying.Wait()
	})
	return c
}

// Write shows what the program prints.
func (c *terminal) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.emulator.Write(p)
}

// screen is the text that the person sees.
func (c *terminal) screen() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.emulator.String()
}

// press has the person type.
func (c *terminal) press(keys string) {
	c.t.Helper()
	_, err := io.WriteString(c.keys, keys)
	require.NoError(c.t, err)
}

// sees waits until the screen has all of these.
func (c *terminal) sees(want ...string) {
	c.t.Helper()
	c.until(func(c *assert.CollectT, screen string) {
		for _, text := range want {
			assert.Contains(c, screen, text)
		}
	})
}

// misses waits until the screen has none of these.
func (c *terminal) misses(unwanted ...string) {
	c.t.Helper()
	c.until(func(c *assert.CollectT, screen string) {
		for _, text := range unwanted {
			assert.NotContains(c, screen, text)
		}
	})
}

// row waits until a line of the screen has these words next to each other.
func (c *terminal) row(words ...string) {
	c.t.Helper()
	c.until(func(c *assert.CollectT, screen string) {
		for line := range strings.Lines(screen) {
			if strings.Contains(" "+strings.Join(strings.Fields(line), " ")+" ", " "+strings.Join(words, " ")+" ") {
				return
			}
		}
		assert.Fail(c, "no such row", "%q", words)
	})
}

func (c *terminal) until(is func(*assert.CollectT, string)) {
	c.t.Helper()
	require.EventuallyWithT(c.t, func(collect *assert.CollectT) { is(collect, c.screen()) }, patience, glance)
}
