package command

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/vmikit/vmikit/contract"
)

// There is no bar where nobody looks on, and clearing none is nothing.
func TestNoProgressBarInAPipe(t *testing.T) {
	bar := newProgressBar(&bytes.Buffer{})
	assert.Nil(t, bar)
	bar.clear()
}

func TestBarLine(t *testing.T) {
	line := barLine(contract.Progress{Check: "selector.in", Done: 20, Checks: 80, Requests: 123, Failures: 2}, 3200*time.Millisecond)
	assert.Equal(t, "[######..................] 20/80 checks, 123 requests, 3s, 2 failed selector.in", line)
}
