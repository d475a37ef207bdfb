package command_test

import (
	"testing"

	"go.uber.org/goleak"
)

// Whatever a command has started ends with it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
