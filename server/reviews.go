package server

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server/rbac"
)

const authorizationGroup = "authorization.k8s.io"

func accessReviews() *resource {
	return review("selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview")
}

func rulesReviews() *resource {
	return review("selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview")
}

// review is a resource of questions, of which none is kept.
func review(name, singular, kind string) *resource {
	return &resource{
		group: authorizationGroup, version: "v1",
		discovered: vmi.APIResource{Name: name, SingularName: singular, Kind: kind, Verbs: []string{"create"}},
		native:     true,
	}
}

// CreateSelfSubjectAccessReview says whether who asks may do something, by the very
// decision that a request for it would meet.
func (s *server) CreateSelfSubjectAccessReview(c echo.Context) error {
	x := exchangeOf(c)
	review, err := s.readReview(x)
	if err != nil {
		return err
	}
	spec := asObject(review["spec"])
	resource, path := asObject(spec["resourceAttributes"]), asObject(spec["nonResourceAttributes"])
	var causes []vmi.StatusCause
	switch {
	case resource != nil && path != nil:
		causes = append(causes, invalidField("spec.nonResourceAttributes", "{…}", "cannot be specified in combination with resourceAttributes"))
	case resource == nil && path == nil:
		causes = append(causes, invalidField("spec.resourceAttributes", "null", "exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	}
	if len(causes) > 0 {
		return x.resource.invalid("", causes)
	}
	asked := rbac.Attributes{User: x.user.Name, Groups: x.user.Groups}
	if resource != nil {
		asked.Verb, asked.APIGroup, asked.Resource = text(resource, "verb"), text(resource, "group"), text(resource, "resource")
		asked.Subresource, asked.Namespace, asked.Name = text(resource, "subresource"), text(resource, "namespace"), text(resource, "name")
	} else {
		asked.Verb, asked.Path = text(path, "verb"), text(path, "path")
	}
	status := map[string]any{"allowed": true}
	if s.policy != nil {
		allowed, reason := s.policy.Authorize(asked)
		status["allowed"] = allowed
		if reason != "" {
			status["reason"] = reason
		}
	}
	return answerReview(x, review, status)
}

// CreateSelfSubjectRulesReview says what who asks may do in a namespace.
func (s *server) CreateSelfSubjectRulesReview(c echo.Context) error {
	x := exchangeOf(c)
	review, err := s.readReview(x)
	if err != nil {
		return err
	}
	namespace := text(asObject(review["spec"]), "namespace")
	if namespace == "" {
		return badRequest("no namespace on request")
	}
	everything := []string{"*"}
	rules := []rbac.Rule{{Verbs: everything, APIGroups: everything, Resources: everything}, {Verbs: everything, NonResourceURLs: everything}}
	if s.policy != nil {
		rules = s.policy.Rules(x.user.Name, x.user.Groups, namespace)
	}
	resources, paths := []any{}, []any{}
	for _, r := range rules {
		rule := map[string]any{"verbs": r.Verbs}
		if len(r.Resources) == 0 {
			rule["nonResourceURLs"] = r.NonResourceURLs
			paths = append(paths, rule)
			continue
		}
		rule["apiGroups"], rule["resources"] = r.APIGroups, r.Resources
		if len(r.ResourceNames) > 0 {
			rule["resourceNames"] = r.ResourceNames
		}
		resources = append(resources, rule)
	}
	return answerReview(x, review, map[string]any{"resourceRules": resources, "nonResourceRules": paths, "incomplete": false})
}

// readReview reads a question.
func (s *server) readReview(x *exchange) (map[string]any, error) {
	if err := acceptsJSON(x.r.Header.Get("Accept")); err != nil {
		return nil, err
	}
	raw, review, err := s.readObject(x)
	if err != nil {
		return nil, err
	}
	return review, s.judge(x, "", raw, review, validateWarn)
}

// answerReview answers a question, which comes back with it.
func answerReview(x *exchange, review, status map[string]any) error {
	body, err := json.Marshal(map[string]any{
		"apiVersion": x.resource.apiVersion(), "kind": x.resource.kind(), "metadata": map[string]any{}, "spec": review["spec"], "status": status,
	})
	if err != nil {
		return err
	}
	x.answer = answer{status: http.StatusCreated, form: openapi.FormDeclared, contentType: mediaJSON, head: append(body, lineFeed...)}
	return nil
}
