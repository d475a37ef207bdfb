package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// machines is the resource that the CRD defines.
var machines = schema.GroupVersionResource{Group: "kubevirt.io", Version: "v1", Resource: "virtualmachineinstances"}

// readCRD reads KubeVirt's CustomResourceDefinition from the root module, which
// this one is always built beside.
func readCRD() (*apiextensions.CustomResourceDefinition, error) {
	_, here, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(here) {
		return nil, errors.New("the CRD is read from the source tree, which a build with -trimpath does not know")
	}
	path := filepath.Join(filepath.Dir(here), "..", "..", "openapi", "testdata", "kubevirt-crd.json")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the CRD: %w", err)
	}
	crd := new(apiextensions.CustomResourceDefinition)
	if err := json.Unmarshal(data, crd); err != nil {
		return nil, fmt.Errorf("read the CRD: %s: %w", path, err)
	}
	return crd, nil
}

// installCRD returns when the server serves machines.
func (s *Server) installCRD(ctx context.Context) error {
	crd, err := readCRD()
	if err != nil {
		return err
	}
	client, err := clientset.NewForConfig(s.adminConfig())
	if err != nil {
		return fmt.Errorf("install the CRD: %w", err)
	}
	if _, err := client.ApiextensionsV1().CustomResourceDefinitions().Create(ctx, crd, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("install the CRD: %w", err)
	}
	served := "/apis/" + machines.Group + "/" + machines.Version
	return errors.Join(s.waitFor(ctx, served), s.waitFor(ctx, served+"/"+machines.Resource))
}
