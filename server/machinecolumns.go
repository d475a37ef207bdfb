package server

import (
	"encoding/json"
	"time"

	"github.com/vmikit/vmikit/server/store"
)

func conditionColumn(name, condition string, priority int32) column {
	return jsonPathColumn(name, "string", ".status.conditions[?(@.type=='"+condition+"')].status", priority,
		func(_ *server, r *row) any { return r.condition(condition) })
}

// machineColumns are the columns of machines.
var machineColumns = []column{
	nameColumn,
	ageColumn,
	jsonPathColumn("Phase", "string", ".status.phase", 0,
		func(_ *server, r *row) any { return cell(r.status.Phase) }),
	jsonPathColumn("IP", "string", ".status.interfaces[0].ipAddress", 0,
		func(_ *server, r *row) any { return r.ip() }),
	jsonPathColumn("NodeName", "string", ".status.nodeName", 0,
		func(_ *server, r *row) any { return cell(r.status.NodeName) }),
	conditionColumn("Ready", "Ready", 0),
	conditionColumn("Live-Migratable", "LiveMigratable", 1),
	conditionColumn("Paused", "Paused", 1),
}

// row is what the columns show of an object. A profile may leave a field open
// that a column shows, so a value of another type is an empty cell, not an error.
// encoding/json folds case, but members are stored in the order of their names,
// so the one in lower case is read last and counts.
type row struct {
	name     string
	metadata json.RawMessage
	status   struct {
		Phase, NodeName, Interfaces, Conditions json.RawMessage
	}
	json    []byte
	members map[string]any // of json, once somebody has asked
}

func newRow(o *store.Object) *row {
	var members struct{ Metadata, Status json.RawMessage }
	// What is stored is an object.
	_ = json.Unmarshal(o.JSON, &members)
	r := &row{name: o.Key.Name, metadata: members.Metadata, json: o.JSON}
	decode(members.Status, &r.status)
	return r
}

// decode leaves alone what it cannot decode.
func decode(raw json.RawMessage, to any) {
	if len(raw) > 0 {
		_ = json.Unmarshal(raw, to)
	}
}

// cell is a text, or nothing where there is none.
func cell(raw json.RawMessage) any {
	var s *string
	decode(raw, &s)
	if s == nil {
		return nil
	}
	return *s
}

func (r *row) created() (t time.Time) {
	var meta struct{ CreationTimestamp json.RawMessage }
	decode(r.metadata, &meta)
	decode(meta.CreationTimestamp, &t)
	return t
}

func (r *row) ip() any {
	var interfaces []json.RawMessage
	decode(r.status.Interfaces, &interfaces)
	if len(interfaces) == 0 {
		return nil
	}
	var first struct{ IPAddress json.RawMessage }
	decode(interfaces[0], &first)
	return cell(first.IPAddress)
}

func (r *row) condition(kind string) any {
	var conditions []json.RawMessage
	decode(r.status.Conditions, &conditions)
	for _, raw := range conditions {
		var c struct{ Type, Status json.RawMessage }
		decode(raw, &c)
		if cell(c.Type) == any(kind) {
			return cell(c.Status)
		}
	}
	return nil
}
