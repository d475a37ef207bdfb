package main

import (
	"fmt"
	"math"
)

// table puts what was measured in columns, a row as soon as it is known.
type table struct {
	*bench
}

const besideRow = "%-36s %10s %10s %8s %6s %-6s %10s %5s\n"

func (b *bench) besideTable() table {
	fmt.Fprintf(b.out, besideRow, "", vmikitName, apiServerName, "ratio", "goal", "", floorName, "load")
	return table{b}
}

// add writes figure i of what the sides have.
func (t table) add(f figure, i int, values map[string][]float64, load string) {
	shown := make(map[string]string)
	for name, v := range values {
		shown[name] = number(v[i])
	}
	var ratio, goal, verdict string
	if ours, theirs := values[vmikitName], values[apiServerName]; ours != nil && theirs != nil {
		ratio = "-"
		if ours[i] > 0 {
			ratio = "1/" + number(theirs[i]/ours[i])
		}
		if f.goal > 0 {
			goal, verdict = fmt.Sprintf("1/%.0f", 1/f.goal), t.met(ours[i] <= f.goal*theirs[i])
		}
	}
	fmt.Fprintf(t.out, besideRow, f.name, shown[vmikitName], shown[apiServerName], ratio, goal, verdict, shown[floorName], load)
}

// met says whether a goal is met. The goals are about their own size.
func (b *bench) met(yes bool) string {
	switch {
	case b.size != goals:
		return ""
	case yes:
		return "met"
	}
	return "missed"
}

// number has three digits that count.
func number(x float64) string {
	if x <= 0 || x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.*f", max(0, 2-int(math.Floor(math.Log10(x)))), x)
}
