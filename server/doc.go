// Package server is a reference server for KubeVirt's VirtualMachineInstances: an
// http.Handler that answers lists and gets as a Kubernetes API server does, with
// no cluster behind it. Every parameter and every answer is checked against the
// OpenAPI document.
//
//	st := store.NewMemory()
//	w, err := server.NewWriter(st)
//	_, err = w.Create(ctx, manifest)
//	handler, err := server.New(st)
//	err = http.ListenAndServe("127.0.0.1:8080", handler)
//
// The handler bounds what a request may take, not what a connection may: whoever
// serves others than themselves sets the time-outs of [net/http.Server].
//
// Tests of other programs want package servertest, which does that and takes it
// down again.
//
// Where an answer differs from that of a Kubernetes API server, DIFFERENCES.md in
// this directory says so and why.
package server
