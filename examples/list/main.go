// Command list prints machines as a table.
//
//	list [-server URL] [-ca FILE] [-token-file FILE] [-n NAMESPACE] [-l SELECTOR]
//
// A machine with a value that Go cannot hold is listed and named on standard error;
// the exit status is then 1.
package main

import (
	"context"
	"errors"
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

// list writes the table and returns what went wrong, after all of it if that
// concerns single machines.
func list(ctx context.Context, c *client.Client, namespace, selector string, out io.Writer) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprintln(table, "NAMESPACE\tNAME\tPHASE\tNODE")
	var bad []error
	for vm, err := range c.All(ctx, namespace, client.ListOptions{LabelSelector: selector}) {
		var item *client.ItemError
		if errors.As(err, &item) {
			bad = append(bad, err)
		} else if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", vm.Metadata.Namespace, vm.Metadata.Name, vm.Status.Phase, vm.Status.NodeName)
	}
	return errors.Join(bad...)
}
