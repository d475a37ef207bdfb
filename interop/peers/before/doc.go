// Package before has what client/README.md shows as kubevirt.io/client-go, for each
// example of the client one of the same name that prints the same, run against the
// same server.
package before
