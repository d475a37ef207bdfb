package store

import (
	"errors"
	"fmt"
)

// What a store answers when it cannot do what it was asked. They come wrapped
// with the key or revision in question; test with [errors.Is].
var (
	// ErrNotFound: there is no object with this key.
	ErrNotFound = errors.New("not found")
	// ErrExists: there is an object with this key already.
	ErrExists = errors.New("already exists")
	// ErrConflict: the object is there, in another version than expected.
	ErrConflict = errors.New("the object has been modified")
	// ErrExpired: the state at this revision, or what changed after it, is no
	// longer held.
	ErrExpired = errors.New("revision expired")
)

// ExpiredError is an [ErrExpired] that says what is still held.
type ExpiredError struct {
	Requested int64
	// Oldest is the earliest revision after which all changes are known.
	Oldest int64
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("revision %d is no longer held, the oldest is %d", e.Requested, e.Oldest)
}

// Is reports whether it is another name of the error.
func (e *ExpiredError) Is(target error) bool { return target == ErrExpired }

// FutureRevisionError says that the store has not reached a revision yet.
type FutureRevisionError struct {
	Requested int64
	Current   int64
}

func (e *FutureRevisionError) Error() string {
	return fmt.Sprintf("revision %d is in the future, the store is at %d", e.Requested, e.Current)
}
