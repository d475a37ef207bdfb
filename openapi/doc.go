// Package openapi is the OpenAPI document made executable: it says whether an
// object, a request or an answer keeps the document's rules, and which rule is
// broken where.
//
//	doc, err := openapi.Load(openapi.ProfileKubeVirt)
//	if err != nil {
//		return err
//	}
//	for _, issue := range doc.ValidateObject(data) {
//		fmt.Println(issue.Pointer, issue.Rule, issue.Message)
//	}
//
// There are three profiles, each a whole document: the given one, the same with
// what every Kubernetes API has, and that with the values KubeVirt has added
// since. Servers load their document with [LoadServer], which gives them the
// routes and error bodies of Kubernetes whatever the profile of the objects is.
//
// Keywords of the document (enum, pattern, minimum, type, required, format and
// the others) are enforced by kin-openapi. What no keyword says is enforced
// here, under the names that [Rules] lists: one JSON value of valid UTF-8, no
// key twice, no key that differs from a declared one only by case, integers
// that 64 bits hold, declared status codes and content types.
//
// [Document.Published] is the document in the form of /openapi/v3, which kubectl asks for.
//
// Objects are open: a field that no document names is kept, and only [Strict]
// tells of it. The size of a document is for the caller to limit; the time and
// memory spent here grow in proportion to it.
//
// No issue carries the text of cloud-init data, passwords, tokens or keys.
package openapi
