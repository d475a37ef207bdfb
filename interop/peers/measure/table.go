package main

import (
	"fmt"
	"math"
)

const rowFormat = "%-48s %10s %10s %8s %12s %s\n"

func (b *bench) heading() {
	fmt.Fprintf(b.out, rowFormat, "", "vmikit", "client-go", "ratio", "goal", "")
}

// goal is what a figure should be: at most a part of the other side's, or at most so
// much, or both; 0 is no goal.
type goal struct{ part, most float64 }

// row writes a figure of both sides; theirs is 0 where there is none.
func (b *bench) row(name string, ours, theirs float64, g goal) {
	var other, ratio, want, verdict string
	met := true
	if theirs > 0 {
		other, ratio = number(theirs), "-"
		if ours > 0 {
			ratio = "1/" + number(theirs/ours)
		}
	}
	if g.part > 0 {
		want = fmt.Sprintf("1/%.0f", 1/g.part)
		met = ours <= g.part*theirs
	}
	if g.most > 0 {
		if want != "" {
			want += ", "
		}
		want += "<= " + number(g.most)
		met = met && ours <= g.most
	}
	if want != "" {
		verdict = "missed"
		if met {
			verdict = "met"
		}
	}
	fmt.Fprintf(b.out, rowFormat, name, number(ours), other, ratio, want, verdict)
}

// number has three digits that count.
func number(x float64) string {
	if x <= 0 || x >= 100 || x == math.Trunc(x) {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.*f", max(0, 2-int(math.Floor(math.Log10(x)))), x)
}
