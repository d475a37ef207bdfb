package admission

import (
	"encoding/json"
	"math"
	"math/big"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// quantity is an amount as Kubernetes writes it: 1.5, 100m, 64Mi, 1e9.
type quantity struct {
	// text is the amount as it was written, "0" where there is none.
	text  string
	value *big.Rat
}

var (
	zero = quantity{"0", new(big.Rat)}
	// quantityForm has the sign, the digits before and behind the point, and the suffix.
	quantityForm = regexp.MustCompile(`^([+-]?)([0-9]*)(?:\.([0-9]*))?([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$`)
	// anySuffix is an amount with a suffix that need not be one.
	anySuffix = regexp.MustCompile(`^[+-]?[0-9]*(\.[0-9]*)?[eEinumkKMGTP]*[-+]?[0-9]*$`)
	suffixes  = map[string]*big.Rat{
		"": big.NewRat(1, 1), "n": big.NewRat(1, 1e9), "u": big.NewRat(1, 1e6), "m": big.NewRat(1, 1e3),
		"k": big.NewRat(1e3, 1), "M": big.NewRat(1e6, 1), "G": big.NewRat(1e9, 1), "T": big.NewRat(1e12, 1),
		"P": big.NewRat(1e15, 1), "E": big.NewRat(1e18, 1),
		"Ki": big.NewRat(1<<10, 1), "Mi": big.NewRat(1<<20, 1), "Gi": big.NewRat(1<<30, 1), "Ti": big.NewRat(1<<40, 1),
		"Pi": big.NewRat(1<<50, 1), "Ei": big.NewRat(1<<60, 1),
	}
)

const (
	// maxDigits bounds what an amount costs to read. Digits beyond it are more than
	// anything has, or less than Kubernetes keeps (nine behind the point).
	maxDigits   = 40
	maxExponent = 40

	badQuantity = `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`
	badSuffix   = "unable to parse quantity's suffix"
)

// parseQuantity reads an amount. Kubernetes' own limits are not kept exactly: what is
// beyond 2^63 is more than any machine has either way.
func parseQuantity(s string) (quantity, bool) {
	s = strings.TrimSpace(s)
	m := quantityForm.FindStringSubmatch(s)
	if m == nil || s == "" {
		return zero, false
	}
	sign, whole, fraction, suffix := m[1], strings.TrimLeft(m[2], "0"), m[3], m[4]
	if len(whole) > maxDigits {
		whole = strings.Repeat("9", maxDigits)
	}
	fraction = fraction[:min(len(fraction), maxDigits)]
	// Digits around a point always are a number.
	value, _ := new(big.Rat).SetString("0" + whole + "." + fraction + "0")
	factor, known := suffixes[suffix]
	if !known {
		factor = powerOfTen(suffix[1:])
	}
	value.Mul(value, factor)
	if sign == "-" {
		value.Neg(value)
	}
	return quantity{s, value}, true
}

// powerOfTen is 10 to the power of a number that may have any length.
func powerOfTen(exponent string) *big.Rat {
	e, err := strconv.ParseInt(exponent, 10, 64)
	if err != nil && !strings.HasPrefix(exponent, "-") {
		e = maxExponent
	} else if err != nil {
		e = -maxExponent
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(min(max(e, -e), maxExponent)), nil)
	if e < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), power)
	}
	return new(big.Rat).SetInt(power)
}

// amount is a member that is a quantity, zero where it is none.
func amount(o map[string]any, name string) quantity {
	q, _ := toQuantity(o[name])
	return q
}

// toQuantity reads a quantity, which may be a bare number.
func toQuantity(v any) (quantity, bool) {
	switch v := v.(type) {
	case string:
		return parseQuantity(v)
	case json.Number:
		return parseQuantity(v.String())
	}
	return zero, false
}

func (q quantity) sign() int { return q.value.Sign() }

func (q quantity) cmp(other quantity) int { return q.value.Cmp(other.value) }

// whole is the amount in ones, rounded away from zero, at the limits of int64 beyond
// them.
func (q quantity) whole() int64 {
	n, rest := new(big.Int).QuoRem(q.value.Num(), q.value.Denom(), new(big.Int))
	n.Add(n, big.NewInt(int64(rest.Sign())))
	switch {
	case n.IsInt64():
		return n.Int64()
	case n.Sign() < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// binary writes a number of bytes as Kubernetes does: 4Gi, 1536Mi.
func binary(bytes int64) string {
	suffix := ""
	for _, next := range []string{"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"} {
		if bytes == 0 || bytes%1024 != 0 {
			break
		}
		bytes, suffix = bytes/1024, next
	}
	return strconv.FormatInt(bytes, 10) + suffix
}

// quantityProblem is what Kubernetes says of a text that is no amount.
func quantityProblem(s string) string {
	if s != "" && anySuffix.MatchString(s) {
		return badSuffix
	}
	return badQuantity
}

// quantitiesOf visits the amounts of a spec.
func quantitiesOf(spec map[string]any, visit func(o map[string]any, name string)) {
	domain := child(spec, "domain")
	for _, kind := range []string{"requests", "limits"} {
		resources := child(domain, "resources", kind)
		for name := range resources {
			visit(resources, name)
		}
	}
	visit(child(domain, "memory"), "guest")
	visit(child(domain, "memory"), "maxGuest")
	visit(child(domain, "memory", "reservedOverhead"), "addedOverhead")
	for _, volume := range items(spec, "volumes") {
		visit(child(volume, "emptyDisk"), "capacity")
		visit(child(volume, "hostDisk"), "capacity")
	}
}

// readable refuses amounts that are none, as the webhook does that cannot decode them.
func readable(object map[string]any) error {
	var err error
	quantitiesOf(child(object, "spec"), func(o map[string]any, name string) {
		if _, ok := toQuantity(o[name]); !ok && has(o, name) {
			text, _ := o[name].(string)
			err = &Refusal{Webhook: mutator, Code: http.StatusBadRequest, message: quantityProblem(text)}
		}
	})
	return err
}
