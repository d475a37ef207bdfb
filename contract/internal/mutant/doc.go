// Package mutant has a small server that is right, and faults that make it
// wrong in one respect each. They are what the contract tester is tested with:
// it must object to every fault and to nothing in the server without one.
//
//	server := httptest.NewServer(mutant.New(mutant.Fleet()))
//	for _, m := range mutant.All() {
//		broken := httptest.NewServer(m.Server())
//	}
//
// [NewWriting] has the same server with writes and watches; the faults in these are of
// the subjects write and watch.
//
// Most faults were written without reading the checks, from the document and from
// what a Kubernetes API server answers; the others show in one request only of the
// check that they are for. None of them is a matter of taste: what the document or
// Kubernetes leaves open (a page shorter than its limit that has a token, an inexact
// remainingItemCount, a namespace that nobody has answered with an empty list) is
// not here.
package mutant
