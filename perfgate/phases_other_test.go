//go:build !unix

package main

import "github.com/rogpeppe/go-internal/testscript"

// Nothing is measured here, so that there is nothing to stop.
var stopCommands map[string]func(*testscript.TestScript, bool, []string)
