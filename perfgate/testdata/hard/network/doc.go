// Package network has benchmarks of connections: two ends, the poller between
// them, and the kernel below. It is a package of its own because net/http makes
// a test binary large, and valgrind starts slowly on large ones.
package network
