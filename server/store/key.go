package store

import "strings"

// Key names an object. Neither part is empty or has a slash or a NUL in it;
// everything else is for the caller to judge.
//
// Keys are ordered as the bytes of namespace + "/" + name, which is the order
// that etcd gives a Kubernetes API server's lists: "a-b/x" comes before
// "a/x".
type Key struct {
	Namespace string
	Name      string
}

// String returns namespace/name.
func (k Key) String() string {
	return k.Namespace + "/" + k.Name
}

// After returns the first position behind the key, for [ListOptions].Start of
// the page that follows a page ending with it.
func (k Key) After() string {
	return k.String() + "\x00"
}

// Compare orders keys as [Key] says, without building the strings.
func (k Key) Compare(o Key) int {
	if k.Namespace == o.Namespace {
		return strings.Compare(k.Name, o.Name)
	}
	n := min(len(k.Namespace), len(o.Namespace))
	if c := strings.Compare(k.Namespace[:n], o.Namespace[:n]); c != 0 {
		return c
	}
	return strings.Compare(k.String()[n:], o.String()[n:])
}

func (k Key) valid() bool {
	return k.Namespace != "" && k.Name != "" &&
		!strings.ContainsAny(k.Namespace, "/\x00") && !strings.ContainsAny(k.Name, "/\x00")
}
