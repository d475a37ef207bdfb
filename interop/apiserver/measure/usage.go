package main

import (
	"slices"
	"time"
)

// usage is what answers took.
type usage struct {
	cpu   time.Duration // of the server
	bytes int64         // that the clients got
	took  []time.Duration
}

// perMB is the CPU time of the server for each MB that the clients got, in ms.
func (u usage) perMB() []float64 {
	return []float64{milliseconds(u.cpu) / (float64(max(u.bytes, 1)) / 1e6)}
}

// each is the median and the 99th percentile of what the clients waited, and the CPU
// time of the server for each answer, in ms.
func (u usage) each() []float64 {
	return []float64{milliseconds(quantile(u.took, 0.5)), milliseconds(quantile(u.took, 0.99)),
		milliseconds(u.cpu) / float64(max(len(u.took), 1))}
}

// quantile is a latency that so many of all do not pass, 0 when there are none. It
// sorts them.
func quantile(took []time.Duration, q float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[int(q*float64(len(took)-1))]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
