package kubeconfig

import (
	"errors"
	"fmt"
	"os"
)

// stdin says whether plugins may have standard input.
type stdin struct {
	unavailable bool
	reason      string
}

// interactive reports whether a plugin of a mode gets standard input; an error if
// it must and cannot.
func (s stdin) interactive(mode string) (bool, error) {
	switch mode {
	case interactiveIfAvailable:
		return !s.unavailable && isTerminal(os.Stdin), nil
	case interactiveAlways:
		if s.unavailable && s.reason != "" {
			return false, fmt.Errorf("needs standard input, which it cannot have: %s", s.reason)
		} else if s.unavailable {
			return false, errors.New("needs standard input, which it cannot have")
		}
		if !isTerminal(os.Stdin) {
			return false, errors.New("needs standard input, which is not a terminal")
		}
		return true, nil
	}
	return false, nil
}

// isTerminal takes every character device but the null device for a terminal,
// which needs no system call of its own for each operating system.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
