// Command wait waits until a machine runs.
//
//	wait [-timeout DURATION] NAMESPACE NAME
//
// The server and the credentials are those that kubectl would use. The exit status is
// 3 if the machine has come to its end instead, and 1 after the time-out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/client/kubeconfig"
	"github.com/vmikit/vmikit/gen/vmi"
)

func main() {
	log.SetFlags(0)
	timeout := flag.Duration("timeout", 5*time.Minute, "how long to wait")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: wait [-timeout DURATION] NAMESPACE NAME")
	}

	c, err := connect()
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), *timeout)
	defer cancel()
	vm, err := c.WaitFor(ctx, flag.Arg(0), flag.Arg(1), client.PhaseIs(vmi.PhaseRunning))
	var final *client.FinalPhaseError
	if errors.As(err, &final) {
		log.Print(err)
		os.Exit(3)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s/%s runs on %s\n", vm.Namespace(), vm.Name(), vm.NodeName())
}

func connect() (*client.Client, error) {
	access, err := kubeconfig.Load()
	if err != nil {
		return nil, err
	}
	hc, err := access.HTTPClient()
	if err != nil {
		return nil, err
	}
	return client.New(access.URL, client.WithHTTPClient(hc), client.WithUserAgent("vmikit-example-wait"))
}
