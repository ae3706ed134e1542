//go:build !unix

package main

// perfgate measures on Linux only.
func lockFolder(string) (unlock func() error, err error) {
	return func() error { return nil }, nil
}
