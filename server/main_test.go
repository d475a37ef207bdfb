package server_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No request, watch or test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
