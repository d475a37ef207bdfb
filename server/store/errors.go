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

// FutureRevisionError says that the store has not reached a revision yet.
type FutureRevisionError struct {
	Requested int64
	Current   int64
}

func (e *FutureRevisionError) Error() string {
	return fmt.Sprintf("revision %d is in the future, the store is at %d", e.Requested, e.Current)
}
