// Package protobuf has no code of its own: its tests compare what internal/kubeproto
// makes of protobuf bodies with what Kubernetes' own types are as JSON.
package protobuf
