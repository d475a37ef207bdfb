package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain is this program as one of its servers, too.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == childArgument {
		main()
		return
	}
	os.Exit(m.Run())
}

// tiny is to see that each figure is there. None is looked at: how long something
// takes is no matter for a test.
var tiny = size{
	machines: 20, clients: 2, reading: time.Millisecond, watchers: 5, patches: 2,
	crowd: 50, delivering: 200 * time.Millisecond, fleet: 1001,
}

func TestMeasureEverything(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	var out bytes.Buffer
	b := &bench{out: &out, log: os.Stderr, size: tiny}
	require.NoError(t, b.run(ctx, nil), "%s", &out)
	t.Log(out.String())

	for _, x := range measures {
		for _, f := range x.figures {
			row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(f.name) + ` .*$`).FindString(out.String())
			require.NotEmpty(t, row, f.name)
			cells := slices.DeleteFunc(strings.Fields(row[len(f.name):]), func(cell string) bool {
				_, err := strconv.ParseFloat(cell, 64)
				return err != nil
			})
			assert.Len(t, cells, len(x.on)+1, "a figure for each side, and the load: %s", row)
		}
	}
	// 4 writes to 50 watchers; 200 writes to one watcher each.
	assert.Len(t, regexp.MustCompile(`(?m)^.*(?:vmikit|floor) +200 +0 +0 .*$`).FindAllString(out.String(), -1), 4, "%s", &out)
	assert.Regexp(t, `(?m)^all of it in 3 pages of 500 over HTTP/2: `, out.String())
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"nosuch"}, {"-nosuch"}, {childArgument}, {childArgument, "nosuch"}} {
		var out bytes.Buffer
		assert.Error(t, run(context.Background(), args, bytes.NewReader(nil), &out, &out), "%q", args)
	}
}

// A watcher that is told of a write twice, late or never is noticed.
func TestHearing(t *testing.T) {
	const first = 11
	for _, test := range []struct {
		name            string
		heard           []int
		lost, misplaced int
	}{
		{"all", []int{0, 1, 2, 3}, 0, 0},
		{"one twice", []int{0, 1, 1, 2, 3}, -1, 1},
		{"two the wrong way round", []int{0, 2, 1, 3}, 0, 3},
		{"one lost", []int{0, 1, 3}, 1, 1},
		{"the last one lost", []int{0, 1, 2}, 1, 0},
	} {
		d := &delivering{delivery: delivery{perSecond: 1000}, s: &side{name: "x"}, first: first, count: 4, watchers: make([]hearing, 1)}
		for _, n := range test.heard {
			d.hear(0, first+n)
		}
		var out bytes.Buffer
		err := d.report(&bench{out: &out}, 0, 0, "0")
		if test.lost == 0 && test.misplaced == 0 {
			assert.NoError(t, err, test.name)
			continue
		}
		assert.ErrorContains(t, err, fmt.Sprintf("%d changes are lost and %d out of order", test.lost, test.misplaced), test.name)
	}
}

// The managed fields have the annotation's name, too.
func TestSequence(t *testing.T) {
	assert.Equal(t, 4711, sequenceIn([]byte(`{"f:annotations":{"f:example.com/sequence":{}}},"example.com/sequence":"4711","x":"1"}`)))
	assert.Equal(t, -1, sequenceIn([]byte(`{"f:example.com/sequence":{}}`)))
	assert.Equal(t, 7, sequenceIn([]byte(sequencePatch(7))))
}
