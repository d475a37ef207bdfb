package server

import (
	"fmt"
	"time"
)

// age is the time since an object was made, in the words of kubectl's AGE
// column: one or two units, finer for the young.
func age(created, now time.Time) string {
	if created.IsZero() {
		return "<unknown>"
	}
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	d := now.Sub(created)
	switch {
	case d < -time.Second:
		return "<invalid>"
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", int(d/time.Second))
	case d < 10*time.Minute:
		return two(d, time.Minute, "m", time.Second, "s")
	case d < 3*time.Hour:
		return fmt.Sprintf("%dm", int(d/time.Minute))
	case d < 8*time.Hour:
		return two(d, time.Hour, "h", time.Minute, "m")
	case d < 2*day:
		return fmt.Sprintf("%dh", int(d/time.Hour))
	case d < 8*day:
		return two(d, day, "d", time.Hour, "h")
	case d < 2*year:
		return fmt.Sprintf("%dd", int(d/day))
	case d < 8*year:
		return two(d, year, "y", day, "d")
	}
	return fmt.Sprintf("%dy", int(d/year))
}

func two(d, big time.Duration, bigName string, small time.Duration, smallName string) string {
	rest := d % big / small
	if rest == 0 {
		return fmt.Sprintf("%d%s", int(d/big), bigName)
	}
	return fmt.Sprintf("%d%s%d%s", int(d/big), bigName, int(rest), smallName)
}
