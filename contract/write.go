package contract

import (
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/vmikit/vmikit/openapi"
)

// writeConfig is what a run is allowed to write.
type writeConfig struct {
	// writeNamespace is where; "" is nowhere.
	writeNamespace string
}

// A run that writes holds writeRequests of its requests back for that, and of these
// cleanUpRequests for what has to be removed at the end.
const (
	writeRequests   = 70
	cleanUpRequests = 15
)

var namespaceName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// WithWrite lets the run write, in one namespace, which must be there already. By
// default a run only reads, and the checks of the subject write are skipped.
// [openapi.ProfileDocument] has no writes, so [Run] refuses the two together.
//
// The run makes three machines. Each is named vmikit-contract-RUN-*, where RUN
// is random, has the label vmikit-contract=RUN and a nodeSelector that no node has
// (vmikit.io/contract-nowhere), so that nothing ever runs; it has no disk and no
// network. Only labels and annotations of these machines are changed. Before
// anything is made, dry runs find out whether the token may create and delete.
//
// What was made is deleted, by name and uid, when the checks are done and also when
// the context ends, the target breaks down or the requests are used up: a context
// that ends leaves ten seconds for it. A finalizer may delay a deletion, which is a
// note. What could not be removed is named in the result of write.cleanup, with the
// kubectl command that removes it. No other machine is ever written to.
//
// It takes about 60 requests, for which 70 are allowed on top of [WithMaxRequests].
// Cleaning up may take some beyond that. A watch
// runs beside the other requests, on a connection of its own: the transport of
// [Target.HTTPClient], where it is no [http.Transport], must allow two.
func WithWrite(namespace string) Option {
	return func(c *config) error {
		if !namespaceName.MatchString(namespace) {
			return fmt.Errorf("writing needs the name of a namespace, got %.80q", namespace)
		}
		c.writeNamespace = namespace
		return nil
	}
}

// mayWrite refuses to write where no document says how.
func (c *config) mayWrite() error {
	if c.writeNamespace != "" && c.profile == openapi.ProfileDocument {
		return errors.New("profile document has no writes: choose another profile to write")
	}
	return nil
}

var needWrite = Need{"leave to write (--write)", func(r *run) (Outcome, string) {
	return unless(r.writing != nil, Skipped, "not asked for (--write)")
}}

// writeChecks follow one machine from its dry run to its deletion. Each makes the
// machine if none before it did.
func writeChecks() []Check {
	needs := []Need{needConventions, needWrite}
	return []Check{
		{
			ID: "write.dry-run", Clause: Clause{0, "what is asked with dryRun=All is answered and not done"}, Needs: needs,
			Explain: "People try with a dry run what they do not dare; one that is carried out does the damage.",
			run:     writeDryRun,
		}, {
			ID: "write.create", Clause: Clause{0, "a create is answered with 201 and the object, which is there from then on, with uid, creationTimestamp and resourceVersion"}, Needs: needs,
			Explain: "What was created is there, as it was sent, for whoever reads next.",
			run:     writeCreate,
		}, {
			ID: "write.already-exists", Clause: Clause{0, "the create of a name that is taken is answered with 409 AlreadyExists and changes nothing"}, Needs: needs,
			Explain: "Controllers create and rely on being told that somebody else was quicker.",
			run:     withMachine(writeAgain),
		}, {
			ID: "write.generate-name", Clause: Clause{0, "generateName is the beginning of a name that is new each time"}, Needs: needs,
			Explain: "Who leaves the name to the server must get a new object each time.",
			run:     withMachine(writeGenerated),
		}, {
			ID: "write.namespace", Clause: clauseNamespace, Needs: needs,
			Explain: "What was created in a namespace is there, and nowhere else.",
			run:     withMachine(writeNamespace),
		}, {
			ID: "write.update", Clause: Clause{0, "a PUT changes the object, keeps its identity and moves its resourceVersion"}, Needs: needs,
			Explain: "Read, change, PUT is how every controller writes; it must neither lose the change nor make another object.",
			run:     withMachine(writeUpdate),
		}, {
			ID: "write.no-op", Clause: Clause{0, "a PUT that changes nothing keeps the resourceVersion"}, Needs: needs,
			Explain: "Controllers that PUT what is there already wake up every watcher, themselves included, where this counts as a change.",
			run:     withMachine(writeNothing),
		}, {
			ID: "write.conflict", Clause: Clause{0, "a write with an old resourceVersion is answered with 409 Conflict and changes nothing"}, Needs: needs,
			Explain: "This is the only lock there is: without it the changes of one writer undo those of another.",
			run:     withMachine(writeConflict),
		}, {
			ID: "write.merge-patch", Clause: Clause{0, "a merge patch changes what it names, removes what it sets to null and keeps the rest"}, Needs: needs,
			Explain: "kubectl label and annotate are merge patches, and the selectors of lists must see the new labels at once.",
			run:     withMachine(writeMergePatch),
		}, {
			ID: "write.json-patch", Clause: Clause{0, "a JSON patch is done whole or, when a test in it fails, not at all"}, Needs: needs,
			Explain: "A test in a JSON patch guards the rest of it; ignored, it guards nothing.",
			run:     withMachine(writeJSONPatch),
		}, {
			ID: "write.delete-precondition", Clause: Clause{0, "a delete with the uid of another object or an old resourceVersion is answered with 409 and deletes nothing"}, Needs: needs,
			Explain: "The uid keeps a late delete from hitting the next object of the same name, the resourceVersion one that somebody needs again.",
			run:     withMachine(writePrecondition),
		}, {
			ID: "write.delete", Clause: Clause{0, "a deleted object is gone, or says by its deletionTimestamp that it is about to be, and no update brings it back"}, Needs: needs,
			Explain: "What was deleted is no longer read, listed or there to be deleted again.",
			run:     withMachine(writeDelete),
		}, {
			ID: "write.watch", Clause: Clause{0, "a watch tells every change after its resourceVersion, once and in order"}, Needs: needs,
			Explain: "Controllers see the world through watches: an event that is missing, late by its order or there twice is a wrong world.",
			run:     withMachine(writeWatch),
		}, {
			ID: "write.watch-replay", Clause: Clause{0, "a watch from an earlier resourceVersion tells what has happened since"}, Needs: needs,
			Explain: "Whoever was disconnected takes up where he was; what the watch leaves out then is never learnt.",
			run:     withMachine(writeReplay),
		}, {
			ID: "write.watch-selector", Clause: Clause{0, "to a watch with a selector an object is added when it begins to match and deleted when it no longer does"}, Needs: needs,
			Explain: "A controller that watches by label must learn that an object has come under its care, and that it has left it.",
			run:     withMachine(writeWatchSelector),
		}, {
			ID: "write.watch-name", Clause: Clause{0, "to a watch with a fieldSelector for metadata.name all changes of that object are told, and of no other"}, Needs: needs,
			Explain: "kubectl wait and get -w of one object are such a watch.",
			run:     withMachine(writeWatchName),
		}, {
			ID: "write.watch-expired", Clause: Clause{0, "a watch from a resourceVersion that is too old says so, with 410 Expired"}, Needs: needs,
			Explain: "An informer that is told lists anew; one that is not told goes on with a world that is wrong, or asks forever.",
			run:     withMachine(writeExpired),
		}, {
			ID: "write.watch-timeout", Clause: Clause{0, "a watch ends when its timeoutSeconds are over"}, Needs: needs,
			Explain: "Informers ask for watches of a few minutes and begin anew, so that one that hangs is noticed; who waits until a time relies on the end.",
			run:     withMachine(writeWatchTimeout),
		}, {
			ID: checkCleanUp, Clause: Clause{0, "what a run made can be removed"}, Needs: needs,
			Explain: "The notes name what was made. What is named as left behind must be removed by hand.",
			run:     writeCleanUp,
		},
	}
}

const checkCleanUp = "write.cleanup"

// withMachine is a check that needs a machine of the run's own.
func withMachine(check func(context.Context, *writing, *made) (verdict, error)) func(context.Context, *run) (verdict, error) {
	return func(ctx context.Context, r *run) (verdict, error) {
		w := r.writing
		if s := w.gate(ctx); !s.ok {
			return s.blocked("write.dry-run"), s.err
		}
		if s := w.creation(ctx); !s.ok {
			return s.blocked("write.create"), s.err
		}
		v, err := check(ctx, w, w.machine)
		if denied, ok := errors.AsType[*deniedError](err); ok {
			if len(v.findings) == 0 {
				v.outcome = Skipped
			}
			v.message, err = denied.Error(), nil
		}
		return v, err
	}
}

// deniedError says that the token has no right to something that only a check of
// writes needs.
type deniedError struct{ text string }

func (e *deniedError) Error() string { return e.text }

// step is something that is done once, for whichever check comes first.
type step struct {
	done bool
	// ok says that the checks behind it can go on.
	ok      bool
	verdict verdict
	err     error
}

// blocked is the verdict of a check that cannot do without the step.
func (s *step) blocked(id string) verdict {
	switch s.verdict.outcome {
	case Skipped, NotExercised:
		return verdict{outcome: s.verdict.outcome, message: s.verdict.message}
	}
	return notExercised("there is no machine to write to, see %s", id)
}
