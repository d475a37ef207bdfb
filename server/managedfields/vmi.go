package managedfields

// VirtualMachineInstance has what KubeVirt's CustomResourceDefinition marks with
// x-kubernetes-list-type map or set and x-kubernetes-map-type atomic
// (github.com/kubevirt/kubevirt at d923fdb8,
// pkg/virt-operator/resource/generate/components/validations_generated.go), as far
// as it makes a difference: what is in a list with one owner has no owners, so
// atomic objects in there are not named. A test holds this table to the definition.
var VirtualMachineInstance = NewSchema("VirtualMachineInstance",
	[]string{"kubevirt.io/v1", "kubevirt.io/v1alpha3"},
	// It has one owner with all that is around it, but refuses duplicates.
	Rule{Path: "spec.accessCredentials[].sshPublicKey.propagationMethod.qemuGuestAgent.users", Set: true},
	Rule{Path: "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution", Atomic: true},
	Rule{Path: "spec.resourceClaims", Keys: []string{"name"}},
	Rule{Path: "spec.topologySpreadConstraints", Keys: []string{"topologyKey", "whenUnsatisfiable"}},
	Rule{Path: "spec.topologySpreadConstraints[].labelSelector", Atomic: true},
	Rule{Path: "spec.utilityVolumes", Keys: []string{"name"}},
)
