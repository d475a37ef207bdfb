// Command list prints machines as a table.
//
//	list [-server URL] [-ca FILE] [-token-file FILE] [-n NAMESPACE] [-l SELECTOR]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"text/tabwriter"

	"github.com/vmikit/vmikit/client"
)

func main() {
	log.SetFlags(0)
	server := flag.String("server", "https://localhost:6443", "base `URL` of the API server")
	ca := flag.String("ca", "", "PEM `file` of the certificate authorities to trust instead of the system's")
	tokenFile := flag.String("token-file", "", "`file` with a bearer token")
	namespace := flag.String("n", "", "namespace, all of them if empty")
	selector := flag.String("l", "", "label selector")
	flag.Parse()

	opts := []client.Option{client.WithUserAgent("vmikit-example-list")}
	if *ca != "" {
		opts = append(opts, client.WithCAFile(*ca))
	}
	if *tokenFile != "" {
		token, err := os.ReadFile(*tokenFile)
		if err != nil {
			log.Fatal(err)
		}
		opts = append(opts, client.WithBearerToken(string(token)))
	}
	c, err := client.New(*server, opts...)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := list(ctx, c, *namespace, *selector, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// list writes the table, of what there is until something goes wrong.
func list(ctx context.Context, c *client.Client, namespace, selector string, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintln(table, "NAMESPACE\tNAME\tPHASE\tNODE")
	for vm, err := range c.All(ctx, namespace, client.ListOptions{LabelSelector: selector}) {
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", vm.Namespace(), vm.Name(), vm.Phase(), vm.NodeName())
	}
	return nil
}
