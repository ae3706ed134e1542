package floe_test

import (
	"crypto/fips140"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/cachekit-go/cachekit/core/floe"
)

// In FIPS 140-3 mode nothing changes; where it is enforced the standard library
// refuses nonces that it has not made, which is an error and not a panic. Each
// mode needs a process of its own.
func TestFIPS140(t *testing.T) {
	if fips140.Enforced() {
		if _, err := floe.Seal(nil, newKey(t, testKey), nil, floe.Params64B, nil); !errors.Is(err, floe.ErrAEAD) {
			t.Errorf("sealing: %v", err)
		}
		m := crateMessages(t)[0]
		if _, err := floe.Open(nil, newKey(t, m.Key), m.aad(), m.ciphertext()); !errors.Is(err, floe.ErrAEAD) {
			t.Errorf("opening: %v", err)
		}
		return
	}
	if fips140.Enabled() {
		return // the other tests of this process are the test
	}
	for mode, run := range map[string]string{"on": "Upstream|Crate|Rebuild|OneFraming", "only": "^TestFIPS140$"} {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.short", "-test.run="+run)
		c.Env = append(os.Environ(), "GODEBUG=fips140="+mode)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("fips140=%s: %v\n%s", mode, err, out)
		}
	}
}
