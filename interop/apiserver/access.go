package apiserver

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/anonymous"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// viewer is the name of the user who may read machines everywhere. Who may read
// those of one namespace is named "viewer:" and the namespace.
const viewer = "viewer"

// access knows the users by their tokens and decides what they may do. It stands
// where a cluster has service accounts and RBAC.
type access struct {
	mu    sync.RWMutex
	users map[string]user.Info
}

// issue returns a new token of the user.
func (a *access) issue(name string, groups ...string) string {
	token := rand.Text()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.users[token] = &user.DefaultInfo{Name: name, UID: name, Groups: groups}
	return token
}

// AuthenticateToken implements [authenticator.Token].
func (a *access) AuthenticateToken(_ context.Context, token string) (*authenticator.Response, bool, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	info, known := a.users[token]
	return &authenticator.Response{User: info}, known, nil
}

// authenticator is put together as kube-apiserver does it: with anonymous allowed,
// a request without a bearer token has a user, and one with a wrong token has none.
func (a *access) authenticator(allowAnonymous bool) authenticator.Request {
	tokens := group.NewAuthenticatedGroupAdder(bearertoken.New(a))
	if !allowAnonymous {
		return tokens
	}
	return union.NewFailOnError(tokens, anonymous.NewAuthenticator(nil))
}

// authorize decides as RBAC does with the roles that every cluster has and one
// that lets viewers get, list and watch machines.
func authorize(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	privileged := slices.Contains(a.GetUser().GetGroups(), user.SystemPrivilegedGroup)
	if privileged || a.IsResourceRequest() && mayView(a) || !a.IsResourceRequest() && mayDiscover(a) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func mayView(a authorizer.Attributes) bool {
	if a.GetAPIGroup() != machines.Group || a.GetResource() != machines.Resource || a.GetSubresource() != "" {
		return false
	}
	name := a.GetUser().GetName()
	return slices.Contains([]string{"get", "list", "watch"}, a.GetVerb()) &&
		(name == viewer || name == viewerOf(a.GetNamespace()))
}

func viewerOf(namespace string) string { return viewer + ":" + namespace }

// mayDiscover allows what the cluster roles system:public-info-viewer and
// system:discovery allow.
func mayDiscover(a authorizer.Attributes) bool {
	if a.GetVerb() != "get" {
		return false
	}
	if slices.Contains([]string{"/healthz", "/livez", "/readyz", "/version"}, a.GetPath()) {
		return true
	}
	root, _, _ := strings.Cut(strings.TrimPrefix(a.GetPath(), "/"), "/")
	return slices.Contains([]string{"api", "apis", "openapi"}, root) &&
		slices.Contains(a.GetUser().GetGroups(), user.AllAuthenticated)
}
