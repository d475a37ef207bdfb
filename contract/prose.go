package contract

import (
	"fmt"
	"iter"
	"maps"
	"math/big"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// proseRule is a rule that the document says in words and no schema holds.
type proseRule struct {
	id      string
	line    int
	text    string
	explain string
	// judge reports whether the machine has anything that the rule is about.
	judge func(machine node, say sayProse) (applies bool)
}

// sayProse tells of one breach: where, what should be there and what is.
type sayProse func(pointer, expected, got string)

var proseRules = []proseRule{
	{
		"prose.interface-network", 151, "description: Name of the interface, must match a network name.",
		"Every interface of a machine has a network of its name; what shows a machine's networks cannot place it otherwise.",
		func(m node, say sayProse) bool {
			return named(m, "/spec/domain/devices/interfaces", "/spec/networks", "a network", say)
		},
	}, {
		"prose.disk-volume", 542, "description: Name of the disk, must match a volume name.",
		"Every disk of a machine has a volume of its name: that is where its data is.",
		func(m node, say sayProse) bool {
			return named(m, "/spec/domain/devices/disks", "/spec/volumes", "a volume", say)
		},
	}, {
		"prose.device-kind", 536, "description: A virtual disk device attached to the VM.",
		"A disk is a disk, a CD-ROM or a LUN. Of one that is two of them, every reader makes another thing.",
		oneDeviceKind,
	}, {
		"prose.notation", 461, "description: Amount of memory for the guest OS in Kubernetes resource quantity format, e.g. '2Gi', '512Mi'.",
		"Amounts of memory and disk are Kubernetes' resource quantities, a network in masquerade mode is a CIDR, a path on the host begins with a slash: or nobody can read them.",
		notation,
	}, {
		"prose.label", 85, "description: Labels for organizing and selecting resources.",
		"Keys and values of labels have Kubernetes' syntax, or no selector can be written with them.",
		labelSyntax,
	}, {
		"prose.phase-history", 382, "description: History of phase transitions with timestamps.",
		"The last entry of the history of phases is the phase.",
		phaseHistory,
	},
}

// subjectProse is what only ever warns.
const subjectProse = "prose"

// uniqueUID stands beside the rules: it looks at several machines.
const uniqueUID = "prose.unique-uid"

func proseChecks() []Check {
	var checks []Check
	for _, rule := range proseRules {
		checks = append(checks, Check{
			ID: rule.id, Clause: Clause{rule.line, rule.text}, Explain: rule.explain,
			run: judged(rule.id, "%d bodies of machines looked at"),
		})
	}
	return append(checks, Check{
		ID: uniqueUID, Clause: Clause{93, "uid:"},
		Explain: "No two machines have the same uid: caches keep objects by it, and would keep one of them.",
		run:     judged(uniqueUID, "%d bodies of machines looked at"),
	})
}

// seeProse looks at a machine for what only words forbid. It warns: the schema
// lets it pass, so other readers do.
func (j *judge) seeProse(ex *exchange, key string, raw []byte) {
	value, ok := decode(raw)
	if !ok {
		return // schema.json tells
	}
	m := node{value}
	for _, rule := range proseRules {
		applies := rule.judge(m, func(pointer, expected, got string) {
			j.addOnce(rule.id, key, fault(ex, Warning, anywhere(pointer)+" is not what the document says in words", expected, got))
		})
		if applies {
			j.seen[rule.id]++
		}
	}
	j.seen[uniqueUID]++
	if uid, _ := m.at("/metadata/uid").text(); uid != "" {
		if other, ok := j.uids[uid]; ok && other != key {
			j.addOnce(uniqueUID, key, fault(ex, Warning, "two objects have the same uid", "another uid than that of "+other, "the same"))
			return
		}
		j.uids[uid] = key
	}
}

// node is a value somewhere in a machine; nil where nothing is.
type node struct{ value any }

// at follows a JSON pointer of plain keys.
func (n node) at(pointer string) node {
	for _, key := range strings.Split(pointer, "/")[1:] {
		object, _ := n.value.(map[string]any)
		n = node{object[key]}
	}
	return n
}

// each returns the items of an array, with the pointers to them.
func (n node) each(pointer string) iter.Seq2[string, node] {
	list, _ := n.at(pointer).value.([]any)
	return func(yield func(string, node) bool) {
		for i, item := range list {
			if !yield(pointer+"/"+strconv.Itoa(i), node{item}) {
				return
			}
		}
	}
}

// text returns a string; ok is false for anything else.
func (n node) text() (text string, ok bool) {
	text, ok = n.value.(string)
	return text, ok
}

func (n node) has(key string) bool {
	object, _ := n.value.(map[string]any)
	return object[key] != nil
}

func quote(text string) string { return fmt.Sprintf("%.80q", text) }

// named looks whether what a machine has of one kind is there by name in another.
// What has no name the schema tells.
func named(m node, those, in, what string, say sayProse) (applies bool) {
	there := make(map[string]bool)
	for _, item := range m.each(in) {
		if name, ok := item.at("/name").text(); ok {
			there[name] = true
		}
	}
	for at, item := range m.each(those) {
		applies = true
		if name, ok := item.at("/name").text(); ok && !there[name] {
			say(at+"/name", what+" of the same name", quote(name))
		}
	}
	return applies
}

func oneDeviceKind(m node, say sayProse) (applies bool) {
	for at, disk := range m.each("/spec/domain/devices/disks") {
		applies = true
		var kinds []string
		for _, kind := range []string{"disk", "cdrom", "lun"} {
			if disk.has(kind) {
				kinds = append(kinds, kind)
			}
		}
		if len(kinds) > 1 {
			say(at, "one of disk, cdrom and lun", strings.Join(kinds, " and "))
		}
	}
	return applies
}

// quantity is how Kubernetes writes an amount (apimachinery, resource.Quantity).
var quantity = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$`)

// suffixes are what an amount is multiplied by, as powers of 1000 and of 1024.
var suffixes = func() map[string]*big.Rat {
	suffixes := make(map[string]*big.Rat)
	for i, letter := range []string{"k", "M", "G", "T", "P", "E"} {
		suffixes[letter] = power(1000, i+1)
		suffixes[strings.ToUpper(letter)+"i"] = power(1024, i+1)
	}
	for i, letter := range []string{"m", "u", "n"} {
		suffixes[letter] = new(big.Rat).Inv(power(1000, i+1))
	}
	return suffixes
}()

func power(base, n int) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(n)), nil))
}

// amountOf is the number that a quantity stands for.
func amountOf(text string) (*big.Rat, bool) {
	if len(text) > 64 || !quantity.MatchString(text) {
		return nil, false
	}
	for suffix, times := range suffixes {
		if number, ok := strings.CutSuffix(text, suffix); ok && quantity.MatchString(number) {
			n, ok := new(big.Rat).SetString(strings.TrimPrefix(number, "+"))
			if !ok {
				return nil, false
			}
			return n.Mul(n, times), true
		}
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 4 {
		return nil, false // nobody has that much
	}
	return new(big.Rat).SetString(strings.TrimPrefix(text, "+"))
}

func isCIDR(text string) bool {
	_, err := netip.ParsePrefix(text)
	return err == nil
}

func isAbsolute(path string) bool { return strings.HasPrefix(path, "/") }

func notation(m node, say sayProse) (applies bool) {
	look := func(at string, n node, right func(string) bool, what string) {
		if text, ok := n.text(); ok {
			applies = true
			if !right(text) {
				say(at, what, quote(text))
			}
		}
	}
	const amount, network, path = "a resource quantity, e.g. 2Gi", "an address with a prefix length, e.g. 10.0.2.0/24", "a path that begins with /"
	for _, at := range []string{"/spec/domain/memory/guest", "/spec/domain/memory/hugepages/pageSize"} {
		look(at, m.at(at), quantity.MatchString, amount)
	}
	for at, volume := range m.each("/spec/volumes") {
		look(at+"/emptyDisk/capacity", volume.at("/emptyDisk/capacity"), quantity.MatchString, amount)
		look(at+"/hostDisk/path", volume.at("/hostDisk/path"), isAbsolute, path)
	}
	for at, n := range m.each("/spec/networks") {
		look(at+"/pod/vmNetworkCIDR", n.at("/pod/vmNetworkCIDR"), isCIDR, network)
	}
	return applies
}

func labelSyntax(m node, say sayProse) bool {
	const at = "/metadata/labels"
	labels, _ := m.at(at).value.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if !isLabelKey(key) {
			say(at, "a key that a label may have", quote(key))
		}
		if value, ok := labels[key].(string); ok && !isLabelValue(value) {
			say(at, "a value that a label may have", quote(value))
		}
	}
	return len(labels) > 0
}

func phaseHistory(m node, say sayProse) (applies bool) {
	phase, ok := m.at("/status/phase").text()
	last, at := "", ""
	for pointer, entry := range m.each("/status/phaseTransitionTimestamps") {
		last, _ = entry.at("/phase").text()
		at = pointer
	}
	if applies = ok && at != ""; applies && last != phase {
		say(at+"/phase", "the phase "+quote(phase), quote(last))
	}
	return applies
}
