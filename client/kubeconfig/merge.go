package kubeconfig

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// merged is what several files say together.
type merged struct {
	places   places
	current  string
	clusters map[string]cluster
	users    map[string]user
	contexts map[string]contextInfo
}

// read reads and merges the files, by the rules of clientcmd's
// ClientConfigLoadingRules.Load.
func (p places) read() (*merged, error) {
	m := &merged{places: p, clusters: map[string]cluster{}, users: map[string]user{}, contexts: map[string]contextInfo{}}
	for _, path := range p.paths {
		text, err := readFile(path)
		if isAbsent(err) && !p.explicit {
			continue
		} else if err != nil {
			return nil, err
		}
		f, err := decodeKubeconfig(text, path)
		if err != nil {
			return nil, err
		}
		if err := m.add(f, path); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// add adds what a file has and the files before it have not.
func (m *merged) add(f *file, path string) error {
	directory, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	if m.current == "" {
		m.current = f.CurrentContext
	}
	clusters, users, contexts := map[string]cluster{}, map[string]user{}, map[string]contextInfo{}
	for _, c := range f.Clusters {
		c.Cluster.At = c.At
		resolvePath(&c.Cluster.CAFile, directory)
		if err := addNew(clusters, "cluster", c.Name, c.Cluster, c.At); err != nil {
			return err
		}
	}
	for _, u := range f.Users {
		u.User.At = u.At
		for _, path := range []*string{&u.User.CertFile, &u.User.KeyFile, &u.User.TokenFile} {
			resolvePath(path, directory)
		}
		// A command without a separator is looked for in PATH.
		if exec := u.User.Exec; exec != nil && strings.ContainsRune(exec.Command, filepath.Separator) {
			resolvePath(&exec.Command, directory)
		}
		if err := addNew(users, "user", u.Name, u.User, u.At); err != nil {
			return err
		}
	}
	for _, c := range f.Contexts {
		c.Context.At = c.At
		if err := addNew(contexts, "context", c.Name, c.Context, c.At); err != nil {
			return err
		}
	}
	keepFirst(m.clusters, clusters)
	keepFirst(m.users, users)
	keepFirst(m.contexts, contexts)
	return nil
}

// addNew adds an entry of a file. In one file a name may stand once.
func addNew[T any](to map[string]T, kind, name string, value T, at position) error {
	if _, ok := to[name]; ok {
		return fmt.Errorf("%s: there is another %s with the name %q", at, kind, name)
	}
	to[name] = value
	return nil
}

func keepFirst[T any](to, from map[string]T) {
	for name, value := range from {
		if _, ok := to[name]; !ok {
			to[name] = value
		}
	}
}

func resolvePath(path *string, directory string) {
	if *path != "" && !filepath.IsAbs(*path) {
		*path = filepath.Join(directory, *path)
	}
}

// maxNames is how many names an error lists.
const maxNames = 20

// names lists what there is for an error about what there is not.
func names[T any](m map[string]T) string {
	if len(m) == 0 {
		return "there is none"
	}
	all := slices.Sorted(maps.Keys(m))
	more := ""
	if n := len(all) - maxNames; n > 0 {
		all, more = all[:maxNames], fmt.Sprintf(" and %d more", n)
	}
	for i, name := range all {
		all[i] = fmt.Sprintf("%q", name)
	}
	return "there is " + strings.Join(all, ", ") + more
}
