package cachekit_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

func TestCodecLimits(t *testing.T) {
	payload := corpus(t, "xorshift", 1000)
	short := payload[:40]
	env, err := cachekit.Store(nil, payload)
	if err != nil {
		t.Fatal(err)
	}
	shortEnv, err := cachekit.Store(nil, short)
	if err != nil {
		t.Fatal(err)
	}
	const shortBlock = 2 + 40
	for _, v := range []struct {
		name string
		c    cachekit.Codec
		data []byte
		env  []byte
		fail bool
	}{
		{"payload at the limit", cachekit.Codec{MaxPayload: 1000}, payload, env, false},
		{"payload over it", cachekit.Codec{MaxPayload: 999}, payload, env, true},
		{"short payload at the limit", cachekit.Codec{MaxPayload: 40}, short, shortEnv, false},
		{"short payload over it", cachekit.Codec{MaxPayload: 39}, short, shortEnv, true},
		{"envelope at the limit", cachekit.Codec{MaxCompressed: len(env)}, payload, env, false},
		{"envelope over it", cachekit.Codec{MaxCompressed: len(env) - 1}, payload, env, true},
		{"short envelope at the limit", cachekit.Codec{MaxCompressed: len(shortEnv)}, short, shortEnv, false},
		{"short envelope over it", cachekit.Codec{MaxCompressed: len(shortEnv) - 1}, short, shortEnv, true},
		{"short block over it", cachekit.Codec{MaxCompressed: shortBlock - 1}, short, shortEnv, true},
		{"limits cannot be raised", cachekit.Codec{MaxPayload: 1 << 30, MaxCompressed: 1 << 30}, payload, env, false},
	} {
		for _, dst := range [][]byte{bytes.Clone(prefix), append(make([]byte, 0, 4000), prefix...)} {
			got, err := v.c.Store(dst, v.data)
			if errors.Is(err, cachekit.ErrInputTooLarge) != v.fail || (err != nil) != v.fail || !bytes.HasPrefix(got, prefix) || v.fail != (len(got) == len(prefix)) {
				t.Errorf("%s: storing: %d bytes, %v", v.name, len(got), err)
			}
		}
		if _, _, err := retrieveWith(t, v.c, v.env); errors.Is(err, cachekit.ErrInputTooLarge) != v.fail || (err != nil) != v.fail {
			t.Errorf("%s: retrieving: %v", v.name, err)
		}
	}

	// Step 1 comes before anything is looked at; the claimed size, step 4,
	// before the ratio, step 5.
	c := cachekit.Codec{MaxPayload: 100, MaxCompressed: 200}
	if _, _, err := c.Retrieve(nil, make([]byte, 201)); !errors.Is(err, cachekit.ErrInputTooLarge) {
		t.Errorf("201 zeros: %v", err)
	}
	if _, _, err := c.Retrieve(nil, make([]byte, 200)); !errors.Is(err, cachekit.ErrDeserializationFailed) {
		t.Errorf("200 zeros: %v", err)
	}
	if c.Validate(make([]byte, 201)) {
		t.Error("201 zeros are valid")
	}
	empty := []byte("\x94\xc4\x00\x98\x00\x00\x00\x00\x00\x00\x00\x00\x65\xa0")
	if _, _, err := c.Retrieve(nil, empty); !errors.Is(err, cachekit.ErrInputTooLarge) {
		t.Errorf("empty block, size over the limit: %v", err)
	}
	empty[12]--
	if _, _, err := c.Retrieve(nil, empty); !errors.Is(err, cachekit.ErrDecompressionBomb) {
		t.Errorf("empty block, size at the limit: %v", err)
	}
	if _, err := c.EstimateRatio(make([]byte, 101)); !errors.Is(err, cachekit.ErrInputTooLarge) {
		t.Errorf("EstimateRatio of 101 bytes: %v", err)
	}
	if r, err := c.EstimateRatio(make([]byte, 100)); err != nil || r < 4 {
		t.Errorf("EstimateRatio of 100 zeros: %v, %v", r, err)
	}

	zeros, err := cachekit.Store(nil, make([]byte, 6000))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := retrieveWith(t, cachekit.Codec{MaxRatio: 10}, zeros); !errors.Is(err, cachekit.ErrDecompressionBomb) {
		t.Errorf("ratio over 10: %v", err)
	}
	if _, _, err := retrieveWith(t, cachekit.Codec{MaxRatio: 1 << 20}, zeros); err != nil {
		t.Errorf("ratio under 1000: %v", err)
	}

	for _, c := range []cachekit.Codec{{MaxPayload: -1}, {MaxCompressed: -1}, {MaxRatio: -1}} {
		func() {
			defer func() {
				if r := recover(); !strings.HasPrefix(fmt.Sprint(r), "cachekit: ") {
					t.Errorf("%+v: recovered %v", c, r)
				}
			}()
			c.Store(nil, nil)
			t.Errorf("%+v does not panic", c)
		}()
	}
}

func TestCodecFormat(t *testing.T) {
	for _, v := range []struct {
		c    cachekit.Codec
		want string
	}{{cachekit.Codec{}, "msgpack"}, {cachekit.Codec{Format: "json"}, "json"}} {
		env, err := v.c.Store(nil, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		if _, format, err := retrieve(t, env); err != nil || format != v.want {
			t.Errorf("%+v: got %q, %v", v.c, format, err)
		}
		env, err = v.c.StoreFormat(nil, []byte("x"), "")
		if err != nil {
			t.Fatal(err)
		}
		if _, format, err := retrieve(t, env); err != nil || format != "" {
			t.Errorf("%+v: empty label: got %q, %v", v.c, format, err)
		}
	}
	if out, err := cachekit.StoreFormat(prefix, nil, "a\xff"); !errors.Is(err, cachekit.ErrSerializationFailed) || !bytes.Equal(out, prefix) ||
		!strings.HasPrefix(err.Error(), "serialization failed: ") {
		t.Errorf("label that is not UTF-8: %x, %v", out, err)
	}
	for _, format := range []string{"../../etc/passwd", "a\x00b", "a\r\nb", "\u202egpj", "\ufeffx", strings.Repeat("f", 10000), strings.Repeat("字", 70000)} {
		for _, n := range []int{10, 1000} {
			payload := corpus(t, "records", n)
			env, err := cachekit.StoreFormat(nil, payload, format)
			if err != nil {
				t.Fatal(err)
			}
			if data, f, err := retrieve(t, env); err != nil || f != format || !bytes.Equal(data, payload) {
				t.Errorf("label of %d bytes: got %d, %v", len(format), len(f), err)
			}
		}
	}
}

func TestStoreEveryLength(t *testing.T) {
	for _, kind := range []string{"const41", "xorshift", "records"} {
		all := corpus(t, kind, 70100)
		lengths := []int{}
		for n := range 700 {
			lengths = append(lengths, n)
		}
		for n := 65200; n < 66000; n += 13 {
			lengths = append(lengths, n)
		}
		for _, n := range append(lengths, 70100) {
			payload := all[:n:n]
			env, err := cachekit.Store(nil, payload)
			if err != nil {
				t.Fatal(err)
			}
			// With room, without and with too little, and twice.
			for _, c := range []int{0, len(env), len(env) - 1, len(env) + 30, 2*n + 200} {
				got, err := cachekit.Store(append(make([]byte, 0, len(prefix)+c), prefix...), payload)
				if err != nil || !bytes.Equal(got, append(bytes.Clone(prefix), env...)) {
					t.Fatalf("%s of %d bytes: room of %d gives another envelope: %v", kind, n, c, err)
				}
			}
			data, _, err := cachekit.Codec{Strict: true}.Retrieve(nil, env)
			if err != nil || !bytes.Equal(data, payload) {
				t.Fatalf("%s of %d bytes: got %d, %v", kind, n, len(data), err)
			}
		}
	}
}

// What Store writes must not depend on what it wrote before.
func TestStoreDeterministic(t *testing.T) {
	payload := corpus(t, "records", 5000)
	want, err := cachekit.Store(nil, payload)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		other := corpus(t, []string{"xorshift", "text", "half", "records"}[i%4], 64+i*97)
		if _, err := cachekit.Store(nil, other); err != nil {
			t.Fatal(err)
		}
		if got, err := cachekit.Store(nil, payload); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("after %d bytes: another envelope, %v", len(other), err)
		}
	}
}
