package server

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// impersonation is whom a request asks to be taken for.
type impersonation struct {
	User
	// extra is what else is known of the user, by key. It must be allowed, and then
	// nothing here asks for it.
	extra map[string][]string
}

// The headers of Kubernetes' impersonation, in the spelling of [http.Header].
const (
	impersonateUser  = "Impersonate-User"
	impersonateGroup = "Impersonate-Group"
	impersonateUID   = "Impersonate-Uid"
	impersonateExtra = "Impersonate-Extra-"
)

// readImpersonation returns nil for a request that asks for nothing of the kind.
func readImpersonation(h http.Header) (*impersonation, error) {
	as := &impersonation{User: User{Name: h.Get(impersonateUser), UID: h.Get(impersonateUID), Groups: slices.Clone(h[impersonateGroup])}}
	for name, values := range h {
		key, ok := strings.CutPrefix(name, impersonateExtra)
		if !ok {
			continue
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		if as.extra == nil {
			as.extra = make(map[string][]string)
		}
		as.extra[key] = append(as.extra[key], values...)
	}
	switch {
	case as.Name != "":
		return as, nil
	case as.onlyName():
		return nil, nil
	}
	return nil, badRequest(impersonateGroup + ", " + impersonateUID + " and " + impersonateExtra + "* need " + impersonateUser + " beside them")
}

// onlyName reports whether nothing is said of the user but the name.
func (as *impersonation) onlyName() bool {
	return as.UID == "" && len(as.Groups) == 0 && len(as.extra) == 0
}

// serviceAccount is the service account that a user name is of.
func serviceAccount(user string) (namespace, name string, ok bool) {
	rest, ok := strings.CutPrefix(user, "system:serviceaccount:")
	if !ok {
		return "", "", false
	}
	namespace, name, _ = strings.Cut(rest, ":")
	return namespace, name, len(namespace) <= 63 && dns1123Label.MatchString(namespace) && isSubdomain(name)
}

// nodeName is the node that a user name is of.
func nodeName(user string) (name string, ok bool) {
	name, ok = strings.CutPrefix(user, "system:node:")
	return name, ok && isSubdomain(name)
}

func isSubdomain(name string) bool { return len(name) <= 253 && dns1123Subdomain.MatchString(name) }

// impersonationModes are the ways to be allowed to be somebody else, in the order in
// which a Kubernetes API server of 1.36 and later tries them. Each but the last is
// about one sort of user and about one verb ("impersonate:user-info" on the user,
// "impersonate-on:user-info:list" on what is asked for); the last, with no name, is
// the verb "impersonate", good for every request.
var impersonationModes = []impersonationMode{
	{"arbitrary-node", func(as *impersonation) bool {
		_, ok := nodeName(as.Name)
		return ok && as.onlyName()
	}},
	{"serviceaccount", func(as *impersonation) bool {
		_, _, ok := serviceAccount(as.Name)
		return ok && as.onlyName()
	}},
	{"user-info", func(as *impersonation) bool {
		_, node := nodeName(as.Name)
		_, _, account := serviceAccount(as.Name)
		return !node && !account
	}},
	{"", func(*impersonation) bool { return true }},
}

type impersonationMode struct {
	name  string
	isFor func(*impersonation) bool
}

// impersonate makes the request one of the user that it wants to be taken for, if its
// own user may.
func (s *server) impersonate(x *exchange) error {
	as, err := readImpersonation(x.r.Header)
	if as == nil {
		return err
	}
	var first error
	for _, mode := range impersonationModes {
		if !mode.isFor(as) {
			continue
		}
		c := impersonationCheck{server: s, user: x.user, mode: mode.name}
		err := c.may(as, x.info)
		if err == nil {
			x.impersonator, x.user = x.user.Name, c.become(as)
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// impersonationCheck asks whether a user may be somebody else, in one mode.
type impersonationCheck struct {
	server *server
	user   User
	mode   string
}

// groupOfUIDs is the API group of what is known of a user.
const groupOfUIDs = "authentication.k8s.io"

// group is the API group of users and groups: the older mode has them in the core.
func (c *impersonationCheck) group() string {
	if c.mode == "" {
		return ""
	}
	return groupOfUIDs
}

// allow asks for one thing that the request wants to be.
func (c *impersonationCheck) allow(i requestInfo) error {
	i.Verb = "impersonate"
	if c.mode != "" {
		i.Verb += ":" + c.mode
	}
	return c.server.allow(c.user, &i)
}

// refuse says what may not be asked for, whoever asks.
func (c *impersonationCheck) refuse(i requestInfo, why string) error {
	i.Verb = "impersonate:" + c.mode
	return forbidden(c.user.Name, &i, why)
}

func (c *impersonationCheck) may(as *impersonation, request requestInfo) error {
	if c.mode != "" {
		request.Verb = "impersonate-on:" + c.mode + ":" + request.Verb
		if err := c.server.allow(c.user, &request); err != nil {
			return err
		}
	}
	for _, check := range []func(*impersonation) error{c.mayName, c.mayUID, c.mayGroups, c.mayExtra} {
		if err := check(as); err != nil {
			return err
		}
	}
	return nil
}

func (c *impersonationCheck) mayName(as *impersonation) error {
	if namespace, name, ok := serviceAccount(as.Name); ok {
		return c.allow(requestInfo{Group: c.group(), Resource: "serviceaccounts", Namespace: namespace, Name: name})
	}
	if name, ok := nodeName(as.Name); ok && c.mode != "" {
		return c.allow(requestInfo{Group: c.group(), Resource: "nodes", Name: name})
	}
	return c.allow(requestInfo{Group: c.group(), Resource: "users", Name: as.Name})
}

func (c *impersonationCheck) mayUID(as *impersonation) error {
	if as.UID == "" {
		return nil
	}
	return c.allow(requestInfo{Group: groupOfUIDs, Resource: "uids", Name: as.UID})
}

// manyAtOnce is how many groups or values one is asked for all of them at once first.
const manyAtOnce = 4

func (c *impersonationCheck) mayGroups(as *impersonation) error {
	i := requestInfo{Group: c.group(), Resource: "groups"}
	if c.mode != "" {
		if slices.Contains(as.Groups, "") {
			return c.refuse(i, "impersonating the empty string group is not allowed")
		}
		if slices.Contains(as.Groups, groupMasters) {
			i.Name = groupMasters
			return c.refuse(i, "impersonating the system:masters group is not allowed")
		}
		if i.Name = "*"; len(as.Groups) >= manyAtOnce && c.allow(i) == nil {
			return nil
		}
	}
	for _, i.Name = range as.Groups {
		if err := c.allow(i); err != nil {
			return err
		}
	}
	return nil
}

func (c *impersonationCheck) mayExtra(as *impersonation) error {
	i := requestInfo{Group: groupOfUIDs, Resource: "userextras"}
	count := 0
	for _, values := range as.extra {
		count += len(values)
	}
	if c.mode != "" && len(as.extra) > 0 {
		if err := checkExtra(as.extra); err != nil {
			return c.refuse(i, err.Error())
		}
		if i.Subresource, i.Name = "*", "*"; count >= manyAtOnce && c.allow(i) == nil {
			return nil
		}
	}
	for _, key := range slices.Sorted(maps.Keys(as.extra)) {
		for _, value := range as.extra[key] {
			i.Subresource, i.Name = key, value
			if err := c.allow(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// extraPath is what a key of extra has behind its domain.
var extraPath = regexp.MustCompile(`^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$`)

// checkExtra looks at what the newer modes want of keys and values.
func checkExtra(extra map[string][]string) error {
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		domain, path, _ := strings.Cut(key, "/")
		switch {
		case key == "":
			return errors.New("impersonating the empty string key in extra is not allowed")
		case !isSubdomain(domain) || !extraPath.MatchString(path):
			return fmt.Errorf("impersonating an invalid key in extra is not allowed: %q must be a domain-prefixed path, such as acme.io/foo", key)
		case key != strings.ToLower(key):
			return fmt.Errorf("impersonating a non-lowercase key in extra is not allowed: %q", key)
		case slices.Contains(extra[key], ""):
			return errors.New("impersonating the empty string value in extra is not allowed")
		}
	}
	return nil
}

// become is the user that the request is of from here on.
func (c *impersonationCheck) become(as *impersonation) User {
	user := as.User
	if namespace, _, ok := serviceAccount(user.Name); ok && len(user.Groups) == 0 {
		user.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
	} else if c.mode == "arbitrary-node" {
		user.Groups = []string{"system:nodes"}
	}
	if user.Name == userAnonymous && !slices.Contains(user.Groups, groupUnauthenticated) {
		user.Groups = append(user.Groups, groupUnauthenticated)
	}
	user.addAuthenticated()
	return user
}
