package server

import (
	"fmt"
	"unicode"

	"github.com/vmikit/vmikit/gen/vmi"
)

// fieldValidation is what becomes of fields that are unknown, or there twice.
type fieldValidation string

const (
	validateIgnore fieldValidation = "Ignore"
	validateWarn   fieldValidation = "Warn"
	validateStrict fieldValidation = "Strict"
)

// writeOptions are the parameters that all writes have, read and found right.
type writeOptions struct {
	dryRun     bool
	validation fieldValidation
	// manager owns the fields that the write changes.
	manager string
}

// maxManager is how long the name of a field manager may be, in bytes
// (k8s.io/apimachinery, FieldManagerMaxLength).
const maxManager = 128

// readWriteOptions checks the parameters of a write. kind is that of its options in
// Kubernetes, CreateOptions for one; the words are those of a Kubernetes API server.
func readWriteOptions(kind string, dryRun, validation, manager *string) (writeOptions, error) {
	var causes []vmi.StatusCause
	causes = append(causes, badDryRun(dryRun)...)
	if manager != nil {
		causes = append(causes, badManager(*manager)...)
	}
	o := writeOptions{dryRun: dryRun != nil, validation: validateWarn}
	switch v := fieldValidation(value(validation)); v {
	case "":
	case validateIgnore, validateWarn, validateStrict:
		o.validation = v
	default:
		causes = append(causes, vmi.StatusCause{
			Reason: "FieldValueNotSupported", Field: "fieldValidation",
			Message: fmt.Sprintf(`Unsupported value: %q: supported values: "", "Ignore", "Strict", "Warn"`, v),
		})
	}
	if len(causes) > 0 {
		return o, invalidOptions(kind, causes)
	}
	return o, nil
}

func badDryRun(dryRun *string) []vmi.StatusCause {
	if dryRun == nil || *dryRun == "All" {
		return nil
	}
	return []vmi.StatusCause{{
		Reason: "FieldValueNotSupported", Field: "dryRun",
		Message: fmt.Sprintf(`Unsupported value: [%q]: supported values: "All"`, *dryRun),
	}}
}

func badManager(manager string) []vmi.StatusCause {
	var causes []vmi.StatusCause
	if len(manager) > maxManager {
		causes = append(causes, vmi.StatusCause{
			Reason: "FieldValueTooLong", Field: "fieldManager", Message: fmt.Sprintf("Too long: may not be more than %d bytes", maxManager),
		})
	}
	for _, c := range manager {
		if !unicode.IsPrint(c) {
			return append(causes, vmi.StatusCause{
				Reason: "FieldValueInvalid", Field: "fieldManager",
				Message: fmt.Sprintf("Invalid value: %s: should only contain printable characters", quote(manager)),
			})
		}
	}
	return causes
}
