package clients_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// leaves are the values of an object by their JSON pointers. Empty objects and
// arrays are leaves, too.
func leaves(value any) map[string]any {
	found := map[string]any{}
	collectLeaves(found, "", value)
	return found
}

func collectLeaves(to map[string]any, at string, value any) {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			collectLeaves(to, at+"/"+escape.Replace(name), member)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for i, element := range v {
			collectLeaves(to, at+"/"+strconv.Itoa(i), element)
		}
		if len(v) > 0 {
			return
		}
	}
	to[at] = value
}

// differences says where what is served is not what the file says, beside what
// only a server can know.
func differences(file, served *unstructured.Unstructured) []string {
	want, got := leaves(file.Object), leaves(served.Object)
	pointers := slices.Sorted(maps.Keys(want))
	for pointer := range got {
		if _, ok := want[pointer]; !ok {
			pointers = append(pointers, pointer)
		}
	}
	var found []string
	for _, pointer := range pointers {
		w, inFile := want[pointer]
		g, isServed := got[pointer]
		if inFile && isServed && fmt.Sprintf("%T %v", w, w) == fmt.Sprintf("%T %v", g, g) {
			continue
		}
		if isServed && !givenByServer(pointer, w, g) || !isServed {
			found = append(found, fmt.Sprintf("%s: %v in the file (%t), %v served (%t)", pointer, w, inFile, g, isServed))
		}
	}
	return found
}

// givenByServer reports whether a server may put the value there: what an object
// that never was in a cluster lacks, the namespace that kubectl would have sent it
// to, the version of the API, and a resourceVersion in any case.
func givenByServer(pointer string, file, served any) bool {
	switch pointer {
	case "/metadata/resourceVersion":
		_, err := strconv.ParseInt(served.(string), 10, 64)
		return err == nil
	case "/metadata/uid", "/metadata/creationTimestamp":
		return file == nil && served != ""
	case "/metadata/generation":
		return file == nil && served == int64(1)
	case "/metadata/namespace":
		return file == nil && served == "default"
	case "/apiVersion":
		return file == "kubevirt.io/v1alpha3" && served == "kubevirt.io/v1"
	}
	return false
}
