package client_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/vmikit/vmikit/client"
)

// exampleServer stands for an API server with three machines.
func exampleServer() *httptest.Server {
	const prefix = "/apis/kubevirt.io/v1"
	vm := func(name, phase, ip string) string {
		return fmt.Sprintf(`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",`+
			`"metadata":{"name":%q,"namespace":"shop"},"spec":{"architecture":"arm64"},`+
			`"status":{"phase":%q,"interfaces":[{"ipAddress":%q}]}}`, name, phase, ip)
	}
	list := func(cont, count string, items ...string) string {
		return fmt.Sprintf(`{"apiVersion":"kubevirt.io/v1","items":[%s],"kind":"VirtualMachineInstanceList",`+
			`"metadata":{"continue":%q%s,"resourceVersion":"42"}}`, strings.Join(items, ","), cont, count)
	}
	cache, db, web := vm("cache", "Running", "10.0.0.3"), vm("db", "Running", "10.0.0.1"), vm("web", "Scheduling", "")
	answers := map[string]string{
		prefix + "/namespaces/shop/virtualmachineinstances/db":                  db,
		prefix + "/virtualmachineinstances?limit=500":                           list("", "", cache, db, web),
		prefix + "/namespaces/shop/virtualmachineinstances?limit=2":             list("t2", `,"remainingItemCount":1`, cache, db),
		prefix + "/namespaces/shop/virtualmachineinstances?limit=2&continue=t2": list("", "", web),
	}
	return httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body, ok := answers[r.RequestURI]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			body = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NotFound","code":404}`
		}
		fmt.Fprintln(w, body)
	}))
}

// exampleClient is a client that trusts the server.
func exampleClient(srv *httptest.Server) *client.Client {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	c, err := client.New(srv.URL, client.WithCAs(ca))
	if err != nil {
		log.Fatal(err)
	}
	return c
}

func ExampleNew() {
	_, err := client.New("https://localhost:6443",
		client.WithBearerToken("the.token.of-a-service-account"),
		client.WithUserAgent("inventory/1.0"))
	fmt.Println(err)

	_, err = client.New("http://api.example.com", client.WithBearerToken("the.token.of-a-service-account"))
	fmt.Println(err)
	// Output:
	// <nil>
	// new client: a bearer token is not sent over plain http to api.example.com, where others could read it
}

func ExampleClient_Get() {
	srv := exampleServer()
	defer srv.Close()
	c := exampleClient(srv)

	vm, err := c.Get(context.Background(), "shop", "db")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Name(), vm.Phase())

	// The typed view has the fields of the OpenAPI document.
	view, err := vm.View()
	if err != nil {
		log.Fatal(err) // a value that Go cannot hold; view has the rest
	}
	fmt.Println(view.Status.Interfaces[0].IPAddress)

	// The typed view has no architecture; the bytes have.
	var more struct {
		Spec struct{ Architecture string }
	}
	if err := json.Unmarshal(vm.Raw, &more); err != nil {
		log.Fatal(err)
	}
	fmt.Println(more.Spec.Architecture)

	_, err = c.Get(context.Background(), "shop", "nosuch")
	fmt.Println(err)
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output:
	// db Running
	// 10.0.0.1
	// arm64
	// get vmi shop/nosuch: not found (404)
	// true
}

func ExampleClient_List() {
	srv := exampleServer()
	defer srv.Close()

	list, err := exampleClient(srv).List(context.Background(), "shop", client.ListOptions{Limit: 2})
	if err != nil {
		log.Fatal(err)
	}
	for _, vm := range list.Items {
		fmt.Println(vm.Name(), vm.Phase())
	}
	fmt.Println("more to come:", *list.RemainingItemCount)
	// Output:
	// cache Running
	// db Running
	// more to come: 1
}

func ExampleClient_All() {
	srv := exampleServer()
	defer srv.Close()

	for vm, err := range exampleClient(srv).All(context.Background(), "", client.ListOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(vm.Namespace(), vm.Name(), vm.Phase())
	}
	// Output:
	// shop cache Running
	// shop db Running
	// shop web Scheduling
}

func ExampleVMI_View() {
	srv := exampleServer()
	defer srv.Close()
	vm, err := exampleClient(srv).Get(context.Background(), "shop", "db")
	if err != nil {
		log.Fatal(err)
	}
	view, err := vm.View()
	if err != nil {
		log.Print(err) // a value that Go cannot hold; view has the rest
	}
	fmt.Println(view.Status.Phase, view.Status.Phase.Valid())
	for _, nic := range view.Status.Interfaces {
		fmt.Println(nic.IPAddress)
	}
	// Output:
	// Running true
	// 10.0.0.1
}

func ExampleNewVMI() {
	vm, err := client.NewVMI([]byte(`{"metadata":{"name":"odd"},"spec":{"domain":{"cpu":{"cores":"2"}}},"status":{"phase":"Running"}}`))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(vm.Name(), vm.Phase())

	view, err := vm.View()
	fmt.Println(err)
	fmt.Println(view.Status.Phase)
	var item *client.ItemError
	if errors.As(err, &item) {
		fmt.Println(item.Pointer)
	}
	// Output:
	// odd Running
	// vmi odd: /spec/domain/cpu/cores: json: cannot unmarshal string into Go value of type int
	// Running
	// /spec/domain/cpu/cores
}
