// Command vmikit serves, validates and contract-tests KubeVirt's
// VirtualMachineInstances; see vmikit --help.
package main

import (
	"os"

	"github.com/vmikit/vmikit/internal/command"
)

func main() {
	os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
