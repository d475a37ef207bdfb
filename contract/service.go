package contract

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// subjectService is what is told of a run by the way.
const subjectService = "service"

func serviceChecks() []Check {
	return []Check{
		{
			ID:      "service.latency",
			Clause:  Clause{0, "a request is answered in time"},
			Explain: "Slow answers are no fault by themselves, and some are a fault to somebody: how slow is too slow is for the user to say.",
			run:     latency,
		}, {
			ID:      "service.flaky",
			Clause:  Clause{0, "a request is answered at the first try"},
			Explain: "Answers that come at the second try only cost every client time, and those that do not try again their work.",
			run:     flaky,
		},
	}
}

// An answer is an outlier when it takes so many times longer than the median, and
// longer than this at all.
const (
	outlierFactor = 20
	outlierFloor  = 200 * time.Millisecond
	maxOutliers   = 3
)

func latency(_ context.Context, r *run) (verdict, error) {
	all := slices.Clone(r.caller.timings)
	if len(all) == 0 {
		return notExercised("nothing was answered"), nil
	}
	slices.SortStableFunc(all, func(a, b timing) int { return int(b.took - a.took) })
	median, slowest := all[len(all)/2].took, all[0].took
	v := passed("%s: half of them within %s, 99%% within %s, all within %s",
		number(len(all), "answer"), short(median), short(all[len(all)/100].took), short(slowest))
	for _, t := range all[:min(maxOutliers, len(all))] {
		if t.took > max(outlierFactor*median, outlierFloor) {
			v.notes = append(v.notes, fmt.Sprintf("slow: %s for %s", short(t.took), t.curl))
		}
	}
	if limit := r.config.maxLatency; limit > 0 {
		for _, t := range all {
			if t.took > limit {
				v.add(r, Finding{Outcome: Fail, Message: "an answer takes too long", Expected: "at most " + short(limit), Got: short(t.took), Curl: t.curl})
			}
		}
	}
	return v, nil
}

// short is a duration with three digits at most.
func short(d time.Duration) string {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

func flaky(_ context.Context, r *run) (verdict, error) {
	again := 0
	var kinds []string
	for _, what := range slices.Sorted(maps.Keys(r.caller.hiccups)) {
		again += r.caller.hiccups[what]
		kinds = append(kinds, fmt.Sprintf("%s: %d", what, r.caller.hiccups[what]))
	}
	if r.caller.sent == 0 {
		return notExercised("nothing was asked"), nil
	}
	share := float64(again) / float64(r.caller.sent)
	v := passed("%d of %s had to be asked again", again, number(r.caller.sent, "request"))
	if again > 0 {
		v.notes = append(v.notes, "asked again after "+strings.Join(kinds, ", "))
	}
	if r.config.hiccupsGiven && share > r.config.maxHiccups {
		v.add(r, Finding{
			Outcome: Fail, Message: "too many requests are not answered at the first try",
			Expected: fmt.Sprintf("at most %.4g%%", 100*r.config.maxHiccups), Got: fmt.Sprintf("%.4g%%", 100*share),
		})
	}
	return v, nil
}
