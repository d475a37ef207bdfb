// Package kubeproto reads objects that clients of Kubernetes send as protobuf:
//
//	object, err := kubeproto.Decode(body, kubeproto.TypeMeta{})
//	if err != nil {
//		return err
//	}
//	// object is {"kind":"Event","apiVersion":"v1","metadata":{…
//
// A client that is built with Kubernetes' own types sends its requests about them
// as protobuf, whatever the server would like best: access reviews (kubectl auth
// can-i), events and leases (every controller), namespaces, options of a deletion.
// Those kinds are known here, and no others; objects of custom resources have no
// protobuf form. Answers need no protobuf, since those clients take JSON as well.
//
// [Decode] turns a body into the JSON that the same client would have sent as
// application/json, byte for byte, so that everything behind it knows one form only.
// A client newer than this package may send fields that it does not know; they are
// left out, as an older API server leaves them out.
package kubeproto
