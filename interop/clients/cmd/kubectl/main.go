// Command kubectl is the Kubernetes command line client of the release that
// this module's go.mod names, without the plugins and credential helpers of a
// release build. The tests build it and run it against our server, so that no
// kubectl has to be installed.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
		os.Exit(1)
	}
}
