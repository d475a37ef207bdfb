// Command get prints one machine, exactly as the server sent it.
//
//	get [-server URL] [-ca FILE] NAMESPACE NAME
//
// The exit status is 3 if there is no such machine.
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
)

func main() {
	log.SetFlags(0)
	server := flag.String("server", "https://localhost:6443", "base `URL` of the API server")
	ca := flag.String("ca", "", "PEM `file` of the certificate authorities to trust instead of the system's")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: get [flags] NAMESPACE NAME")
	}

	var opts []client.Option
	if *ca != "" {
		opts = append(opts, client.WithCAFile(*ca))
	}
	c, err := client.New(*server, opts...)
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	vm, err := c.Get(ctx, flag.Arg(0), flag.Arg(1))
	if errors.Is(err, client.ErrNotFound) {
		log.Print(err)
		os.Exit(3)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", vm.Raw)
}
