package cachekit

import (
	"runtime"

	// The dependency that XXH3 has anyway: the standard library keeps what it
	// knows of the CPU to itself.
	"github.com/klauspost/cpuid/v2"
)

// HardwareAcceleration reports whether this CPU has the instructions that make
// AES-GCM fast and free of secret-dependent timing: AES and carry-less
// multiplication. It is for logs and decides nothing: the standard library looks
// for itself, and does without them if it was built with the tag purego or
// GODEBUG switches them off.
//
// It is false where it cannot be told: on other than amd64, 386 and arm64.
func HardwareAcceleration() bool {
	switch runtime.GOARCH {
	case "amd64", "386":
		return cpuid.CPU.Supports(cpuid.AESNI, cpuid.CLMUL)
	case "arm64":
		return cpuid.CPU.Supports(cpuid.AESARM, cpuid.PMULL)
	}
	return false
}
