package server_test

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/recorded/differences.txt anew; what has no reason yet is put under [unexplained]")

// What a Kubernetes API server was recorded to answer, this one answers. Where it does
// not, testdata/recorded/differences.txt says so, with the line of DIFFERENCES.md that
// has the reason. A difference that is not listed fails, and so does one that is listed
// and is none.
func TestRecorded(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(recordedDir, "[01]*.txt"))
	require.NoError(t, err)
	require.Len(t, files, 13)
	listed := readDifferences(t)
	found := &differences{}
	t.Run("files", func(t *testing.T) {
		for _, f := range files {
			name := strings.TrimSuffix(filepath.Base(f), ".txt")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				replayFile(t, name, found)
			})
		}
	})
	if *update {
		found.merge(listed).write(t)
		return
	}
	found.compare(t, listed)
}

func replayFile(t *testing.T, name string, found *differences) {
	p := newReplay(t, name != "12-no-anonymous")
	read := readRecordings
	if name == "11-kubectl" {
		read = readCommands
	}
	all := read(t, name)
	if name > "00-setup" {
		p.setUp(name)
	}
	for _, r := range all {
		if happens := between[r.title]; happens != nil {
			p.slow.Wait()
			happens(p)
		}
		p.ask(r)
	}
	p.slow.Wait()
	var places []place
	for _, r := range all {
		texts, compared := p.found.Load(r.id)
		require.True(t, compared, "%s", r)
		for _, text := range texts.([]string) {
			places = append(places, place{exchange: r.String(), text: text})
		}
	}
	found.add(name, places)
}
