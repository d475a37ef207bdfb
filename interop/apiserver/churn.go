package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Churn changes the fleet until ctx ends, as controllers and people do: labels
// most of all, annotations, and some machines are deleted and made anew under the
// same name, with another uid. At least half of the machines are there at any
// time. It returns how many changes it made, and an error when the server refused
// one. perSecond is what it tries; each change waits for the one before, which
// limits it to a hundred or so.
func (f *Fleet) Churn(ctx context.Context, perSecond float64) (int, error) {
	if len(f.present) == 0 {
		return 0, errors.New("churn: the fleet has no machine")
	}
	if !(perSecond > 0) {
		return 0, fmt.Errorf("churn: the rate must be positive, got %v", perSecond)
	}
	tick := time.NewTicker(max(time.Microsecond, time.Duration(float64(time.Second)/perSecond)))
	defer tick.Stop()
	// A change that was begun is ended, or nobody would know what there is.
	request := context.WithoutCancel(ctx)
	for changes := 0; ; changes++ {
		select {
		case <-ctx.Done():
			return changes, nil
		case <-tick.C:
			if err := f.change(request, changes); err != nil {
				return changes, fmt.Errorf("churn: %w", err)
			}
		}
	}
}

func (f *Fleet) change(ctx context.Context, n int) error {
	switch dice := f.random.IntN(10); {
	case dice < 2 && len(f.gone) > 0:
		return f.recreate(ctx)
	case dice < 4 && len(f.present) > len(f.gone)+1:
		return f.remove(ctx)
	case dice < 6:
		return f.patch(ctx, map[string]any{"annotations": map[string]any{"example.com/change": strconv.Itoa(n)}})
	default:
		return f.patch(ctx, map[string]any{"labels": drawChange(f.random)})
	}
}

func (f *Fleet) patch(ctx context.Context, metadata map[string]any) error {
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	id := f.present[f.random.IntN(len(f.present))]
	if _, err := f.client.Namespace(id.namespace).Patch(ctx, id.name, types.MergePatchType, body, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("patch %s/%s: %w", id.namespace, id.name, err)
	}
	return nil
}

func (f *Fleet) remove(ctx context.Context) error {
	id := take(&f.present, f.random.IntN(len(f.present)))
	if err := f.client.Namespace(id.namespace).Delete(ctx, id.name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("delete %s/%s: %w", id.namespace, id.name, err)
	}
	f.gone = append(f.gone, id)
	return nil
}

func (f *Fleet) recreate(ctx context.Context) error {
	id := take(&f.gone, f.random.IntN(len(f.gone)))
	machine, err := f.draw(id)
	if err != nil {
		return err
	}
	f.present = append(f.present, id)
	return f.create(ctx, machine)
}

// take removes an item; the order of the others does not matter.
func take(ids *[]identity, i int) identity {
	list := *ids
	id := list[i]
	list[i] = list[len(list)-1]
	*ids = list[:len(list)-1]
	return id
}
