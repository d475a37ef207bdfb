// Command vmikit lists the machines of a namespace with the client of this repository,
// found as kubectl finds its server.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/client/kubeconfig"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: vmikit NAMESPACE")
	}
	access, err := kubeconfig.Load()
	if err != nil {
		log.Fatal(err)
	}
	hc, err := access.HTTPClient()
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(access.URL, client.WithHTTPClient(hc))
	if err != nil {
		log.Fatal(err)
	}
	list, err := c.List(context.Background(), os.Args[1], client.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, vm := range list.Items {
		fmt.Println(vm.Name(), vm.Phase())
	}
}
