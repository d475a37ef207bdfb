//go:build kubecli

// Command kubecli lists the machines of a namespace with kubevirt.io/client-go, found
// as kubectl finds its server.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"kubevirt.io/client-go/kubecli"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: kubecli NAMESPACE")
	}
	config := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil)
	c, err := kubecli.GetKubevirtClientFromClientConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	list, err := c.VirtualMachineInstance(os.Args[1]).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for i := range list.Items {
		fmt.Println(list.Items[i].Name, list.Items[i].Status.Phase)
	}
}
