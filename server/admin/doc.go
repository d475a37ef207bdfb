// Package admin is what a server is watched by: metrics in Prometheus' text format and
// the profiles of net/http/pprof, for a second listener.
//
//	metrics := admin.NewMetrics()
//	metrics.AddStore("kubevirt.io", "virtualmachineinstances", st)
//	err = http.ListenAndServe("127.0.0.1:9090", admin.New(metrics))
//
// Where others can reach it, it wants a token of its own ([WithToken]) and TLS: a
// profile has in it what the server holds in memory.
//
// The metrics are named and labelled as kube-apiserver's where they mean the same, so
// that a dashboard for that shows them.
package admin
