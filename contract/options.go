package contract

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/vmikit/vmikit/openapi"
)

// Option changes how a run goes about its work.
type Option func(*config) error

type config struct {
	profile     openapi.Profile
	maxRequests int
	rate        float64
	rateGiven   bool
	timeout     time.Duration
	seed        uint64
	enumWarn    bool
	only, skip  []string

	exercised    float64
	known        []KnownFailure
	progress     func(Progress)
	probeMethods bool
	maxLatency   time.Duration
	maxHiccups   float64
	hiccupsGiven bool
	observing
	fuzzing
	writeConfig
}

func newConfig() *config {
	return &config{
		profile:     openapi.ProfileKubeVirt,
		maxRequests: 400,
		rate:        5,
		timeout:     30 * time.Second,
		seed:        1,
	}
}

// WithProfile chooses the document that the target is held to. The default is
// [openapi.ProfileKubeVirt]. Under [openapi.ProfileDocument] nothing is asked
// that the given document does not name.
func WithProfile(p openapi.Profile) Option {
	return func(c *config) error {
		parsed, err := openapi.ParseProfile(string(p))
		c.profile = parsed
		return err
	}
}

// WithMaxRequests bounds the number of requests, 400 by default. Checks that
// would need more ask a sample; those that find nothing left are not exercised.
func WithMaxRequests(n int) Option {
	return func(c *config) error {
		if n < 1 {
			return fmt.Errorf("at least one request must be allowed, got %d", n)
		}
		c.maxRequests = n
		return nil
	}
}

// WithRate bounds the requests per second; 0 is no bound. The default is 5, and
// no bound for a target on a loopback address.
func WithRate(perSecond float64) Option {
	return func(c *config) error {
		if !(perSecond >= 0) || math.IsInf(perSecond, 0) {
			return errors.New("the rate must be a number and not negative")
		}
		c.rate, c.rateGiven = perSecond, true
		return nil
	}
}

// WithTimeout bounds the time of one request, its body included, 30 seconds by
// default.
func WithTimeout(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return errors.New("the time-out must be positive")
		}
		c.timeout = d
		return nil
	}
}

// WithSeed chooses which sample is taken where not everything is asked. The
// default is 1; the report names the seed of its run.
func WithSeed(seed uint64) Option {
	return func(c *config) error {
		c.seed = seed
		return nil
	}
}

// WithEnumUnknownWarn makes a value of spec or status that is outside its closed
// list a warning. By default it is a failure.
func WithEnumUnknownWarn() Option {
	return func(c *config) error {
		c.enumWarn = true
		return nil
	}
}

// WithOnly runs the checks with these IDs and no others. An ID's first part
// alone, e.g. "selector", stands for all checks that begin with it. The schema
// checks judge what the others ask for, so alone they see nothing but lists.
func WithOnly(ids ...string) Option {
	return func(c *config) error {
		c.only = append(c.only, ids...)
		return knownIDs(ids)
	}
}

// WithSkip leaves out the checks with these IDs; see [WithOnly] for their form.
func WithSkip(ids ...string) Option {
	return func(c *config) error {
		c.skip = append(c.skip, ids...)
		return knownIDs(ids)
	}
}

// WithRequireExercised makes a run that tells too little no proof: of the checks
// that were not skipped at least this share, 0 to 1, must tell something. By
// default it is half, and one of those chosen with [WithOnly].
func WithRequireExercised(share float64) Option {
	return func(c *config) error {
		if !(share >= 0 && share <= 1) {
			return errors.New("the share of checks that must be exercised is between 0 and 1")
		}
		c.exercised = share
		return nil
	}
}

// WithProgress has a function called whenever a check begins and a request was
// answered, from the goroutine of the run.
func WithProgress(f func(Progress)) Option {
	return func(c *config) error {
		c.progress = f
		return nil
	}
}

// Progress says how far a run is.
type Progress struct {
	// Check is the ID of the check that runs, "" at the end.
	Check string
	// Done of so many Checks are done, with so many Failures.
	Done, Checks, Failures int
	// Requests of at most MaxRequests are sent.
	Requests, MaxRequests int
}

// WithProbeMethods also asks with methods that this API's document does not have,
// DELETE among them, always for a name that does not exist. By default nothing
// but GET and HEAD is sent.
func WithProbeMethods() Option {
	return func(c *config) error {
		c.probeMethods = true
		return nil
	}
}

// WithMaxLatency makes an answer that takes longer, its body included, a failure.
// By default slow answers are notes.
func WithMaxLatency(d time.Duration) Option {
	return func(c *config) error {
		if d <= 0 {
			return errors.New("the longest latency must be positive")
		}
		c.maxLatency = d
		return nil
	}
}

// WithMaxFlaky makes it a failure when more than this share, 0 to 1, of the
// requests are answered at the second try only: after a broken connection, or a
// status 429, 502, 503 or 504. By default they are a note.
func WithMaxFlaky(share float64) Option {
	return func(c *config) error {
		if !(share >= 0 && share <= 1) {
			return errors.New("the share of flaky requests is between 0 and 1")
		}
		c.maxHiccups, c.hiccupsGiven = share, true
		return nil
	}
}

func knownIDs(ids []string) error {
	for _, id := range ids {
		found := false
		for _, c := range everyCheck() {
			found = found || covers(id, c.ID)
		}
		if !found {
			return fmt.Errorf("no check %q", id)
		}
	}
	return nil
}

func covers(pattern, id string) bool {
	return pattern == id || strings.HasPrefix(id, pattern+".")
}

// Why a check that could be run is not.
const (
	notAskedFor = "not among the checks that were asked for"
	switchedOff = "switched off"
)

// chosen reports whether a check runs, and if not, why.
func (c *config) chosen(id string) (ok bool, why string) {
	in := func(patterns []string) bool {
		for _, p := range patterns {
			if covers(p, id) {
				return true
			}
		}
		return false
	}
	switch {
	case len(c.only) > 0 && !in(c.only):
		return false, notAskedFor
	case in(c.skip):
		return false, switchedOff
	}
	return true, ""
}
