package contract

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// someObject returns the object whose name is tried in other forms: one with a
// letter in it if there is any, since a letter has more forms than a digit.
func (r *run) someObject(ctx context.Context) (*item, *listing, error) {
	full, err := r.full(ctx, r.primary)
	if err != nil {
		return nil, nil, err
	}
	var lettered []*item
	for _, it := range full.all() {
		if otherCase(it.name) != it.name {
			lettered = append(lettered, it)
		}
	}
	if len(lettered) == 0 {
		lettered = full.all()
	}
	return sample(r.rand("edge"), lettered, 1)[0], full, nil
}

// encodedName gets an object with its first letter percent-encoded, and the first
// one of its namespace.
func encodedName(ctx context.Context, r *run) (verdict, error) {
	v := passed("1 name")
	it, _, err := r.someObject(ctx)
	if err != nil {
		return v, err
	}
	req := r.readRequest("", "", withToken)
	req.path = strings.Replace(machines("NAMESPACE"), "NAMESPACE", encodedFirst(it.namespace), 1) + "/" + encodedFirst(it.name)
	return v, r.getUnusually(ctx, &v, req, it)
}

// getUnusually asks for an object in an unusual way, and adds to v when there is no
// such object, or another one, twice with an ordinary request between that shows
// it. What the object says of itself is for consistency.get.
func (r *run) getUnusually(ctx context.Context, v *verdict, req request, it *item) error {
	ex, err := r.ask(ctx, req)
	if err != nil || it.isIn(ex) {
		return err
	}
	plain, err := r.read(ctx, it.namespace, it.name, withToken)
	if err != nil || !it.isIn(plain) {
		return err // gone since, or never to be had
	}
	if ex, err = r.ask(ctx, req); err != nil || it.isIn(ex) {
		return err
	}
	f := fault(ex, Fail, "an object is not found by an unusual spelling of its request", "the object "+it.key(), fmt.Sprintf("status %d", ex.status))
	if ex.status == http.StatusBadRequest || ex.status == http.StatusForbidden {
		f.Outcome = Warning // what stands in front of a target may refuse what is unusual
	}
	if other, ok := readItem(ex.body, it.namespace); ex.status == http.StatusOK && ok {
		f.Message, f.Got = "another object is shown than the request names", "the object "+other.key()
	}
	f.Objects = []string{it.key()}
	v.add(r, f)
	return nil
}

// isIn reports whether an answer is the object, by its name.
func (it *item) isIn(ex *exchange) bool {
	got, ok := readItem(ex.body, it.namespace)
	return ex.status == http.StatusOK && ok && got.key() == it.key()
}

// encodedFirst writes the first character as %XX and the rest as it is.
func encodedFirst(name string) string {
	return fmt.Sprintf("%%%02X", name[0]) + url.PathEscape(name[1:])
}

// namesAlike asks for what resembles the name of an object.
func namesAlike(ctx context.Context, r *run) (verdict, error) {
	it, full, err := r.someObject(ctx)
	if err != nil {
		return verdict{}, err
	}
	var asked []strange
	for _, name := range []string{
		otherCase(it.name), cut(it.name), it.name[1:], it.name + ".", it.name + " ", it.name[:1] + "*", it.name[:1] + "%",
		it.name + ".json", it.name + ";v=1", it.name + `"'\`, it.name + "é",
	} {
		if name == "" || full.byKey[it.namespace+"/"+name] != nil || strings.Trim(name, ".") == "" {
			continue
		}
		s := strange{path: machines(it.namespace) + "/" + url.PathEscape(name)}
		if between(name, isLower, "-.") {
			s.name = name
		}
		asked = append(asked, s)
	}
	return r.provokeAll(ctx, asked)
}

// decoding asks with names that become that of an object when they are decoded
// once too often, cut at a NUL or tidied up as Unicode.
func decoding(ctx context.Context, r *run) (verdict, error) {
	it, _, err := r.someObject(ctx)
	if err != nil {
		return verdict{}, err
	}
	first, rest := it.name[0], url.PathEscape(it.name[1:])
	var asked []strange
	for _, name := range []string{
		fmt.Sprintf("%%25%02X", first) + rest,                              // decoded twice
		url.PathEscape(it.name) + "%00",                                    // a C string
		fmt.Sprintf("%%%02X%%%02X", 0xc0|first>>6, 0x80|first&0x3f) + rest, // overlong UTF-8
		url.PathEscape(string(rune(first)-'!'+'！')) + rest,                 // full width, the same to NFKC
	} {
		asked = append(asked, strange{path: machines(it.namespace) + "/" + name})
	}
	return r.provokeAll(ctx, asked)
}

// traversal asks with paths that lead to an object when somebody tidies them up.
func traversal(ctx context.Context, r *run) (verdict, error) {
	it, _, err := r.someObject(ctx)
	if err != nil {
		return verdict{}, err
	}
	here, nowhere := machines(it.namespace), machines(r.nobody())
	namespace, name := url.PathEscape(it.namespace), url.PathEscape(it.name)
	asked := []strange{
		{path: nowhere + "/..%2F..%2F" + namespace + "%2Fvirtualmachineinstances%2F" + name},
		{path: here + "/" + r.nobody() + "%2F.." + "%2F" + name},
		{path: here + "/" + r.nobody() + "%2F" + name},
		{path: here + "/" + name + "%2F" + r.nobody()},
		{path: here + "//" + name, name: it.name, mayLead: true},
	}
	if r.conventions() {
		for _, up := range []string{"..", "%2e%2e"} {
			asked = append(asked, strange{
				path:    nowhere + "/" + up + "/" + up + "/" + namespace + "/virtualmachineinstances/" + name,
				mayLead: true, resolved: it.key(),
			})
		}
	}
	return r.provokeAll(ctx, asked)
}

// longNames asks for names that are longer than a name may be, 253, and longer
// than most would read a path.
func longNames(ctx context.Context, r *run) (verdict, error) {
	var asked []strange
	for _, length := range []int{300, 5000} {
		long := strings.Repeat("vmikit", length)[:length]
		asked = append(asked, strange{path: machines(string(r.primary)) + "/" + long})
		if length < 1000 {
			asked = append(asked, strange{path: machines(long) + "/" + r.anyName()})
		}
	}
	return r.provokeAll(ctx, asked)
}

// namespacesAlike lists what resembles the namespace with the most objects, and asks
// for one of them there.
func namespacesAlike(ctx context.Context, r *run) (verdict, error) {
	var v verdict
	names := 0
	home := string(r.primary)
	for _, ns := range []string{otherCase(home), cut(home), "*"} {
		if ns == "" || ns == home {
			continue
		}
		names++
		if err := r.notThere(ctx, &v, ns); err != nil {
			return v, err
		}
		ex, err := r.provoke(ctx, &v, r.listRequest(scope(ns), nil))
		if err != nil {
			return v, err
		}
		if ex == nil || ex.status != http.StatusOK {
			continue
		}
		list, _ := ex.split()
		for _, raw := range list.items {
			// Another namespace that has the name is not known of in a run over one.
			if it, ok := readItem(raw, ""); ok && it.namespaced && it.namespace != ns {
				f := fault(ex, Fail, "a list has objects of a namespace that the path only resembles", "no object", number(len(list.items), "object"))
				f.Objects = []string{it.key()}
				v.add(r, f)
				break
			}
		}
	}
	v.message = number(names, "namespace")
	return v, nil
}

// notThere asks for an object in a namespace that only resembles its own.
func (r *run) notThere(ctx context.Context, v *verdict, namespace string) error {
	full, err := r.full(ctx, r.primary)
	if err != nil {
		return err
	}
	it := sample(r.rand("edge.namespace"), full.all(), 1)[0]
	ex, err := r.provoke(ctx, v, r.readRequest(namespace, it.name, withToken))
	if err != nil || ex == nil || ex.status != http.StatusOK {
		return err
	}
	// An object of that name may be in another namespace that has the name.
	if got, ok := readItem(ex.body, namespace); ok && got.at(namespace) && got.uid != it.uid {
		return nil
	}
	f := fault(ex, Fail, "an object is there in a namespace that the path only resembles", "status 404", "status 200")
	f.Objects = []string{it.key()}
	v.add(r, f)
	return nil
}

// pathsAlike asks for an object by paths of another version, resource and part.
func pathsAlike(ctx context.Context, r *run) (verdict, error) {
	it, _, err := r.someObject(ctx)
	if err != nil {
		return verdict{}, err
	}
	path := machines(it.namespace) + "/" + url.PathEscape(it.name)
	return r.provokeAll(ctx, []strange{
		{path: strings.Replace(path, "/v1/", "/v1vmikit/", 1)},
		{path: strings.Replace(path, "/kubevirt.io/", "/vmikit.kubevirt.io/", 1)},
		{path: strings.Replace(path, "/virtualmachineinstances/", "/virtualmachineinstance/", 1)},
		{path: strings.Replace(path, "/virtualmachineinstances/", "/virtualmachineinstancesx/", 1)},
		{path: path + "/vmikit-contract-part"},
	})
}
