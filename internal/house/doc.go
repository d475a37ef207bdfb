// Package house holds the tests of promises that no single package can keep:
// which package may import which, and which modules the root never names.
package house
