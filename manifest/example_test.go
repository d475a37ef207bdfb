package manifest_test

import (
	"fmt"
	"strings"

	"github.com/vmikit/vmikit/manifest"
)

func ExampleRead() {
	stream := strings.NewReader(`
apiVersion: kubevirt.io/v1
kind: VirtualMachineInstance
metadata: {name: web, namespace: shop}
spec:
  domain:
    cpu: {cores: 0}
---
kind: [
---
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
`)
	for object, err := range manifest.Read("vmis.yaml", stream) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%s:%d: %s %s\n", object.File, object.Line, object.Kind, object.Name)
		if object.Name == "web" {
			fmt.Printf("%s:%d: /spec/domain/cpu/cores is too small\n", object.File, object.LineOf("/spec/domain/cpu/cores"))
		}
	}
	// Output:
	// vmis.yaml:2: VirtualMachineInstance web
	// vmis.yaml:7: /spec/domain/cpu/cores is too small
	// vmis.yaml:9: did not find expected node content
	// vmis.yaml:11: ConfigMap settings
}
