package cachekit_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"testing"
)

// xorshift is the generator of the corpora: shifts 13, 7, 17.
func xorshift(s uint64) uint64 {
	s ^= s << 13
	s ^= s >> 7
	return s ^ s<<17
}

// incompressible returns n bytes of the stream with that start state.
func incompressible(n int, state uint64) []byte {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		state = xorshift(state)
		b = binary.LittleEndian.AppendUint64(b, state*0x2545f4914f6cdd1d)
	}
	return b[:n]
}

const (
	streamSeed = 0x9e3779b97f4a7c15
	recordSeed = 0x2545f4914f6cdd1d
)

// records returns n bytes of MessagePack records. Spec section 13.
func records(n int, state uint64) []byte {
	str := func(b []byte, s string) []byte { return append(append(b, 0xa0|byte(len(s))), s...) }
	tags := [7]string{"free", "pro", "trial", "eu", "us", "beta", "admin"}
	var b []byte
	for id := uint32(1); len(b) < n; id++ {
		state = xorshift(state)
		b = str(append(b, 0x87), "id")
		b = binary.BigEndian.AppendUint32(append(b, 0xce), 1_000_000+id)
		b = str(str(b, "user"), fmt.Sprintf("user_%x", state%0xffffff))
		b = str(str(b, "email"), fmt.Sprintf("u%d@example%d.com", state%100000, state%7))
		b = append(str(b, "score"), 0xcb)
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(float64(state%10000)/100))
		b = str(b, "active")
		if state%3 != 0 {
			b = append(b, 0xc3)
		} else {
			b = append(b, 0xc2)
		}
		b = append(str(b, "tags"), 0x90|byte(state%4))
		for i := range state % 4 {
			b = str(b, tags[state>>(8*i)%7])
		}
		b = str(str(b, "created_at"), fmt.Sprintf("2026-%02d-%02dT%02d:%02d:%02dZ",
			1+state%12, 1+state>>8%28, state>>16%24, state>>24%60, state>>32%60))
	}
	return b[:n]
}

// corpus returns n bytes of a payload kind of the vectors.
func corpus(t testing.TB, kind string, n int) []byte {
	t.Helper()
	repeat := func(s string) []byte { return bytes.Repeat([]byte(s), n/len(s)+1)[:n] }
	switch kind {
	case "const41":
		return repeat("A")
	case "ramp256":
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i)
		}
		return b
	case "text":
		return repeat("the quick brown fox jumps over the lazy dog; ")
	case "period3":
		return repeat("abc")
	case "xorshift":
		return incompressible(n, streamSeed)
	case "records":
		return records(n, recordSeed)
	case "half":
		return append(incompressible(n/2, 0x1111), bytes.Repeat([]byte{' '}, n-n/2)...)
	}
	t.Fatalf("unknown payload kind %q", kind)
	return nil
}

func TestCorpus(t *testing.T) {
	if got := hex.EncodeToString(incompressible(16, streamSeed)); got != "99259a8ca2d103745ecb8eab39f370dd" {
		t.Errorf("incompressible stream begins %s", got)
	}
	for n, want := range map[int]string{
		64:    "95227e7d654d55813a4b73fee0b0d3ee8283c2e36564c7c4967783425a5f2808",
		1024:  "9239805e80b948a09dd0b74ffd426a0ae0c5ade7393e01713038abe8c46b1d5c",
		65536: "80e34e5e0813fc0810252d71b042902bbc03a63b2012addbee40b094a9511945",
	} {
		if got := fmt.Sprintf("%x", sha256.Sum256(records(n, recordSeed))); got != want {
			t.Errorf("sha256 of %d bytes of records is %s, want %s", n, got, want)
		}
	}
}
