package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
)

// manifest is a machine as it is met in a cluster, with words in capitals in place of
// what tells one from another.
//
//go:embed machine.json
var manifest []byte

const (
	everywhere = "/apis/kubevirt.io/v1/virtualmachineinstances"
	// sequenceName is the annotation that the patches count in, so that whoever reads
	// a change knows which one it is.
	sequenceName = "example.com/sequence"
)

// machines are those of a run: so many, spread evenly over so many namespaces.
type machines struct {
	count, namespaces int
	compact           string
}

func newMachines(count, namespaces int) (*machines, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, manifest); err != nil {
		return nil, fmt.Errorf("machine.json: %w", err)
	}
	return &machines{count, namespaces, compact.String()}, nil
}

func (m *machines) namespace(i int) string { return fmt.Sprintf("tenant-%02d", i%m.namespaces) }

func (m *machines) name(i int) string { return fmt.Sprintf("vm-%06d", i) }

// list is the path of the machines of the namespace that machine i is in.
func (m *machines) list(i int) string {
	return "/apis/kubevirt.io/v1/namespaces/" + m.namespace(i) + "/virtualmachineinstances"
}

// path is that of machine i.
func (m *machines) path(i int) string { return m.list(i) + "/" + m.name(i) }

// json is machine i as it is posted.
func (m *machines) json(i int) string {
	low := [3]byte{byte(i >> 16), byte(i >> 8), byte(i)}
	return strings.NewReplacer(
		"NAMESPACE", m.namespace(i),
		"NAME", m.name(i),
		"GROUP", fmt.Sprintf("%02d", i%25),
		"NUMBER", fmt.Sprintf("%08x", i),
		"MAC", fmt.Sprintf("02:00:00:%02x:%02x:%02x", low[0], low[1], low[2]),
		"ADDRESS", netip.AddrFrom4([4]byte{10, low[0], low[1], low[2]}).String(),
	).Replace(m.compact)
}

// sequencePatch is the merge patch that makes a change known by its number.
func sequencePatch(n int) string {
	return fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d"}}}`, sequenceName, n)
}

// The managed fields name the annotation with "f:" in front.
var sequenceMark = []byte(`"` + sequenceName + `":"`)

// sequenceIn reads the number of a change; -1 is that it has none.
func sequenceIn(event []byte) int {
	at := bytes.Index(event, sequenceMark)
	if at < 0 {
		return -1
	}
	n := 0
	for _, c := range event[at+len(sequenceMark):] {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + int(c-'0')
	}
	return n
}
