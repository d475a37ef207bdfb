package server

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// stripPrefix has everything behind the prefix served as if there were none. There is
// nothing beside it.
func (s *server) stripPrefix(x *exchange) error {
	if s.prefix == "" {
		return nil
	}
	rest, ok := strings.CutPrefix(x.r.URL.Path, s.prefix)
	if !ok || rest != "" && rest[0] != '/' {
		return errNoSuchPath
	}
	r := new(http.Request)
	*r = *x.r
	r.URL = new(url.URL)
	*r.URL = *x.r.URL
	// How a path was escaped is no matter here: requests are read from what it means.
	r.URL.Path, r.URL.RawPath = "/"+strings.TrimPrefix(rest, "/"), ""
	x.r = r
	return nil
}

// checkPrefix refuses what is not the path of a URL in its one spelling.
func checkPrefix(prefix string) error {
	u, err := url.Parse(prefix)
	if err != nil || u.Path != prefix || u.RawPath != "" || prefix == "/" || !strings.HasPrefix(prefix, "/") || path.Clean(prefix) != prefix ||
		strings.ContainsAny(prefix, "%\\\" ") {
		return fmt.Errorf("path prefix %q: must be an absolute path without a slash at its end, such as /k8s", prefix)
	}
	return nil
}
