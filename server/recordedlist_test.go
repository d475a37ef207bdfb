package server_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// differences are the places where our answers differ, by their reasons.
type differences struct {
	mu      sync.Mutex
	head    string   // what stands above the first reason
	files   []string // that were compared; -run may leave some out
	reasons []string
	places  []place
}

// place is one difference of one exchange.
type place struct {
	reason   string
	exchange string // as it is listed, its id the first word
	text     string // e.g. status: 200 -> 400
}

func (p place) id() string { id, _, _ := strings.Cut(p.exchange, " "); return id }

// what is compared, without what was found.
func (p place) what() string { what, _, _ := strings.Cut(p.text, ": "); return p.id() + " " + what }

// add takes what was found in a file.
func (d *differences) add(file string, places []place) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.files = append(d.files, file)
	d.places = append(d.places, places...)
}

// in reports whether a place is in a file that was compared.
func (d *differences) in(p place) bool {
	file, _, _ := strings.Cut(p.id(), "/")
	return slices.Contains(d.files, file)
}

const (
	// unexplained is the reason of what somebody has to find one for.
	unexplained = "unexplained"
	// noCluster begins the reasons that DIFFERENCES.md does not have, since the
	// recorded server is at fault there: it stood alone, without a cluster.
	noCluster = "recorded without a cluster: "
)

var listFile = filepath.Join(recordedDir, "differences.txt")

// readDifferences reads the list. A reason is in brackets, an exchange below it at the
// beginning of a line, and what differs in it indented.
func readDifferences(t *testing.T) *differences {
	t.Helper()
	data, err := os.ReadFile(listFile)
	require.NoError(t, err)
	d := &differences{}
	reason, exchange := "", ""
	for n, line := range strings.Split(string(data), "\n") {
		switch {
		case reason == "" && !strings.HasPrefix(line, "["):
			d.head += line + "\n"
		case line == "":
		case strings.HasPrefix(line, "["):
			reason, exchange = strings.TrimSuffix(line[1:], "]"), ""
			require.NotContains(t, d.reasons, reason, "%s:%d: twice", listFile, n+1)
			d.reasons = append(d.reasons, reason)
		case strings.HasPrefix(line, "    "):
			require.NotEmpty(t, exchange, "%s:%d: in no exchange", listFile, n+1)
			d.places = append(d.places, place{reason, exchange, line[4:]})
		default:
			exchange = line
		}
	}
	d.head = strings.TrimRight(d.head, "\n")
	return d
}

// compare fails for what is found and not listed, and for what is listed and not
// found.
func (d *differences) compare(t *testing.T, listed *differences) {
	t.Helper()
	rows := differenceRows(t)
	for _, r := range listed.reasons {
		assert.True(t, slices.Contains(rows, r) || strings.HasPrefix(r, noCluster),
			"%s: [%s] is the beginning of no line of DIFFERENCES.md", listFile, r)
		assert.True(t, slices.ContainsFunc(listed.places, func(p place) bool { return p.reason == r }), "%s: [%s] is the reason of nothing", listFile, r)
	}
	for _, p := range d.places {
		if !listed.has(p) {
			t.Errorf("differs, and is not in %s:\n%s\n    %s", listFile, p.exchange, p.text)
		}
	}
	for _, p := range listed.places {
		if d.in(p) && !d.has(p) {
			t.Errorf("is in %s, and does not differ (any more, or in this way):\n%s\n    %s", listFile, p.exchange, p.text)
		}
	}
}

func (d *differences) has(p place) bool {
	return slices.ContainsFunc(d.places, func(q place) bool { return q.id() == p.id() && q.text == p.text })
}

// merge gives what was found the reasons that it has in a list. Another difference of
// an exchange that has one needs a reason of its own.
func (d *differences) merge(listed *differences) *differences {
	reasons := make(map[string]string)
	for _, p := range listed.places {
		reasons[p.what()] = p.reason
	}
	for i, p := range d.places {
		d.places[i].reason = cmp.Or(reasons[p.what()], unexplained)
	}
	for _, p := range listed.places {
		if !d.in(p) {
			d.places = append(d.places, p)
		}
	}
	d.head = listed.head
	d.reasons = append(listed.reasons, unexplained)
	return d
}

func (d *differences) write(t *testing.T) {
	t.Helper()
	// Subtests end in any order.
	slices.SortStableFunc(d.places, func(a, b place) int {
		afile, anum, _ := strings.Cut(a.id(), "/")
		bfile, bnum, _ := strings.Cut(b.id(), "/")
		return cmp.Or(cmp.Compare(afile, bfile), cmp.Compare(number(t, anum), number(t, bnum)))
	})
	out := d.head + "\n"
	for i, reason := range d.reasons {
		exchange := ""
		if slices.Contains(d.reasons[:i], reason) {
			continue
		}
		for _, p := range d.places {
			if p.reason != reason {
				continue
			}
			if exchange == "" {
				out += fmt.Sprintf("\n[%s]\n", reason)
			}
			if p.exchange != exchange {
				exchange = p.exchange
				out += exchange + "\n"
			}
			out += "    " + p.text + "\n"
		}
	}
	require.NoError(t, os.WriteFile(listFile, []byte(out), 0o644))
}

// differenceRows are the first cells of the tables of DIFFERENCES.md.
func differenceRows(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("DIFFERENCES.md")
	require.NoError(t, err)
	var rows []string
	// A row that follows the line below the head of a table, or another row.
	body := regexp.MustCompile(`(?m)^\|(---\|)+\n((?:\|.*(?:\n|$))+)`)
	first := regexp.MustCompile(`(?m)^\| (.+?) \| `)
	for _, table := range body.FindAllStringSubmatch(string(data), -1) {
		for _, m := range first.FindAllStringSubmatch(table[2], -1) {
			rows = append(rows, m[1])
		}
	}
	require.NotEmpty(t, rows)
	return rows
}
