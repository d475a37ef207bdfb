// Package parsers has no code of its own: its tests hold what this project reads
// by its own code, selectors and YAML, to the code of Kubernetes.
package parsers
