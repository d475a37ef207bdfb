package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vmikit/vmikit/client"
	"github.com/vmikit/vmikit/gen/vmi"
)

var kinds = []error{
	client.ErrBadRequest, client.ErrUnauthorized, client.ErrForbidden, client.ErrNotFound,
	client.ErrConflict, client.ErrAlreadyExists, client.ErrGone, client.ErrInvalid, client.ErrTooManyRequests, client.ErrUnavailable,
}

func TestRecordedRefusals(t *testing.T) {
	for _, tc := range []struct {
		body   string
		status int
		is     error
		reason string
		get    string
	}{
		{"badrequest.json", 400, client.ErrBadRequest, "BadRequest", `get vmi vms/nosuch: strconv.ParseInt: parsing "abc": invalid syntax (400)`},
		{"unauthorized.json", 401, client.ErrUnauthorized, "Unauthorized", "get vmi vms/nosuch: unauthorized (401)"},
		{"forbidden.json", 403, client.ErrForbidden, "Forbidden", `get vmi vms/nosuch: virtualmachineinstances.kubevirt.io is forbidden: User "nobody" cannot list ` +
			`resource "virtualmachineinstances" in API group "kubevirt.io" in the namespace "vms" (403)`},
		{"notfound.json", 404, client.ErrNotFound, "NotFound", "get vmi vms/nosuch: not found (404)"},
		{"expired.json", 410, client.ErrGone, "Expired", "get vmi vms/nosuch: The provided continue parameter is too old to display a consistent list result. " +
			"You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
			"Continuing with the provided token results in an inconsistent list - objects t... (410)"},
		{"timeout.json", 504, nil, "Timeout", "get vmi vms/nosuch: Timeout: Too large resource version: 99999999, current: 17 (504)"},
	} {
		c := serve(t, answer(tc.status, "application/json", string(recorded(t, tc.body))), once)
		vm, err := c.Get(t.Context(), "vms", "nosuch")
		assert.Nil(t, vm)
		assert.EqualError(t, err, tc.get)
		for _, kind := range kinds {
			assert.Equal(t, kind == tc.is, errors.Is(err, kind), "%s: %v", tc.body, kind)
		}
		var refused *client.Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, tc.status, refused.Status)
		assert.Equal(t, tc.reason, refused.Reason)
		assert.Equal(t, "GET", refused.Method)
		assert.Equal(t, machines+"/nosuch", refused.Path)

		list, err := c.List(t.Context(), "", client.ListOptions{LabelSelector: "owner=s3cr3t"})
		assert.Nil(t, list)
		assert.ErrorContains(t, err, "list vmis in all namespaces: ")
		assert.NotContains(t, err.Error(), "s3cr3t")
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, "/apis/kubevirt.io/v1/virtualmachineinstances", refused.Path)
	}
}

func TestDetailsOfARefusal(t *testing.T) {
	_, err := serve(t, answer(504, "application/json", string(recorded(t, "timeout.json"))), once).Get(t.Context(), "vms", "vm1")
	var refused *client.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, vmi.StatusDetails{RetryAfterSeconds: 1, Causes: []vmi.StatusCause{
		{Reason: "ResourceVersionTooLarge", Message: "Too large resource version"}}}, refused.Details)
	assert.Equal(t, time.Second, refused.RetryAfter)
}

func TestRefusalsWithoutAStatusBodyKeepTheirStatus(t *testing.T) {
	for _, tc := range []struct {
		status            int
		contentType, body string
		want              string
	}{
		{404, "application/json", "", "not found (404)"},
		{404, "text/plain; charset=utf-8", "404 page not found\n", "404 page not found (404)"},
		{401, "", "", "unauthorized (401)"},
		{502, "text/html", "<html>s3cr3t\n<h1>Bad Gateway</h1>", "bad gateway (502)"},
		{502, "", "<html>s3cr3t", "bad gateway (502)"},
		{503, "text/plain", "upstream\r\n\tis \x1b[31mdown\x00", "upstream is [31mdown (503)"},
		{503, "text/plain", "a" + strings.Repeat("é", 150), "a" + strings.Repeat("é", 99) + "... (503)"},
		{500, "application/json", `{"error":"s3cr3t"}`, "internal server error (500)"},
		{500, "application/json", `{"kind":"Status","message":`, "internal server error (500)"},
		{500, "application/json", `{"kind":"Status","message":"oops","details":"none","code":"x"}`, "oops (500)"},
		{500, "application/json", `{"kind":"Status","message":"` + strings.Repeat("x", 1<<20) + `"}`, "internal server error (500)"},
		{599, "text/plain", "", "unexpected status (599)"},
		{204, "application/json", "", "no content (204)"},
		{201, "application/json", object("web", ""), "created (201)"},
		{304, "application/json", "", "not modified (304)"},
	} {
		_, err := serve(t, answer(tc.status, tc.contentType, tc.body), once).Get(t.Context(), "vms", "web")
		var refused *client.Error
		require.ErrorAs(t, err, &refused, tc.want)
		assert.Equal(t, tc.status, refused.Status)
		assert.EqualError(t, err, "get vmi vms/web: "+tc.want)
	}
}

func TestRetryAfter(t *testing.T) {
	date := "Tue, 01 Dec 2026 22:07:45 GMT"
	for _, tc := range []struct {
		header, details string
		want            time.Duration
	}{
		{"", "", 0},
		{"7", "", 7 * time.Second},
		{"7", `{"retryAfterSeconds":3}`, 7 * time.Second},
		{"", `{"retryAfterSeconds":3}`, 3 * time.Second},
		{"soon", `{"retryAfterSeconds":3}`, 3 * time.Second},
		{"-7", "", 0},
		{"2147483648", "", 2147483648 * time.Second},
		{"9223372036", "", 9223372036 * time.Second},
		{"9223372037", "", 9223372036 * time.Second},
		{"99999999999999999999", "", 9223372036 * time.Second},
		{"-99999999999999999999", "", 0},
		{"1.5", "", 0},
		{"", `{"retryAfterSeconds":-3}`, 0},
		{"Tue, 01 Dec 2026 22:09:00 GMT", "", 75 * time.Second},
		{"Tue, 01 Dec 2026 22:00:00 GMT", "", 0},
	} {
		_, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", date)
			if tc.header != "" {
				w.Header().Set("Retry-After", tc.header)
			}
			body := `{"kind":"Status"}`
			if tc.details != "" {
				body = `{"kind":"Status","details":` + tc.details + `}`
			}
			answer(429, "application/json", body)(w, r)
		}, once).Get(t.Context(), "vms", "web")
		var refused *client.Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, tc.want, refused.RetryAfter, "%+v", tc)
		assert.ErrorIs(t, err, client.ErrTooManyRequests)
	}
}

// Programs make errors of their own in tests.
func TestErrorsMadeByHand(t *testing.T) {
	assert.EqualError(t, &client.Error{Status: 404}, "not found (404)")
	assert.EqualError(t, &client.Error{Method: "GET", Path: "/x", Status: 403, Message: "no"}, "GET /x: no (403)")
	assert.EqualError(t, &client.Error{}, "unexpected status (0)")
	assert.NotErrorIs(t, &client.Error{}, client.ErrNotFound)
	assert.EqualError(t, &client.ItemError{}, "item 0: value cannot be decoded")
}

// With it a list can go on, as it is now.
func TestTheFreshTokenOfAnExpiredList(t *testing.T) {
	body := recorded(t, "expired.json")
	var status vmi.Status
	require.NoError(t, json.Unmarshal(body, &status))
	require.NotEmpty(t, status.Metadata.Continue)
	for code, want := range map[int]string{410: status.Metadata.Continue, 500: ""} {
		_, err := serve(t, answer(code, "application/json", string(body))).List(t.Context(), "vms", client.ListOptions{Limit: 2, Continue: "old"})
		var refused *client.Error
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, want, refused.Continue)
		assert.NotContains(t, err.Error(), status.Metadata.Continue)
	}
}
