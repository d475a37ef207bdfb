package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
	"github.com/vmikit/vmikit/server/servertest"
)

// Fields of all real objects, one at a time, every fourth of each: nothing else becomes
// different.
func TestUpdateChangesOneFieldAndNoOther(t *testing.T) {
	count := 0
	for file, object := range corpus(t) {
		if !strings.Contains(object, `"metadata":`) {
			object = `{"metadata":{"name":"web"},` + object[1:]
		}
		s := newStore(t, object)
		c := serve(t, s.ServeHTTP)
		start := s.object
		for k := count % 4; ; k += 4 {
			s.object = set(t, start, "/metadata/resourceVersion", fmt.Sprint(s.revision))
			var pointer string
			var want any
			vm, err := c.Update(t.Context(), "vms", "web", func(v *vmi.VirtualMachineInstance) error {
				all := leaves(v)
				for k < len(all) && (all[k].pointer == "/kind" || all[k].pointer == "/metadata/resourceVersion") {
					k++
				}
				if k < len(all) {
					pointer, want = all[k].pointer, all[k].change()
				}
				return nil
			}, client.WriteOptions{})
			require.NoError(t, err, "%s %s", file, pointer)
			if pointer == "" {
				break
			}
			count++
			expected := set(t, set(t, start, pointer, want), "/metadata/resourceVersion", fmt.Sprint(s.revision))
			require.Equal(t, expected, parsed(t, string(vm.Raw)), "%s %s\n%s", file, pointer, s.patches[len(s.patches)-1])
		}
	}
	assert.Greater(t, count, 400)
}

// The same against the reference server, which checks what it stores and what it
// answers, and keeps books about who owns which field.
func TestUpdateAtTheReferenceServer(t *testing.T) {
	s := servertest.New(t)
	taken, count := 0, 0
	for file, object := range corpus(t) {
		whole, ok := parsed(t, object).(map[string]any)
		meta, _ := whole["metadata"].(map[string]any)
		if !ok || meta == nil {
			continue
		}
		delete(meta, "resourceVersion")
		meta["namespace"] = "vms"
		made, err := s.Client.Create(t.Context(), "vms", whole, client.WriteOptions{})
		if errors.Is(err, client.ErrInvalid) || errors.Is(err, client.ErrBadRequest) {
			continue
		}
		require.NoError(t, err, file)
		taken++
		for k := 0; ; k += 7 {
			var pointer string
			var want any
			vm, err := s.Client.Update(t.Context(), "vms", made.Name(), func(v *vmi.VirtualMachineInstance) error {
				if all := leaves(v); k < len(all) {
					pointer, want = all[k].pointer, all[k].change()
				}
				return nil
			}, client.WriteOptions{DryRun: true, FieldManager: "test", FieldValidation: "Ignore"})
			if pointer == "" {
				break
			}
			if err != nil { // the server has rules about most values
				assert.True(t, errors.Is(err, client.ErrInvalid) || errors.Is(err, client.ErrBadRequest), "%s %s: %v", file, pointer, err)
				continue
			}
			if serversOwn(pointer) {
				continue
			}
			count++
			assert.Equal(t, shown(t, set(t, parsed(t, string(made.Raw)), pointer, want)), shown(t, parsed(t, string(vm.Raw))), "%s %s", file, pointer)
		}
		require.NoError(t, s.Client.Delete(t.Context(), "vms", made.Name(), client.DeleteOptions{}))
	}
	assert.Greater(t, taken, 20)
	assert.Greater(t, count, 100)
}

// serversOwn are fields that a server sets, whatever a client wants there.
func serversOwn(pointer string) bool {
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields"} {
		if strings.HasPrefix(pointer, "/metadata/"+name) {
			return true
		}
	}
	return false
}

// shown is an object without what every write changes.
func shown(t testing.TB, object any) any {
	for _, name := range []string{"resourceVersion", "generation", "managedFields"} {
		if _, there := object.(map[string]any)["metadata"].(map[string]any)[name]; there {
			object = set(t, object, "/metadata/"+name, nil)
		}
	}
	return object
}

const full = `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance",
"metadata":{"name":"web","namespace":"vms","labels":{"a/b":"1","c~d":"2"},"finalizers":["x","y","z"],"new":{"kept":1.50}},
"spec":{"architecture":"arm64","terminationGracePeriodSeconds":0,
 "domain":{"cpu":{"cores":"4","sockets":2,"numa":{"kept":true}},"memory":{"guest":"1Gi"},
  "devices":{"disks":[
   {"name":"root","disk":{"bus":"virtio","pciAddress":"0:1"},"dedicatedIOThread":true},
   {"name":"seed","cdrom":{"bus":"sata","tray":"open"},"cache":"none"},
   {"name":"data","disk":{"bus":"virtio"},"serial":"d"}],
   "gpus":[{"name":"g"}]}},
 "volumes":null,
 "ioThreads":9007199254740993},
"status":{"phase":"Running","kept":{"deep":[1e400,null]},"interfaces":[
  {"ipAddress":"10.0.0.1","queueCount":1},{"ipAddress":"10.0.0.2","queueCount":2},{"ipAddress":"10.0.0.3","queueCount":3}]}}`

func TestUpdateKeepsWhatNoTypeNames(t *testing.T) {
	type view = vmi.VirtualMachineInstance
	for name, tc := range map[string]struct {
		change func(v *view)
		ops    string // without the guard
	}{
		"an element's field": {func(v *view) { v.Spec.Domain.Devices.Disks[1].Cdrom.Bus = "scsi" },
			`[{"op":"replace","path":"/spec/domain/devices/disks/1/cdrom/bus","value":"scsi"}]`},
		"an element goes": {func(v *view) { v.Spec.Domain.Devices.Disks = v.Spec.Domain.Devices.Disks[1:] },
			`[{"op":"remove","path":"/spec/domain/devices/disks/0"}]`},
		"elements change places, one is new, one goes, one changes": {func(v *view) {
			d := v.Spec.Domain.Devices.Disks
			d[2].Disk.Bus = "scsi"
			v.Spec.Domain.Devices.Disks = []vmi.Disk{d[2], {Name: "more"}, d[0]}
		}, `[{"op":"remove","path":"/spec/domain/devices/disks/1"},
			{"op":"move","from":"/spec/domain/devices/disks/1","path":"/spec/domain/devices/disks/0"},
			{"op":"add","path":"/spec/domain/devices/disks/1","value":{"name":"more"}},
			{"op":"replace","path":"/spec/domain/devices/disks/0/disk/bus","value":"scsi"}]`},
		"an element gets another name": {func(v *view) { v.Spec.Domain.Devices.Disks[1].Name = "init" },
			`[{"op":"replace","path":"/spec/domain/devices/disks/1/name","value":"init"}]`},
		"a nameless element goes, another changes": {func(v *view) {
			i := v.Status.Interfaces
			i[1].IPAddress = "10.0.0.9"
			v.Status.Interfaces = i[1:]
		}, `[{"op":"remove","path":"/status/interfaces/1"},{"op":"replace","path":"/status/interfaces/0/ipAddress","value":"10.0.0.9"}]`},
		"nameless elements change places": {func(v *view) {
			i := v.Status.Interfaces
			i[0], i[2] = i[2], i[0]
		}, `[{"op":"move","from":"/status/interfaces/2","path":"/status/interfaces/0"},
			{"op":"move","from":"/status/interfaces/2","path":"/status/interfaces/1"}]`},
		"a value Go cannot hold is replaced": {func(v *view) { v.Spec.Domain.CPU.Cores = 4 },
			`[{"op":"replace","path":"/spec/domain/cpu/cores","value":4}]`},
		"its neighbour is": {func(v *view) { v.Spec.Domain.CPU.Sockets = 3 },
			`[{"op":"replace","path":"/spec/domain/cpu/sockets","value":3}]`},
		"null becomes a list": {func(v *view) { v.Spec.Volumes = []vmi.Volume{{Name: "root"}} },
			`[{"op":"replace","path":"/spec/volumes","value":[{"name":"root"}]}]`},
		"a struct's last known field goes": {func(v *view) {
			v.Status.Phase, v.Status.Interfaces = "", nil
		}, `[{"op":"remove","path":"/status/interfaces"},{"op":"remove","path":"/status/phase"}]`},
		"a whole object goes": {func(v *view) { v.Spec.Domain.CPU = nil },
			`[{"op":"remove","path":"/spec/domain/cpu"}]`},
		"an object comes": {func(v *view) { v.Spec.Domain.Machine = &vmi.Machine{Type: "q35"} },
			`[{"op":"add","path":"/spec/domain/machine","value":{"type":"q35"}}]`},
		"keys that a pointer has to escape": {func(v *view) {
			delete(v.Metadata.Labels, "c~d")
			v.Metadata.Labels["a/b"] = "<&>"
		}, `[{"op":"remove","path":"/metadata/labels/c~0d"},{"op":"replace","path":"/metadata/labels/a~1b","value":"<&>"}]`},
		"strings": {func(v *view) { v.Metadata.Finalizers = []string{"w", "x", "z"} },
			`[{"op":"remove","path":"/metadata/finalizers/1"},{"op":"add","path":"/metadata/finalizers/0","value":"w"}]`},
		"the revision is not the caller's": {func(v *view) {
			v.Metadata.ResourceVersion = "1"
			v.Status.Phase = "Failed"
		}, `[{"op":"replace","path":"/status/phase","value":"Failed"}]`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, full)
			c := serve(t, s.ServeHTTP)
			_, err := c.Update(t.Context(), "vms", "web", func(v *view) error {
				tc.change(v)
				return nil
			}, client.WriteOptions{})
			require.NoError(t, err)
			require.Len(t, s.patches, 1)
			ops := parsed(t, s.patches[0]).([]any)
			assert.Equal(t, map[string]any{"op": "replace", "path": "/metadata/resourceVersion", "value": "8"}, ops[0])
			assert.Equal(t, parsed(t, tc.ops), any(ops[1:]))
		})
	}
}

// Whatever becomes of lists, the machine is what change has made of the view, and an
// element that is there still has what no type names.
func TestUpdateOfListsAtRandom(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := newStore(t, full)
		c := serve(t, s.ServeHTTP)
		var want *vmi.VirtualMachineInstance
		vm, err := c.Update(t.Context(), "vms", "web", func(v *vmi.VirtualMachineInstance) error {
			disks := &v.Spec.Domain.Devices.Disks
			*disks = shuffled(random, *disks, func(i int) vmi.Disk { return vmi.Disk{Name: fmt.Sprint("new", i)} },
				func(d *vmi.Disk) { d.BootOrder = 1 + random.IntN(3) })
			nics := &v.Status.Interfaces
			*nics = shuffled(random, *nics, func(i int) vmi.InterfaceStatus { return vmi.InterfaceStatus{Mac: fmt.Sprint("new", i)} },
				func(n *vmi.InterfaceStatus) { n.IPAddress = fmt.Sprint(random.IntN(4)) })
			texts := &v.Metadata.Finalizers
			*texts = shuffled(random, *texts, func(i int) string { return fmt.Sprint("new", i%2) }, func(s *string) { *s += "y" })
			want = v
			return nil
		}, client.WriteOptions{})
		require.NoError(t, err)
		got, _ := vm.View()
		want.Metadata.ResourceVersion = got.Metadata.ResourceVersion
		wantJSON, _ := json.Marshal(want)
		gotJSON, _ := json.Marshal(got)
		require.JSONEq(t, string(wantJSON), string(gotJSON), "%s", s.patches)
		for name, kept := range map[string]string{"root": `"dedicatedIOThread":true`, "seed": `"tray":"open"`, "data": `"serial":"d"`} {
			there := slices.ContainsFunc(got.Spec.Domain.Devices.Disks, func(d vmi.Disk) bool { return d.Name == name })
			require.Equal(t, there, strings.Contains(string(vm.Raw), kept), "%s\n%s", s.patches, vm.Raw)
		}
	}
}

// shuffled takes elements out, changes some, adds some and changes their places.
func shuffled[T any](random *rand.Rand, list []T, fresh func(int) T, change func(*T)) []T {
	list = slices.Clone(list)
	for i := range random.IntN(4) {
		switch random.IntN(4) {
		case 0:
			if len(list) > 0 {
				at := random.IntN(len(list))
				list = slices.Delete(list, at, at+1)
			}
		case 1:
			list = slices.Insert(list, random.IntN(len(list)+1), fresh(i))
		case 2:
			random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		case 3:
			if len(list) > 0 {
				change(&list[random.IntN(len(list))])
			}
		}
	}
	return list
}

func TestUpdateWithoutAChangeWritesNothing(t *testing.T) {
	s := newStore(t, full)
	c := serve(t, s.ServeHTTP)
	vm, err := c.Update(t.Context(), "vms", "web", func(*vmi.VirtualMachineInstance) error { return nil }, client.WriteOptions{})
	require.NoError(t, err)
	assert.Equal(t, "8", vm.ResourceVersion())
	assert.Empty(t, s.patches)
}

func TestUpdateEndsWithTheErrorOfChange(t *testing.T) {
	s := newStore(t, full)
	c := serve(t, s.ServeHTTP)
	no := errors.New("not this one")
	_, err := c.Update(t.Context(), "vms", "web", func(*vmi.VirtualMachineInstance) error { return no }, client.WriteOptions{})
	assert.ErrorIs(t, err, no)
	assert.EqualError(t, err, "update vmi vms/web: not this one")
	_, err = c.Update(t.Context(), "vms", "web", nil, client.WriteOptions{})
	assert.EqualError(t, err, "update vmi vms/web: the change has no function")
	assert.Empty(t, s.patches)
}

func TestUpdateOfWritersAtTheSameTimeLosesNoChange(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web"},"spec":{"domain":{"cpu":{"cores":1}}}}`))
	const writers, each = 4, 5
	var wg sync.WaitGroup
	failed := make(chan error, writers*each)
	for range writers {
		wg.Go(func() {
			for range each {
				_, err := s.Client.Update(t.Context(), "default", "web", func(v *vmi.VirtualMachineInstance) error {
					v.Spec.Domain.CPU.Cores++
					return nil
				}, client.WriteOptions{})
				if err != nil {
					failed <- err
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		assert.NoError(t, err)
	}
	vm, err := s.Client.Get(t.Context(), "default", "web")
	require.NoError(t, err)
	view, err := vm.View()
	require.NoError(t, err)
	assert.Equal(t, 1+writers*each, view.Spec.Domain.CPU.Cores)
}

// A list that has become shorter makes a server refuse the operation before it looks
// at the revision.
func TestUpdateSeesThatItWasOvertakenByARefusal(t *testing.T) {
	s := newStore(t, full)
	s.before = func(s *store) {
		s.put(set(t, s.object, "/spec/domain/devices/disks", []any{map[string]any{"name": "data"}}))
		s.before = nil
	}
	c := serve(t, s.ServeHTTP)
	vm, err := c.Update(t.Context(), "vms", "web", func(v *vmi.VirtualMachineInstance) error {
		disks := v.Spec.Domain.Devices.Disks
		disks[len(disks)-1].BootOrder = 1
		return nil
	}, client.WriteOptions{})
	require.NoError(t, err)
	assert.Len(t, s.patches, 2)
	assert.Contains(t, string(vm.Raw), `"disks":[{"bootOrder":1,"name":"data"}]`)
}

func TestUpdateGivesUp(t *testing.T) {
	s := newStore(t, full)
	s.before = func(s *store) { s.put(s.object) }
	c := serve(t, s.ServeHTTP)
	calls := 0
	_, err := c.Update(t.Context(), "vms", "web", func(v *vmi.VirtualMachineInstance) error {
		calls++
		v.Status.Phase = "Failed"
		return nil
	}, client.WriteOptions{})
	assert.ErrorIs(t, err, client.ErrConflict)
	assert.EqualError(t, err, "update vmi vms/web: the object has been modified (409)")
	assert.Equal(t, 10, calls)
}

func TestUpdateOfWhatTheServerRefusesIsTriedOnce(t *testing.T) {
	s := servertest.New(t, servertest.WithObjects(`{"metadata":{"name":"web"},"spec":{"domain":{}}}`))
	calls := 0
	_, err := s.Client.Update(t.Context(), "default", "web", func(v *vmi.VirtualMachineInstance) error {
		calls++
		v.Status.Phase = "Runing"
		return nil
	}, client.WriteOptions{})
	assert.ErrorIs(t, err, client.ErrInvalid)
	assert.Equal(t, 1, calls)
}
