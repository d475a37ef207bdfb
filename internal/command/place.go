package command

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vmikit/vmikit/manifest"
	"github.com/vmikit/vmikit/openapi"
)

const (
	machineGroup = "kubevirt.io"
	apiVersion   = machineGroup + "/v1"
	// oldAPIVersion is still in many manifests; a cluster answers them as apiVersion.
	oldAPIVersion = machineGroup + "/v1alpha3"
	machineKind   = "VirtualMachineInstance"
)

// isMachine reports whether an object is to be judged as a VirtualMachineInstance.
// One whose apiVersion has no group is: there is no such kind in Kubernetes
// itself, so its apiVersion is a mistake to be told. One of another group is not.
func isMachine(o *manifest.Object) bool {
	group, _, found := strings.Cut(o.APIVersion, "/")
	return o.Kind == machineKind && (!found || group == machineGroup)
}

// objectName says which object it is, as far as it says so itself:
// VirtualMachine kubevirt.io/v1 "default/x".
func objectName(kind, apiVersion, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	return strings.TrimSpace(shorten(kind)+" "+shorten(apiVersion)) + fmt.Sprintf(" %q", shorten(name))
}

func nameOf(o *manifest.Object) string { return objectName(o.Kind, o.APIVersion, o.Namespace, o.Name) }

// printable is a text for one line of a terminal: names of files and objects,
// and what is quoted from them, must neither forge a line nor drive the terminal.
// What is not printable is escaped as in Go; quotes and backslashes stay.
//
// Whatever writes lines calls it, so that those who make the lines need not.
func printable(text string) string {
	var b strings.Builder
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		part := text[:n]
		if !strconv.IsPrint(r) || r == utf8.RuneError && n == 1 {
			quoted := strconv.Quote(part)
			part = quoted[1 : len(quoted)-1]
		}
		b.WriteString(part)
		text = text[n:]
	}
	return b.String()
}

// maxName is how much of a name of a file is repeated.
const maxName = 80

func shorten(s string) string {
	if r := []rune(s); len(r) > maxName {
		return string(r[:maxName]) + "…"
	}
	return s
}

// maxLineWork bounds the bytes that are read again to find the lines of the
// issues of one object. It is some seconds of work.
const maxLineWork = 64 << 20

// linesOf returns the line of each issue. Issues of a huge object that come late
// get the object's own line.
func linesOf(o *manifest.Object, issues openapi.Issues) []int {
	lines := make([]int, len(issues))
	for i, issue := range issues {
		lines[i] = o.Line
		if (i+1)*len(o.JSON) <= maxLineWork {
			lines[i] = o.LineOf(issue.Pointer)
		}
	}
	return lines
}

// issueLine is how an issue is told: file:line: pointer: message (rule).
func issueLine(file string, line int, issue openapi.Issue) string {
	return fmt.Sprintf("%s:%d: %s", file, line, issue)
}
