package kubeconfig

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// parseServer reads a cluster's server by the rule of client-go's
// rest.DefaultServerURL: a path is a prefix of every request, and text that is not
// a URL with a host is a host that speaks http. Query and fragment are dropped.
//
// Errors do not repeat what may have a password in it.
func parseServer(server string) (*url.URL, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" || u.Host == "" {
		u, err = url.Parse("http://" + server)
		if err != nil || u.Path != "" && u.Path != "/" {
			return nil, errors.New("server is neither a URL nor host:port")
		}
	}
	switch {
	case u.User != nil:
		return nil, errors.New("server has a user name in its URL; put username and password into the user")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("server has the scheme %q, not https or http", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("server has no host")
	}
	return &url.URL{
		Scheme:  u.Scheme,
		Host:    u.Host,
		Path:    strings.TrimRight(u.Path, "/"),
		RawPath: strings.TrimRight(u.RawPath, "/"),
	}, nil
}

// parseProxy reads proxy-url; nil if it is empty. The schemes are clientcmd's.
func parseProxy(proxy string) (*url.URL, error) {
	if proxy == "" {
		return nil, nil
	}
	u, err := url.Parse(proxy)
	if err != nil {
		return nil, errors.New("proxy-url is not a URL")
	}
	switch u.Scheme {
	case "http", "https", "socks5":
	default:
		return nil, errors.New("proxy-url must begin with http://, https:// or socks5://")
	}
	if u.Hostname() == "" {
		return nil, errors.New("proxy-url has no host")
	}
	return u, nil
}

// origin is what two URLs of one server have in common.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
