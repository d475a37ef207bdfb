package kubeconfig

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const (
	// maxFile bounds a kubeconfig, a token or a certificate file. An entry with
	// everything inline has about 10 kB.
	maxFile = 16 << 20
	// kubeconfigVariable lists the files, separated as PATH is.
	kubeconfigVariable = "KUBECONFIG"
)

// places are where kubectl looks for kubeconfig files.
type places struct {
	paths    []string
	explicit bool // the one path has to be there
	none     bool // nobody wants any
}

func (l *loader) places() places {
	if l.noFiles {
		return places{none: true}
	}
	if l.file != "" {
		return places{paths: []string{l.file}, explicit: true}
	}
	if list := os.Getenv(kubeconfigVariable); list != "" {
		var p places
		for _, path := range filepath.SplitList(list) {
			if path != "" && !slices.Contains(p.paths, path) {
				p.paths = append(p.paths, path)
			}
		}
		return p
	}
	if home := homeDirectory(); home != "" {
		return places{paths: []string{filepath.Join(home, ".kube", "config")}}
	}
	return places{}
}

// missing says where nothing was found.
func (p places) missing() string {
	switch {
	case p.none:
		return "no kubeconfig is read and no server is given"
	case p.explicit:
		return p.paths[0] + " has no cluster"
	case os.Getenv(kubeconfigVariable) != "":
		return fmt.Sprintf("no file of %s (%s) has a cluster", kubeconfigVariable, strings.Join(p.paths, ", "))
	case len(p.paths) == 0:
		return kubeconfigVariable + " is not set and there is no home directory"
	}
	return fmt.Sprintf("%s is not set and %s is missing or has no cluster", kubeconfigVariable, p.paths[0])
}

// homeDirectory is where kubectl looks: HOME, and on Windows the first of HOME,
// HOMEDRIVE with HOMEPATH, and USERPROFILE that has a kubeconfig.
func homeDirectory() string {
	if runtime.GOOS != "windows" {
		return os.Getenv("HOME")
	}
	profile := os.Getenv("USERPROFILE")
	for _, home := range []string{os.Getenv("HOME"), os.Getenv("HOMEDRIVE") + os.Getenv("HOMEPATH"), profile} {
		if home == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(home, ".kube", "config")); err == nil {
			return home
		}
	}
	return profile
}

var errTooLarge = fmt.Errorf("has more than %d MiB", maxFile>>20)

// readFile reads a file of bounded size. It need not be a regular one: kubectl
// takes the pipes of a shell's process substitution.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, &os.PathError{Op: "read", Path: path, Err: errTooLarge}
	}
	return data, nil
}

// isAbsent reports whether a file of a list may be passed over.
func isAbsent(err error) bool { return errors.Is(err, os.ErrNotExist) }
