package manifest

import (
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	stdinPath = "-"
	stdinName = "<stdin>"
)

// extensions are the ones kubectl looks for in a directory.
var extensions = []string{".json", ".yaml", ".yml"}

// Walk yields the objects of files, directories and, for "-", of stdin, in the
// order of paths, as [Read] does.
//
// As with kubectl -f, a directory stands for its .yaml, .yml and .json files,
// sorted by name; subdirectories are not entered. A file that is named itself
// may have any extension. What cannot be opened, and a directory without such
// files, is an error, after which Walk goes on with the next path.
func Walk(paths []string, stdin io.Reader, opts ...Option) iter.Seq2[*Object, error] {
	return func(yield func(*Object, error) bool) {
		for _, path := range paths {
			for object, err := range walkPath(path, stdin, opts) {
				if !yield(object, err) {
					return
				}
			}
		}
	}
}

func walkPath(path string, stdin io.Reader, opts []Option) iter.Seq2[*Object, error] {
	if path == stdinPath {
		if stdin == nil {
			return failure(stdinName, errors.New("there is no standard input"))
		}
		return Read(path, stdin, opts...)
	}
	info, err := os.Stat(path)
	if err != nil {
		return failure(path, err)
	}
	if !info.IsDir() {
		return readFile(path, opts)
	}
	files, err := manifestsIn(path)
	if err != nil {
		return failure(path, err)
	}
	return func(yield func(*Object, error) bool) {
		for _, file := range files {
			for object, err := range readFile(file, opts) {
				if !yield(object, err) {
					return
				}
			}
		}
	}
}

// manifestsIn lists the manifests of a directory, sorted by name.
func manifestsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains(extensions, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	if files == nil {
		return nil, errors.New("the directory has no " + strings.Join(extensions, ", ") +
			" files (subdirectories are not read)")
	}
	return files, nil
}

func readFile(path string, opts []Option) iter.Seq2[*Object, error] {
	return func(yield func(*Object, error) bool) {
		file, err := os.Open(path)
		if err != nil {
			failure(path, err)(yield)
			return
		}
		defer file.Close()
		Read(path, file, opts...)(yield)
	}
}

// failure yields one error for a path.
func failure(path string, err error) iter.Seq2[*Object, error] {
	return func(yield func(*Object, error) bool) {
		yield(nil, &Error{File: path, Err: withoutPath(err)})
	}
}

// withoutPath drops the operation and path of an error of package os, since an
// Error names the file itself.
func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}
