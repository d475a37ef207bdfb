package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// namespace has all machines.
const namespace = "shop"

// machineFile is a machine that runs, as a cluster shows it: 4.9 KB on the wire.
//
//go:embed machine.json
var machineFile []byte

// fleet serves lists of machines as a Kubernetes API server writes them, whole or in
// pages. It knows one namespace and no selector.
type fleet struct {
	items  [][]byte
	answer []byte // to a list without a limit
}

func newFleet(machines int) (*fleet, error) {
	var template bytes.Buffer
	if err := json.Compact(&template, machineFile); err != nil {
		return nil, fmt.Errorf("machine.json: %w", err)
	}
	f := &fleet{}
	for i := range machines {
		f.items = append(f.items, []byte(strings.NewReplacer(
			"NUMBER", fmt.Sprintf("%08d", i), "NAMESPACE", namespace, "NAME", fmt.Sprintf("web-%05d", i),
			"GROUP", strconv.Itoa(i%100), "MAC", fmt.Sprintf("02:00:00:00:%02x:%02x", i>>8&255, i&255),
			"ADDRESS", fmt.Sprintf("10.0.%d.%d", i>>8&255, i&255),
		).Replace(template.String())))
	}
	f.answer = f.page(0, machines)
	return f, nil
}

// page is the list of some of the machines.
func (f *fleet) page(from, to int) []byte {
	meta := `"resourceVersion":"4711"`
	if to < len(f.items) {
		meta = fmt.Sprintf(`"continue":"%d","remainingItemCount":%d,`, to, len(f.items)-to) + meta
	}
	return fmt.Appendf(nil, `{"apiVersion":"kubevirt.io/v1","items":[%s],"kind":"VirtualMachineInstanceList","metadata":{%s}}`+"\n",
		bytes.Join(f.items[from:to], []byte(",")), meta)
}

func (f *fleet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/apis/kubevirt.io/v1/namespaces/"+namespace+"/virtualmachineinstances" {
		http.NotFound(w, r)
		return
	}
	answer := f.answer
	if limit, _ := strconv.Atoi(r.FormValue("limit")); limit > 0 {
		from, _ := strconv.Atoi(r.FormValue("continue"))
		from = min(from, len(f.items))
		answer = f.page(from, min(from+limit, len(f.items)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	_, _ = w.Write(answer) // who hangs up has failed by itself
}
