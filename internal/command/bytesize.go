package command

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// byteSize is a flag with a number of bytes: 1048576 or, as Kubernetes writes
// quantities, 1Mi.
type byteSize int64

var byteUnits = []struct {
	suffix string
	bytes  int64
}{{"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}}

func (b *byteSize) String() string {
	for _, u := range byteUnits {
		if n := int64(*b); n != 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *byteSize) Type() string { return "bytes" }

func (b *byteSize) Set(s string) error {
	unit := int64(1)
	for _, u := range byteUnits {
		if number, ok := strings.CutSuffix(s, u.suffix); ok {
			s, unit = number, u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return errors.New("must be a number of bytes above zero, such as 1048576 or 1Mi")
	}
	*b = byteSize(n * unit)
	return nil
}
