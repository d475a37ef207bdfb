package server_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// This file is what the recorder did and did not write down.

// during is what the recorder did while a watch ran.
var during = map[string]func(*replay){
	"watch from the rv of a list: ADDED MODIFIED MODIFIED DELETED": func(p *replay) {
		p.comeAndGo(readRecordings(p.t, "08-watch"))
	},
}

// between is what it did before an exchange, and did not write down.
var between = map[string]func(*replay){
	"continue token older than etcd compaction": (*replay).annotate,
	"no name": (*replay).removeGenerated,
	"deletecollection labelSelector": func(p *replay) {
		all := readRecordings(p.t, "09-write")
		for i := range 3 {
			p.make(all, fmt.Sprintf("dc%d", i), "empty", fmt.Sprintf(`"k":"%d"`, i))
		}
	},
}

// removeGenerated deletes the machine whose name the server made up.
func (p *replay) removeGenerated() {
	made := regexp.MustCompile(`"(gen-[a-z0-9]+)"`).FindSubmatch(p.fetch(recordedMachines))
	require.NotNil(p.t, made)
	p.do(http.MethodDelete, recordedMachines+"/"+string(made[1]), "", "")
}

// onlyTried is what we take and the recorded server refused, or had no place for: it
// is asked as a dry run, so that what follows finds the same state.
var onlyTried = map[string]bool{
	"create namespace vms":                true,
	"create namespace empty":              true,
	"schema: required field missing: 422": true,
	"merge patch that breaks the schema":  true,
}

// annotate is what happened in 02-paging, before etcd was compacted.
func (p *replay) annotate() {
	p.now.Store(time.Date(2026, 12, 1, 22, 7, 40, 0, time.UTC).Unix())
	for i := range 5 {
		p.patch("vm1", fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, i))
	}
}

// comeAndGo is what the first watch of 08-watch saw.
func (p *replay) comeAndGo(all []*recording) {
	p.make(all, "wx", "vms", `"app":"web"`)
	p.patch("wx", `{"status":{"phase":"Running"}}`)
	p.patch("wx", `{"metadata":{"labels":{"app":"db"}}}`)
	p.do(http.MethodDelete, recordedMachines+"/wx", "", "")
}

func (p *replay) patch(name, patch string) {
	p.do(http.MethodPatch, recordedMachines+"/"+name, "application/merge-patch+json", patch)
}

// make makes a machine with the uid and the time that it has in recordings.
func (p *replay) make(all []*recording, name, namespace, labels string) {
	created, uid := seen(all, name)
	require.NotEmpty(p.t, uid, name)
	p.now.Store(created.Unix())
	p.draw(uuid.NewString(), uid)
	p.do(http.MethodPost, strings.Replace(recordedMachines, "/vms/", "/"+namespace+"/", 1), "application/json", fmt.Sprintf(
		`{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":%q,"namespace":%q,"labels":{%s}},`+
			`"spec":{"domain":{"devices":{},"resources":{"requests":{"memory":"64Mi"}}}}}`, name, namespace, labels))
}

// seen looks in recordings for what a server gave a machine.
func seen(all []*recording, name string) (created time.Time, uid string) {
	var look func(v *value)
	look = func(v *value) {
		if meta := v.get("metadata"); uid == "" && meta.get("name").text() == name && meta.get("uid") != nil {
			uid = meta.get("uid").text()
			created, _ = time.Parse(time.RFC3339, meta.get("creationTimestamp").text())
		}
		for _, m := range v.members {
			look(m)
		}
	}
	for _, r := range all {
		text := r.text
		for text != "" {
			v, rest, ok := parseValue([]byte(text))
			if !ok {
				break
			}
			look(v)
			text = string(rest)
		}
	}
	return created, uid
}
