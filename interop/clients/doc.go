// Package clients has no code of its own: its tests run the server and the
// Kubernetes clients that people use against each other.
package clients
