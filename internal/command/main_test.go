package command_test

import (
	"io"
	"log"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/vmikit/vmikit/internal/command"
)

// What net/http logs by itself has bodies in it, tokens and cloud-init data with
// them: a process of the command says none of it.
func TestMainSilencesTheStandardLogger(t *testing.T) {
	before := log.Writer()
	t.Cleanup(func() { log.SetOutput(before) })
	assert.Equal(t, 0, command.Main([]string{"version"}, strings.NewReader(""), io.Discard, io.Discard))
	assert.Equal(t, io.Discard, log.Writer())
}
