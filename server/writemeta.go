package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/store"
)

const (
	// maxAnnotations is how many bytes the annotations of an object may have
	// (k8s.io/apimachinery, TotalAnnotationSizeLimitB).
	maxAnnotations = 256 << 10
	// Names that are made from generateName end in so many of these letters, and
	// begin with at most so much of it (k8s.io/apiserver/pkg/storage/names).
	generatedLetters = "bcdfghjklmnpqrstvwxz2456789"
	generatedLength  = 5
	maxGenerateName  = 63 - generatedLength
)

// generateName makes a name from the beginning of one.
func generateName(base string) string {
	name := []byte(base[:min(len(base), maxGenerateName)])
	for range generatedLength {
		name = append(name, generatedLetters[rand.N(len(generatedLetters))])
	}
	return string(name)
}

// checkMeta is what Kubernetes demands of the metadata of any object, beside what the
// document does.
func checkMeta(key store.Key, meta map[string]any) []vmi.StatusCause {
	causes := causesOf(checkKey(key))
	labels := asObject(meta["labels"])
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		for _, problem := range store.LabelKeyProblems(name) {
			causes = append(causes, invalidField("metadata.labels", quote(name), problem))
		}
		if problem := store.LabelValueProblem(text(labels, name)); problem != "" {
			causes = append(causes, invalidField("metadata.labels", quote(text(labels, name)), problem))
		}
	}
	size, annotations := 0, asObject(meta["annotations"])
	for _, name := range slices.Sorted(maps.Keys(annotations)) {
		size += len(name) + len(text(annotations, name))
		for _, problem := range store.LabelKeyProblems(strings.ToLower(name)) {
			causes = append(causes, invalidField("metadata.annotations", quote(name), problem))
		}
	}
	if size > maxAnnotations {
		causes = append(causes, vmi.StatusCause{
			Reason: "FieldValueTooLong", Field: "metadata.annotations", Message: fmt.Sprintf("Too long: may not be more than %d bytes", maxAnnotations),
		})
	}
	causes = append(causes, checkOwners(meta)...)
	for _, f := range finalizers(meta) {
		for _, problem := range store.LabelKeyProblems(f) {
			causes = append(causes, invalidField("metadata.finalizers", quote(f), problem))
		}
	}
	return causes
}

func finalizers(meta map[string]any) []string {
	list, _ := meta["finalizers"].([]any)
	var names []string
	for _, f := range list {
		if name, ok := f.(string); ok {
			names = append(names, name)
		}
	}
	return names
}

// firstMeta is the metadata of a new object: what only a server can say is its own.
func (s *server) firstMeta(r *resource, meta map[string]any, key store.Key) {
	for _, own := range []string{"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"} {
		delete(meta, own)
	}
	meta["name"] = key.Name
	if delete(meta, "namespace"); r.discovered.Namespaced {
		meta["namespace"] = key.Namespace
	}
	meta["uid"] = s.newID()
	meta["creationTimestamp"] = s.now().UTC().Format(time.RFC3339)
	if delete(meta, "generation"); !r.native {
		meta["generation"] = json.Number("1")
	}
	dropEmpty(meta)
}

// dropEmpty takes out of the metadata what has nothing in it, which a Kubernetes API
// server does not write either.
func dropEmpty(meta map[string]any) {
	for _, name := range []string{"generateName", "labels", "annotations", "ownerReferences", "finalizers"} {
		switch v := reflect.ValueOf(meta[name]); v.Kind() {
		case reflect.String, reflect.Map, reflect.Slice:
			if v.Len() == 0 {
				delete(meta, name)
			}
		}
	}
}

// check completes a valid object and says what is wrong with it that the document
// leaves open.
func (r *resource) check(key store.Key, object, old map[string]any) []vmi.StatusCause {
	causes := checkMeta(key, asObject(object["metadata"]))
	if r.complete != nil {
		causes = append(causes, r.complete(object, old)...)
	}
	return causes
}

// checkImmutable refuses that a client deletes an object by saying that it is deleted.
// What it leaves out stays as it is, see nextMeta.
func checkImmutable(meta, old map[string]any) []vmi.StatusCause {
	const timestamp, seconds, why = "deletionTimestamp", "deletionGracePeriodSeconds", "field is immutable"
	var causes []vmi.StatusCause
	if is := text(meta, timestamp); is != "" && old[timestamp] == nil {
		causes = append(causes, invalidField("metadata."+timestamp, quote(is), why))
	}
	if is := meta[seconds]; is != nil && !sameTree(is, old[seconds]) {
		causes = append(causes, invalidField("metadata."+seconds, fmt.Sprint(is), why))
	}
	return causes
}

// checkUID refuses that an object becomes another one.
func (r *resource) checkUID(name string, meta, old map[string]any) error {
	if is := text(meta, "uid"); is != "" && is != text(old, "uid") {
		return r.invalid(name, []vmi.StatusCause{invalidField("metadata.uid", quote(is), "field is immutable")})
	}
	return nil
}

// nextMeta gives the metadata of a changed object what no client may change.
func nextMeta(meta, old map[string]any) {
	for _, own := range []string{"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"} {
		if v, ok := old[own]; ok {
			meta[own] = v
		} else {
			delete(meta, own)
		}
	}
	delete(meta, "selfLink")
	dropEmpty(meta)
}

// raiseGeneration counts a change of anything but metadata.
func raiseGeneration(meta map[string]any) {
	n := int64(0)
	if g, ok := meta["generation"].(json.Number); ok {
		n, _ = strconv.ParseInt(g.String(), 10, 64)
	}
	meta["generation"] = json.Number(strconv.FormatInt(n+1, 10))
}

// sameBeside reports whether two objects are the same but for their metadata.
func sameBeside(a, b map[string]any) bool {
	a, b = maps.Clone(a), maps.Clone(b)
	delete(a, "metadata")
	delete(b, "metadata")
	return sameTree(a, b)
}

// canonical is an object in the one form that it is stored in.
func canonical(object map[string]any) []byte {
	text, _ := appendTree(make([]byte, 0, 1<<10), object) // what was decoded from JSON always has a JSON form
	return text
}
