package admission

import (
	"fmt"
	"regexp"
)

// The names of DNS, with what Kubernetes says of those that are none
// (k8s.io/apimachinery, validation.IsDNS1123Label and IsDNS1123Subdomain).
const (
	labelForm      = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
	subdomainForm  = labelForm + `(\.` + labelForm + ")*"
	labelLength    = 63
	subdomainLimit = 253
)

var (
	dnsLabel     = regexp.MustCompile("^" + labelForm + "$")
	dnsSubdomain = regexp.MustCompile("^" + subdomainForm + "$")
)

func labelProblems(name string) []string {
	problems := tooLong(name, labelLength)
	switch {
	case dnsLabel.MatchString(name):
	case dnsSubdomain.MatchString(name):
		problems = append(problems, "must not contain dots")
	default:
		problems = append(problems, "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an "+
			"alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '"+labelForm+"')")
	}
	return problems
}

func subdomainProblems(name string) []string {
	problems := tooLong(name, subdomainLimit)
	if !dnsSubdomain.MatchString(name) {
		problems = append(problems, "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "+
			"alphanumeric character (e.g. 'example.com', regex used for validation is '"+subdomainForm+"')")
	}
	return problems
}

func tooLong(name string, limit int) []string {
	if len(name) <= limit {
		return nil
	}
	return []string{fmt.Sprintf("must be no more than %d characters", limit)}
}
