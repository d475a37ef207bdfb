// Package apiserver runs a real Kubernetes API server with KubeVirt's CRD in
// process, for tests and benchmarks that need to know what a cluster does:
//
//	server, err := apiserver.Start(ctx, apiserver.Options{})
//	if err != nil {
//		return err
//	}
//	defer server.Close()
//	fleet, err := server.CreateFleet(ctx, apiserver.FleetOptions{Machines: 1000, Namespaces: 10})
//
// It is k8s.io/apiextensions-apiserver, the code that serves every custom
// resource inside kube-apiserver, on an embedded etcd. It listens on random ports
// of 127.0.0.1 and keeps its data in a temporary directory.
//
// What a whole cluster has beside that is missing: the aggregator with /api and
// /apis, the core group, namespaces (any name is one), admission and KubeVirt's
// webhooks, RBAC (users and their rights are fixed, see [Options]), priority and
// fairness. etcd does not wait for the disk, so writes are quicker than a
// cluster's; reads are not affected.
//
// Several servers may run in one process, one after the other or together. They
// share Kubernetes' globals: feature gates, metrics, and the log, which goes where
// the server that was started last sends it.
package apiserver
