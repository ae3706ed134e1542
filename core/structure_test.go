package cachekit_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	// A decoder that is not ours, to compare with.
	"github.com/vmihailenco/msgpack/v5"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// checkStructure runs both calls, which must agree.
func checkStructure(t testing.TB, b []byte, depth int) (int, error) {
	t.Helper()
	n, err := cachekit.DocumentLen(b, depth)
	if e := cachekit.CheckStructure(b, depth); (e == nil) != (err == nil) || e != nil && e.Error() != err.Error() {
		t.Errorf("CheckStructure: %v, DocumentLen: %v", e, err)
	}
	var s *cachekit.StructureError
	if err != nil && (!errors.As(err, &s) || s.Offset < 0 || s.Offset > len(b) || n != 0) {
		t.Errorf("DocumentLen returns %d and the error %#v", n, err)
	}
	return n, err
}

func TestPrescan(t *testing.T) {
	for _, v := range section[struct {
		Name  string
		Doc   hexBytes
		Depth int `json:"max_depth"`
		Len   int
		Error string
	}](t, "prescan", 232) {
		n, err := checkStructure(t, v.Doc, v.Depth)
		if v.Error == "" {
			if err != nil || n != v.Len {
				t.Errorf("%s: got %d, %v, want %d", v.Name, n, err, v.Len)
			}
		} else if err == nil || err.Error() != v.Error {
			t.Errorf("%s: got %v, want %s", v.Name, err, v.Error)
		}
	}
}

type boundsVector struct {
	Name    string
	Input   hexBytes `json:"input_hex"`
	Len     int      `json:"input_len"`
	Depth   int      `json:"nesting_depth"`
	Slots   uint64   `json:"declared_slots"`
	Reasons []string `json:"reject_reasons"`
}

func loadBounds(t testing.TB) (v struct {
	Reject []boundsVector `json:"reject_vectors"`
	Accept []boundsVector `json:"accept_vectors"`
}) {
	t.Helper()
	load(t, "decode-bounds.json", &v)
	count(t, "reject_vectors", len(v.Reject), 19)
	count(t, "accept_vectors", len(v.Accept), 3)
	return v
}

func TestDecodeBounds(t *testing.T) {
	const preScan = "deserialization failed: decode pre-scan: "
	all := loadBounds(t)
	for _, v := range all.Reject {
		count(t, v.Name, len(v.Input), v.Len)
		_, err := checkStructure(t, v.Input, cachekit.MaxDepth)
		if err == nil {
			t.Errorf("%s: accepted", v.Name)
			continue
		}
		switch reason := err.Error(); strings.Join(v.Reasons, ",") {
		case "depth":
			if reason != "nests deeper than 100 levels" {
				t.Errorf("%s: %s", v.Name, reason)
			}
		case "overclaim":
			if !strings.HasPrefix(reason, "declares more ") {
				t.Errorf("%s: %s", v.Name, reason)
			}
		}
		if _, _, e := retrieve(t, v.Input); e == nil || e.Error() != preScan+err.Error() {
			t.Errorf("%s: retrieving: %v", v.Name, e)
		}
		// Nothing but depth is left to complain of at the widest bound.
		if strings.Join(v.Reasons, ",") == "depth" {
			if n, err := checkStructure(t, v.Input, v.Depth); err != nil || n != v.Len {
				t.Errorf("%s: at its own depth: %d, %v", v.Name, n, err)
			}
		}
	}
	for _, v := range all.Accept {
		if n, err := checkStructure(t, v.Input, cachekit.MaxDepth); err != nil || n != v.Len {
			t.Errorf("%s: %d, %v", v.Name, n, err)
		}
		if _, _, err := retrieve(t, v.Input); err == nil || strings.HasPrefix(err.Error(), preScan) {
			t.Errorf("%s: retrieving: %v", v.Name, err)
		}
	}
	for _, v := range loadWire(t).Temporal {
		if n, err := checkStructure(t, v.Payload, cachekit.MaxDepth); err != nil || n != len(v.Payload) {
			t.Errorf("temporal sentinel: %d, %v", n, err)
		}
	}
}

func TestStructureDepth(t *testing.T) {
	// Both sides of the boundary, for each kind of collection, where the stack
	// is on the stack and where it is not.
	for _, depth := range []int{0, 1, 2, 15, 16, 17, 18, 32, 33, 34, 100, 1024} {
		for _, head := range []string{"\x91", "\x81\xc0", "\xdc\x00\x01", "\xdd\x00\x00\x00\x01", "\xde\x00\x01\xc0", "\xdf\x00\x00\x00\x01\xc0"} {
			for _, empty := range []string{"", "\x90", "\x80", "\xdc\x00\x00", "\xdf\x00\x00\x00\x00"} {
				n := depth
				last := "\xc0"
				if empty != "" {
					n, last = depth-1, empty
				}
				if n < 0 {
					continue
				}
				good := []byte(strings.Repeat(head, n) + last)
				if l, err := checkStructure(t, good, depth); err != nil || l != len(good) {
					t.Errorf("%d times %q and %q at depth %d: %v", n, head, last, depth, err)
				}
				bad := []byte(strings.Repeat(head, n+1) + last)
				want := fmt.Sprintf("nests deeper than %d levels", depth)
				if _, err := checkStructure(t, bad, depth); err == nil || err.Error() != want {
					t.Errorf("%d times %q and %q at depth %d: %v", n+1, head, last, depth, err)
				}
			}
		}
	}
	if _, err := checkStructure(t, []byte{0x90}, -5); err == nil {
		t.Error("depth -5 admits an array")
	}
	if _, err := checkStructure(t, []byte{7}, -5); err != nil {
		t.Error(err)
	}
}

func TestStructureEnvelope(t *testing.T) {
	for _, v := range loadWire(t).Vectors {
		if n, err := checkStructure(t, v.Envelope, 2); err != nil || n != len(v.Envelope) {
			t.Errorf("%s: %d, %v", v.Name, n, err)
		}
		for n := range v.Envelope {
			if _, err := checkStructure(t, v.Envelope[:n], cachekit.MaxDepth); err == nil {
				t.Errorf("%s cut to %d bytes passes", v.Name, n)
			}
			if _, _, err := cachekit.Retrieve(nil, v.Envelope[:n]); !errors.Is(err, cachekit.ErrDeserializationFailed) {
				t.Errorf("%s cut to %d bytes: %v", v.Name, n, err)
			}
		}
		deep := append(bytes.Repeat([]byte{0x91}, 98), v.Envelope...)
		if _, err := checkStructure(t, deep, 100); err != nil {
			t.Errorf("%s in a stack of 100 levels: %v", v.Name, err)
		}
	}
}

// simpleLen is section 4 of the spec written down as plainly as possible.
func simpleLen(b []byte, maxDepth int) (int, string) {
	pos := 0
	pending := uint64(1)
	var stack []uint64
	for pending > 0 {
		for len(stack) > 0 && stack[len(stack)-1] == 0 {
			stack = stack[:len(stack)-1]
		}
		if pos >= len(b) {
			return 0, "ends before the document is complete"
		}
		m := b[pos]
		pos++
		pending--
		if len(stack) > 0 {
			stack[len(stack)-1]--
		}
		prefix, extra, perItem := 0, uint64(0), uint64(0)
		var payload, children uint64
		collection := false
		switch {
		case m >= 0x80 && m <= 0x8f:
			collection, children = true, 2*uint64(m&15)
		case m >= 0x90 && m <= 0x9f:
			collection, children = true, uint64(m&15)
		case m >= 0xa0 && m <= 0xbf:
			payload = uint64(m & 31)
		case m == 0xc1:
			return 0, "contains the reserved marker 0xc1"
		case m == 0xc4 || m == 0xd9:
			prefix = 1
		case m == 0xc5 || m == 0xda:
			prefix = 2
		case m == 0xc6 || m == 0xdb:
			prefix = 4
		case m == 0xc7:
			prefix, extra = 1, 1
		case m == 0xc8:
			prefix, extra = 2, 1
		case m == 0xc9:
			prefix, extra = 4, 1
		case m == 0xca:
			payload = 4
		case m == 0xcb:
			payload = 8
		case m >= 0xcc && m <= 0xcf:
			payload = 1 << (m - 0xcc)
		case m >= 0xd0 && m <= 0xd3:
			payload = 1 << (m - 0xd0)
		case m >= 0xd4 && m <= 0xd8:
			payload = 1 + 1<<(m-0xd4)
		case m == 0xdc:
			collection, prefix, perItem = true, 2, 1
		case m == 0xdd:
			collection, prefix, perItem = true, 4, 1
		case m == 0xde:
			collection, prefix, perItem = true, 2, 2
		case m == 0xdf:
			collection, prefix, perItem = true, 4, 2
		}
		if prefix > 0 {
			if len(b)-pos < prefix {
				return 0, "ends inside a length prefix"
			}
			var v uint64
			for range prefix {
				v = v<<8 | uint64(b[pos])
				pos++
			}
			if perItem > 0 {
				children = v * perItem
			} else {
				payload = v + extra
			}
		}
		if collection && len(stack) >= maxDepth {
			return 0, fmt.Sprintf("nests deeper than %d levels", maxDepth)
		}
		if payload > uint64(len(b)-pos) {
			return 0, "declares more bytes than the input holds"
		}
		pos += int(payload)
		if children > 0 {
			stack = append(stack, children)
		}
		pending += children
		if pending > uint64(len(b)-pos) {
			return 0, "declares more elements than the input can back"
		}
	}
	return pos, ""
}

// FuzzStructure compares the walk with the plain one and, in both directions,
// with a MessagePack decoder that is not ours.
func FuzzStructure(f *testing.F) {
	for _, v := range loadBounds(f).Accept {
		f.Add([]byte(v.Input), 100)
	}
	f.Add([]byte("\x94\xc4\x01\x00\x98\x2d\x06\xcc\x80\x05\x38\xcc\xd3\xcc\x94\xcc\xc2\x00\xa7msgpack"), 2)
	f.Add([]byte("\x91\x91\x91\x90"), 3)
	f.Add([]byte("\xde\x00\x01\xc8\x00\x01\x00\x00\xd8123456789012345670"), 1)
	f.Fuzz(func(t *testing.T, b []byte, depth int) {
		depth %= 200
		if depth < 0 {
			depth = -depth
		}
		n, err := checkStructure(t, b, depth)
		want, reason := simpleLen(b, depth)
		if n != want || (err == nil) != (reason == "") || err != nil && err.Error() != reason {
			t.Fatalf("got %d, %v, want %d, %q", n, err, want, reason)
		}
		// Another decoder must skip what we pass, and just as much; and we must
		// pass what it skips, but for the depth, of which it has no limit.
		if len(b) > 1<<16 {
			return // it recurses
		}
		r := bytes.NewReader(b)
		skip := msgpack.NewDecoder(r).Skip()
		switch got := len(b) - r.Len(); {
		case err == nil && skip != nil:
			t.Fatalf("passed, but msgpack says %v", skip)
		case err == nil && got != n:
			t.Fatalf("got %d bytes, msgpack skips %d", n, got)
		case err != nil && skip == nil && !strings.HasPrefix(err.Error(), "nests deeper "):
			t.Fatalf("%v, but msgpack skips %d bytes", err, got)
		}
	})
}
