package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// childArgument is the first argument of this program when it is one of the sides.
const childArgument = "child"

// roundsInTurn is how often a side does its work before it is another's turn.
const roundsInTurn = 3

// usage is what one thing took.
type usage struct {
	CPU       float64 // ms, of all threads
	Allocated float64 // MB
	Peak      float64 // MB of heap above what there was before
}

// ask runs each side in a process of its own, against a fleet, and returns the medians of
// what they took. They take turns, as a machine is not as fast at one time as at another.
func (b *bench) ask(ctx context.Context, machines int, sides ...string) (map[string]usage, error) {
	f, err := newFleet(machines)
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(f)
	defer server.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	rounds := map[string][]usage{}
	for range b.turns {
		for _, side := range sides {
			cmd := exec.CommandContext(ctx, self, childArgument, side, server.URL, strconv.Itoa(machines), strconv.Itoa(roundsInTurn))
			cmd.Stderr = b.log
			out, err := cmd.Output()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side, err)
			}
			var taken []usage
			if err := json.Unmarshal(out, &taken); err != nil {
				return nil, fmt.Errorf("%s: %w", side, err)
			}
			rounds[side] = append(rounds[side], taken...)
		}
	}
	took := map[string]usage{}
	for side, taken := range rounds {
		took[side] = usage{
			CPU:       median(taken, func(u usage) float64 { return u.CPU }),
			Allocated: median(taken, func(u usage) float64 { return u.Allocated }),
			Peak:      median(taken, func(u usage) float64 { return u.Peak }),
		}
	}
	return took, nil
}

func median(all []usage, of func(usage) float64) float64 {
	var values []float64
	for _, u := range all {
		values = append(values, of(u))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// runChild is this program as a side: it does the same a number of times and writes
// what each took. The first time, which sets up connections and types, does not count.
func runChild(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 4 || sides[args[0]] == nil {
		return fmt.Errorf("no side is called %q", args)
	}
	machines, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	rounds, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	do, err := sides[args[0]](args[1])
	if err != nil {
		return err
	}
	taken := []usage{}
	for range rounds + 1 {
		u, err := take(func() error {
			seen, err := do(ctx)
			if err == nil && seen != machines {
				err = fmt.Errorf("%d machines run, not %d", seen, machines)
			}
			return err
		})
		if err != nil {
			return err
		}
		taken = append(taken, u)
	}
	return json.NewEncoder(stdout).Encode(taken[1:])
}

// take measures what something takes, collection of its garbage included as far as it
// falls into its time.
func take(do func() error) (usage, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	highest := make(chan uint64)
	go watchHeap(done, highest)
	begin := cpuTime()
	err := do()
	cpu := cpuTime() - begin
	close(done)
	peak := max(<-highest, before.HeapAlloc)
	runtime.ReadMemStats(&after)
	return usage{
		CPU:       float64(cpu) / 1e6,
		Allocated: float64(after.TotalAlloc-before.TotalAlloc) / 1e6,
		Peak:      float64(peak-before.HeapAlloc) / 1e6,
	}, err
}

// watchHeap notes the most that the heap has, what is garbage in it included, a thousand
// times a second.
func watchHeap(done <-chan struct{}, highest chan<- uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for most := uint64(0); ; {
		metrics.Read(sample)
		most = max(most, sample[0].Value.Uint64())
		select {
		case <-done:
			highest <- most
			return
		case <-tick.C:
		}
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails for a bad argument only
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
