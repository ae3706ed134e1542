//go:build race

package floe_test

const raceEnabled = true
