package main

import "time"

// size is how much is measured.
type size struct {
	// machines of the servers that are put beside each other.
	machines int
	// clients that list and get at the same time, and for how long. A list that was
	// begun is ended, and each client has one.
	clients int
	reading time.Duration
	// watchers that each of the patches is delivered to.
	watchers, patches int

	// pause is before each measure of each side: a processor that is shared with others
	// may do less after a minute of full work, and whose turn is later would pay for it.
	pause time.Duration

	// crowd is the watchers of a delivery test and delivering how long it lasts.
	crowd      int
	delivering time.Duration

	// fleet is the machines that are stored and paged through.
	fleet int
}

var (
	goals = size{
		machines: 10_000, clients: 16, reading: 10 * time.Second, watchers: 1000, patches: 50, pause: 10 * time.Second,
		crowd: 1000, delivering: 10 * time.Second,
		fleet: 100_000,
	}
	// small is for a look, and for a machine that does other things, too.
	small = size{
		machines: 500, clients: 16, reading: time.Second, watchers: 50, patches: 20,
		crowd: 100, delivering: 2 * time.Second,
		fleet: 5000,
	}
)
