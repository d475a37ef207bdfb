// Package managedfields keeps account of who owns which field of an object, and
// merges what is applied, as a Kubernetes API server does for custom resources
// (Kubernetes documentation, "Server-Side Apply").
//
// A server asks it once for each write. After a POST, a PUT or another patch
//
//	fields, err := managedfields.VirtualMachineInstance.Update(live, object, write)
//
// is what metadata.managedFields of the new object has to be. For an apply patch
//
//	object, err := managedfields.VirtualMachineInstance.Apply(live, applied, write, force)
//
// is the whole new object, or [Conflicts] with other managers.
//
// Objects go in and come out as JSON. Numbers keep their spelling, and fields that
// no schema names are kept and have owners like others. Nothing else is looked at:
// not what values mean, nor the versions of objects, which are the server's.
package managedfields
