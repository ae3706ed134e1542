//go:build race

package examples

const raceEnabled = true
