package contract

import (
	"bufio"
	"slices"
	"strings"
)

// String returns the violation as [Report.WriteText] shows it, under the ID of its
// check and what that stands on.
func (v Violation) String() string {
	var text strings.Builder
	b := bufio.NewWriter(&text)
	b.WriteString(v.Check.ID + "\n    " + v.Check.Clause.String() + "\n")
	writeFinding(b, v.Finding)
	b.Flush()
	return text.String()
}

// maxKinds bounds the kinds of faults that an observer keeps of one check: keys of
// objects stand in their messages, and it may run for weeks.
const maxKinds = 100

// merge adds a finding that is as reports show it, or counts it. fresh says that
// there was none like it.
func (fs *findings) merge(f Finding) (fresh bool) {
	for i := range *fs {
		have := &(*fs)[i]
		if have.Outcome != f.Outcome || have.Message != f.Message {
			continue
		}
		have.Count += f.Count
		for _, o := range f.Objects {
			if len(have.Objects) < maxExamples && !slices.Contains(have.Objects, o) {
				have.Objects = append(have.Objects, o)
			}
		}
		if len(f.Curl) < len(have.Curl) {
			have.Curl, have.Expected, have.Got = f.Curl, f.Expected, f.Got
			have.Diff, have.Exchange = f.Diff, f.Exchange
		}
		return false
	}
	if len(*fs) >= maxKinds {
		f.Message, f.Expected, f.Got, f.Diff = "more kinds of faults than are told", "", "", nil
		if !slices.ContainsFunc(*fs, func(have Finding) bool { return have.Message == f.Message && have.Outcome == f.Outcome }) {
			*fs = append(*fs, f)
			return true
		}
		return fs.merge(f)
	}
	f.Objects = slices.Clone(f.Objects)
	*fs = append(*fs, f)
	return true
}
