// Package managedfields has no code of its own: its tests hold what this project
// does about field management and server-side apply to the code of Kubernetes.
package managedfields
