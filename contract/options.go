package contract

import (
	"errors"
	"fmt"
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
		if perSecond < 0 {
			return errors.New("the rate must not be negative")
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
		return known(ids)
	}
}

// WithSkip leaves out the checks with these IDs; see [WithOnly] for their form.
func WithSkip(ids ...string) Option {
	return func(c *config) error {
		c.skip = append(c.skip, ids...)
		return known(ids)
	}
}

func known(ids []string) error {
	for _, id := range ids {
		found := false
		for _, c := range Checks() {
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
		return false, "not among the checks that were asked for"
	case in(c.skip):
		return false, "switched off"
	}
	return true, ""
}
