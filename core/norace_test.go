//go:build !race

package cachekit_test

const raceEnabled = false
