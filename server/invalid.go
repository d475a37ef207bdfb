package server

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/openapi"
)

// joinCauses is the causes as a Kubernetes API server puts them into a message.
func joinCauses(causes []vmi.StatusCause) string {
	texts := make([]string, len(causes))
	for i, c := range causes {
		texts[i] = c.Field + ": " + c.Message
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

func invalidField(field, shown, why string) vmi.StatusCause {
	return vmi.StatusCause{Reason: "FieldValueInvalid", Field: field, Message: fmt.Sprintf("Invalid value: %s: %s", shown, why)}
}

func requiredField(field, why string) vmi.StatusCause {
	return vmi.StatusCause{Reason: "FieldValueRequired", Field: field, Message: "Required value: " + why}
}

func forbiddenField(field, why string) vmi.StatusCause {
	return vmi.StatusCause{Reason: "FieldValueForbidden", Field: field, Message: "Forbidden: " + why}
}

// causesOf are the issues of an object in Kubernetes' words.
func causesOf(issues openapi.Issues) []vmi.StatusCause {
	causes := make([]vmi.StatusCause, len(issues))
	for i, is := range issues {
		c := invalidField(fieldPath(is.Pointer), is.Value, is.Message)
		switch is.Rule {
		case "required", openapi.RuleObjectName:
			c.Reason, c.Message = "FieldValueRequired", "Required value"
		case "type":
			c.Reason = "FieldValueTypeInvalid"
		case "enum":
			c.Reason, c.Message = "FieldValueNotSupported", fmt.Sprintf("Unsupported value: %s: %s", is.Value, is.Message)
		}
		causes[i] = c
	}
	return causes
}

// fieldPath is a JSON pointer as Kubernetes writes paths of fields:
// spec.domain.devices.disks[0].name, metadata.labels[example.com/a].
func fieldPath(pointer string) string {
	var b strings.Builder
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = unescapeStep.Replace(token)
		_, err := strconv.Atoi(token)
		switch {
		case b.Len() == 0:
			b.WriteString(token)
		case err == nil || strings.ContainsAny(token, "./"):
			b.WriteString("[" + token + "]")
		default:
			b.WriteString("." + token)
		}
	}
	return b.String()
}
