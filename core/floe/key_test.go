package floe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/cachekit-go/cachekit/core/floe"
)

func TestKeyLength(t *testing.T) {
	for n := range 70 {
		_, err := floe.NewKey(make([]byte, n))
		var l *floe.LengthError
		if n == floe.KeySize {
			if err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
		} else if !errors.Is(err, floe.ErrKeyLength) || !errors.As(err, &l) || l.Actual != uint64(n) || l.Min != 32 || l.Max != 32 {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestKeyCopies(t *testing.T) {
	b := bytes.Repeat([]byte{7}, 32)
	k := newKey(t, b)
	b[0] = 8
	got, err := k.AppendTo([]byte("dst"))
	if want := append([]byte("dst"), bytes.Repeat([]byte{7}, 32)...); err != nil || !bytes.Equal(got, want) {
		t.Errorf("got %x, %v", got, err)
	}
	got[3] = 8
	if again, err := k.AppendTo(nil); err != nil || again[0] != 7 {
		t.Errorf("got %x, %v", again, err)
	}
	x, err := floe.GenerateKey().AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	y, err := floe.GenerateKey().AppendTo(nil)
	if err != nil || len(x) != 32 || bytes.Equal(x, y) || bytes.Equal(x, make([]byte, 32)) {
		t.Errorf("generated %x and %x, %v", x, y, err)
	}
}

// What has no key fails everywhere in the same way.
func TestKeyDestroyed(t *testing.T) {
	destroyed := newKey(t, testKey)
	msg := seal(t, floe.Params64B, ruled(1, 100))
	d, err := floe.NewDecryptReader(bytes.NewReader(msg), destroyed, testAAD)
	if err != nil {
		t.Fatal(err)
	}
	destroyed.Destroy()
	destroyed.Destroy()
	if err := d.Finish(); err != nil {
		t.Errorf("a message that had started: %v", err)
	}
	for name, k := range map[string]*floe.Key{"destroyed": destroyed, "zero": new(floe.Key), "nil": nil} {
		for what, f := range map[string]func() error{
			"AppendTo": func() error { _, err := k.AppendTo(nil); return err },
			"Seal":     func() error { _, err := floe.Seal(nil, k, nil, floe.Params64B, nil); return err },
			"Open":     func() error { _, err := floe.Open(nil, k, testAAD, msg); return err },
			"NewEncryptReader": func() error {
				_, err := floe.NewEncryptReader(bytes.NewReader(nil), k, nil, floe.Params64B)
				return err
			},
			"NewEncryptWriter": func() error {
				_, err := floe.NewEncryptWriter(new(bytes.Buffer), k, nil, floe.Params64B)
				return err
			},
			"NewDecryptReader": func() error { _, err := floe.NewDecryptReader(bytes.NewReader(msg), k, testAAD); return err },
			"NewReaderAt": func() error {
				_, err := floe.NewReaderAt(bytes.NewReader(msg), int64(len(msg)), k, testAAD)
				return err
			},
			"NewEncryptor": func() error { _, err := floe.NewEncryptor(k, nil, floe.Params64B); return err },
			"NewDecryptor": func() error { _, err := floe.NewDecryptor(k, testAAD, floe.Header(msg[:74])); return err },
		} {
			if err := f(); !errors.Is(err, floe.ErrKeyLength) {
				t.Errorf("%s with a %s key: %v", what, name, err)
			}
		}
	}
}

// No way of printing shows a byte of the key.
func TestKeyRedacted(t *testing.T) {
	k := newKey(t, []byte("0123456789abcdef0123456789ABCDEF"))
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("key", "k", k)
	text, err := json.Marshal([]any{k})
	if err != nil {
		t.Fatal(err)
	}
	all := []string{k.String(), k.GoString(), log.String(), string(text)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%b", "%c", "%U", "%e", "%t"} {
		all = append(all, fmt.Sprintf(verb, k), fmt.Sprintf(verb, []*floe.Key{k}), fmt.Sprintf(verb, struct{ K *floe.Key }{k}))
	}
	for _, s := range all {
		for _, part := range []string{"0123", "abcd", "ABCD", "3031", "48 49", "60 61"} {
			if strings.Contains(s, part) {
				t.Errorf("%q has a part of the key", s)
			}
		}
	}
	if k.String() != "<redacted>" || fmt.Sprintf("%#v", k) != "floe.Key(<redacted>)" || !strings.Contains(log.String(), "k=<redacted>") {
		t.Errorf("got %v, %#v, %s", k, k, log.String())
	}
}

// A key can be destroyed while it is used: calls succeed or say that there is
// none.
func TestKeyDestroyedMeanwhile(t *testing.T) {
	msg := seal(t, floe.Params64B, ruled(1, 100))
	for range 20 {
		k := newKey(t, testKey)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 20 {
					_, err := floe.Seal(nil, k, nil, floe.Params64B, ruled(2, 40))
					if err != nil && !errors.Is(err, floe.ErrKeyLength) {
						t.Error(err)
					}
					if _, err = floe.Open(nil, k, testAAD, msg); err != nil && !errors.Is(err, floe.ErrKeyLength) {
						t.Error(err)
					}
				}
			})
		}
		k.Destroy()
		wg.Wait()
	}
}
