// Command quickstart lists all machines of the API server at $VMIKIT_SERVER, by
// default the one that make run starts.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"

	"github.com/vmikit/vmikit/client"
)

func main() {
	server := cmp.Or(os.Getenv("VMIKIT_SERVER"), "https://localhost:6443")
	c, err := client.New(server, client.WithCAFile(cmp.Or(os.Getenv("VMIKIT_CA"), ".vmikit/tls/ca.crt")))
	if err != nil {
		log.Fatal(err)
	}
	for vm, err := range c.All(context.Background(), "", client.ListOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		view, err := vm.View()
		if err != nil {
			log.Print(err) // a value that Go cannot hold; view has the rest
		}
		ip := "-"
		if nics := view.Status.Interfaces; len(nics) > 0 {
			ip = nics[0].IPAddress
		}
		fmt.Printf("%s/%s\t%s\t%s\n", vm.Namespace(), vm.Name(), vm.Phase(), ip)
	}
}
