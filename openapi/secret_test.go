package openapi_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/openapi"
)

// Each text has hunter2 where something secret stands, and a fault there.
func TestNothingSecretInIssues(t *testing.T) {
	volume := func(s string) string { return vmi(`"spec":{"volumes":[{"name":"seed",` + s + `}]}`) }
	for name, text := range map[string]string{
		"user data that is an object":   volume(`"cloudInitNoCloud":{"userData":{"password":"hunter2"}}`),
		"user data that is an array":    volume(`"cloudInitConfigDrive":{"userData":["hunter2"]}`),
		"keys of user data":             volume(`"cloudInitNoCloud":{"userData":{"hunter2":1,"hunter2":1e999}}`),
		"network data, invalid UTF-8":   volume("\"cloudInitNoCloud\":{\"networkData\":\"hunter2\xff\"}"),
		"user data twice":               volume(`"cloudInitNoCloud":{"userData":"hunter2","userData":"hunter2"}`),
		"user data of another case":     volume(`"cloudInitNoCloud":{"USERDATA":"hunter2"}`),
		"base64 as another type":        volume(`"cloudInitNoCloud":{"userDataBase64":1e999,"UserData":"hunter2"}`),
		"cloud-init that is a string":   volume(`"cloudInitNoCloud":"hunter2"`),
		"a volume for a name":           vmi(`"spec":{"volumes":[{"name":{"cloudInitNoCloud":{"userData":"hunter2"}}}]}`),
		"a password":                    vmi(`"spec":{"password":1e999,"domain":{"password":{"hunter2":"a"},"cpu":"x"},"hostname":7}`),
		"user data in the wrong place":  vmi(`"status":{"phase":"#cloud-config\nchpasswd: hunter2"}`),
		"a script in the wrong place":   vmi(`"spec":{"domain":{"firmware":{"uuid":"#!/bin/sh\necho hunter2"}},"evictionStrategy":"#!hunter2"}}`),
		"a key in the wrong place":      vmi(`"spec":{"evictionStrategy":"-----BEGIN OPENSSH PRIVATE KEY-----hunter2"}`),
		"an ssh key in the wrong place": vmi(`"status":{"phase":"ssh-ed25519 hunter2"}`),
		"user data behind blanks":       vmi(`"status":{"phase":"  \t #cloud-config hunter2"}`),
		"user data behind line breaks":  vmi(`"status":{"phase":"\n\u000d\u0020#cloud-config hunter2"}`),
		"user data behind a mark":       vmi(`"status":{"phase":"\ufeff#Cloud-Config hunter2"}`),
		"user data below a comment":     vmi(`"status":{"phase":"## template: jinja\n#cloud-config\nhunter2"}`),
		"a password in the text":        vmi(`"status":{"phase":"ssh_pwauth: true\npassword: hunter2"}`),
		"a token in a shell":            vmi(`"status":{"phase":"export API_TOKEN=hunter2"}`),
		"a mark without a width":        vmi(`"status":{"phase":"\u200b#cloud-config hunter2"}`),
		"basic credentials":             vmi(`"status":{"phase":"Basic hunter2"}`),
		"gzip as base64":                vmi(`"status":{"phase":"H4sIhunter2"}`),
		"base64 in the wrong place":     vmi(`"status":{"phase":"I2Nsb3VkLWNvbmZpZwpodW50ZXIy hunter2"}`),
		"last-applied-configuration":    `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":["hunter2"]}}}`,
		"a token among the labels":      `{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"a","labels":{"api-token":{"a":"hunter2"}}}}`,
		"cut off inside":                `{"spec":{"volumes":[{"cloudInitNoCloud":{"userData":"hunter2`,
		"a wrong escape":                volume(`"cloudInitNoCloud":{"userData":"hunter2\x"}`),
		"a line break":                  volume("\"cloudInitNoCloud\":{\"userData\":\"hunter2\nhunter2\"}"),
		"no quotes":                     volume(`"cloudInitNoCloud":{"userData":hunter2}`),
		"single quotes":                 volume(`"cloudInitNoCloud":{"userData":'hunter2'}`),
		"a literal":                     volume(`"cloudInitNoCloud":{"userData":nullhunter2}`),
		"trailing":                      vmi() + `{"userData":"hunter2"}`,
		"trailing text":                 vmi() + `hunter2`,
		"a phase that is an object":     vmi(`"status":{"phase":{"token":"hunter2"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range openapi.Profiles() {
				issues := load(t, p).ValidateObject([]byte(text), openapi.Strict())
				require.NotEmpty(t, issues)
				told, err := json.Marshal(issues)
				require.NoError(t, err)
				assert.NotContains(t, string(told), "hunter2")
				assert.NotContains(t, issues.Error(), "hunter2")
			}
		})
	}
}

func TestPointersEndAtCloudInitData(t *testing.T) {
	text := vmi(`"spec":{"volumes":[{"name":"a","cloudInitNoCloud":{"userData":{"x":1,"x":2}},"sysprep":{"configMap":{"name":1}}}]}`)
	assert.Equal(t, []string{
		"/spec/volumes/0/cloudInitNoCloud/userData type",
		"/spec/volumes/0/cloudInitNoCloud/userData json-duplicate-key",
		"/spec/volumes/0/sysprep/configMap/name type",
	}, lines(load(t, openapi.ProfileKubeVirt).ValidateObject([]byte(text))))
}
