package certs

import (
	"os"
	"path/filepath"
)

// replaceFile writes a file under a temporary name and renames it, so that
// nobody ever reads half of it.
func replaceFile(path string, data []byte, perm os.FileMode) error {
	temp, err := writeTemp(path, data, perm)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	return nil
}

// createFile is replaceFile for a file that must not exist: it fails with
// fs.ErrExist otherwise, also when somebody else creates it at the same time.
func createFile(path string, data []byte, perm os.FileMode) error {
	temp, err := writeTemp(path, data, perm)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	return os.Link(temp, path)
}

// writeTemp writes data to a new file beside path. It is readable by its owner
// only until it has its final mode.
func writeTemp(path string, data []byte, perm os.FileMode) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	defer f.Close() // the second close after the one below does nothing
	if _, err := f.Write(data); err != nil {
		return "", err
	}
	if err := f.Chmod(perm); err != nil {
		return "", err
	}
	if err := f.Sync(); err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}
