// Package peers is a module of its own that puts the client beside what Go programs use
// for KubeVirt's machines otherwise: kubevirt.io/client-go, and its types with client-go
// alone. Command measure does it; programs has what is built of both, and before
// what a change from one to the other begins with.
package peers
