package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"github.com/vmikit/vmikit/manifest"
	"github.com/vmikit/vmikit/openapi"
	"github.com/vmikit/vmikit/server"
	"github.com/vmikit/vmikit/server/store"
)

// loadCounts is what came of the objects that were read.
type loadCounts struct{ loaded, skipped, refused, unreadable int }

// String is the summary. What went wrong is in it only if something did.
func (c loadCounts) String() string {
	s := fmt.Sprintf("loaded %d, skipped %d", c.loaded, c.skipped)
	if c.refused > 0 {
		s += fmt.Sprintf(", refused %d", c.refused)
	}
	if c.unreadable > 0 {
		s += fmt.Sprintf(", could not read %d", c.unreadable)
	}
	return s
}

// bad reports whether something that was given is not there now.
func (c loadCounts) bad() bool { return c.refused+c.unreadable > 0 }

// loader puts objects into a store and tells of those that it does not.
type loader struct {
	writer  *server.Writer
	console *console
	counts  loadCounts
	// warnings are those of the object that is being taken.
	warnings openapi.Issues
	// places is where each object came from.
	places map[store.Key]string
}

func newLoader(st store.Store, options []server.Option, c *console) (*loader, error) {
	l := &loader{console: c, places: make(map[store.Key]string)}
	collect := server.WithWarnings(func(_ store.Key, warning openapi.Issue) { l.warnings = append(l.warnings, warning) })
	var err error
	l.writer, err = server.NewWriter(st, append(options[:len(options):len(options)], collect)...)
	return l, err
}

// progressAfter is how long loading takes before it is told that it goes on.
const progressAfter = time.Second

// load takes the objects in their order. It fails when ctx ends and when a file
// that was named does not exist; all else is a line for people and a count.
func (l *loader) load(ctx context.Context, objects iter.Seq2[*manifest.Object, error]) error {
	watched := l.console.terminal()
	next := time.Now().Add(progressAfter)
	shown := false
	for object, err := range readAhead(ctx, objects) {
		if watched && time.Now().After(next) {
			l.console.progress(fmt.Sprintf("loading: %s", l.counts))
			next, shown = time.Now().Add(progressAfter/4), true
		}
		switch {
		case err == nil:
			err = l.take(ctx, object)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errInterrupted):
			l.counts.unreadable++
			l.console.say("%s", err)
			err = nil
		}
		if err != nil {
			return fmt.Errorf("--load: %w", err)
		}
	}
	if shown {
		l.console.progress("")
	}
	return nil
}

// take puts one object into the store. The error is that of the store.
func (l *loader) take(ctx context.Context, o *manifest.Object) error {
	at := fmt.Sprintf("%s:%d", o.File, o.Line)
	if !isMachine(o) {
		l.counts.skipped++
		l.console.say("%s: skipped %s", at, nameOf(o))
		return nil
	}
	l.warnings = nil
	created, err := l.writer.Create(ctx, o.JSON)
	tell(l.console.warn, o, l.warnings)
	if err == nil {
		l.counts.loaded++
		l.places[created.Key] = at
		return nil
	}
	if invalid, ok := errors.AsType[*server.InvalidError](err); ok {
		l.counts.refused++
		tell(l.console.say, o, invalid.Issues)
		return nil
	}
	if errors.Is(err, store.ErrExists) {
		l.counts.refused++
		key := store.Key{Namespace: cmp.Or(o.Namespace, "default"), Name: o.Name}
		l.console.say("%s: %s is there already, from %s", at, nameOf(o), l.places[key])
		return nil
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	return fmt.Errorf("%s: %w", at, err)
}

// tell prints a line for each issue of an object.
func tell(line func(format string, args ...any), o *manifest.Object, issues openapi.Issues) {
	lines := linesOf(o, issues)
	for i, issue := range issues {
		line("%s", issueLine(o.File, lines[i], issue))
	}
}
