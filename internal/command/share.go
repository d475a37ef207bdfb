package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// share is a flag of a part of a whole, written as a percentage or a fraction.
type share float64

func (s *share) String() string {
	if *s == 0 {
		return "" // no default is shown then
	}
	return fmt.Sprintf("%.4g%%", 100*float64(*s))
}

func (s *share) Type() string { return "percentage" }

func (s *share) Set(text string) error {
	number, percent := strings.CutSuffix(text, "%")
	value, err := strconv.ParseFloat(number, 64)
	if percent {
		value /= 100
	}
	if err != nil || !(value >= 0 && value <= 1) {
		return errors.New("must be a percentage from 0% to 100%, or a fraction from 0 to 1")
	}
	*s = share(value)
	return nil
}
