// Package published has no code of its own: its tests read what package openapi
// publishes for /openapi/v3 with the code of Kubernetes' clients.
package published
