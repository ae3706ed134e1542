// Package cgocall calls C and is called back. It is a package of its own so
// that the others stay pure Go.
package cgocall

/*
#include <stdlib.h>

static int add(int a, int b) { return a + b; }

extern int called(int);
static int callback(int n) { return called(n) + 1; }
*/
import "C"

import "unsafe"

func add(a, b int) int { return int(C.add(C.int(a), C.int(b))) }

func callback(n int) int { return int(C.callback(C.int(n))) }

//export called
func called(n C.int) C.int { return 2 * n }

// text copies s to C and back.
func text(s string) string {
	p := C.CString(s)
	defer C.free(unsafe.Pointer(p))
	return C.GoString(p)
}
