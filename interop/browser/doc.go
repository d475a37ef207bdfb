// Package browser has no code of its own: its tests open the pages of the contract
// tester in a real Chromium.
package browser
