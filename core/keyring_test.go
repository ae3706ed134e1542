package cachekit_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	cachekit "github.com/cachekit-go/cachekit/core"
)

func TestCrateDerive(t *testing.T) {
	good := 0
	for _, v := range section[struct {
		Name, Domain, Text             string
		Master, Salt, Key, Fingerprint hexBytes
	}](t, "derive", 26) {
		key, err := cachekit.DeriveDomainKey(v.Master, v.Domain, v.Salt)
		if v.Text != "" {
			if !sameCryptoError(err, v.Text) || key != (cachekit.Key{}) {
				t.Errorf("%s: got %x, %v, want %s", v.Name, key[:], err, v.Text)
			}
			continue
		}
		good++
		f := cachekit.Fingerprint(key[:])
		if err != nil || !bytes.Equal(key[:], v.Key) || !bytes.Equal(f[:], v.Fingerprint) {
			t.Errorf("%s: got %x, %x, %v", v.Name, key[:], f, err)
		}
	}
	count(t, "derive without error", good, 16)
}

func TestCheckValues(t *testing.T) {
	// The table of spec section 6.
	for domain, want := range map[string][2]string{
		"encryption":     {"00e4a5f52d101eb99a4fe924a215e2b12524f73c4fa17eff40e243da39ca3e42", "8d08521488d68a3c319fc13ba2fe9daa"},
		"authentication": {"c857dbacf404eb42c6b737057871be403cdf13ac64fa259594ec463be1d49aae", "776d463d50e10ebacbc60fa54bc7143e"},
		"cache_keys":     {"38100d7811c0aa588a3d47fe6030eb62bbada1b1b71a8b581760fcf59716be62", "2461f349a4ce1370eff382795345df16"},
		"cache":          {"d871bd7f2e1d9853a8f24a0c9012ebb593e81388317d040b69c1280fff01bcad", "8fa454553ad76d7a0b95d9bd00e90ee6"},
	} {
		key, err := cachekit.DeriveDomainKey(bytes.Repeat([]byte{0x42}, 32), domain, []byte("tenant-123"))
		f := cachekit.Fingerprint(key[:])
		if got := [2]string{hex.EncodeToString(key[:]), hex.EncodeToString(f[:])}; err != nil || got != want {
			t.Errorf("%s: got %v, %v", domain, got, err)
		}
	}
}

func TestCrateTenantKeys(t *testing.T) {
	good := 0
	for _, v := range section[struct {
		Master         hexBytes
		Tenant         string
		Encryption     hexBytes `json:"encryption_key"`
		Authentication hexBytes `json:"authentication_key"`
		CacheKeySalt   hexBytes `json:"cache_key_salt"`
		EncryptionF    hexBytes `json:"encryption_fingerprint"`
		AuthenticatonF hexBytes `json:"authentication_fingerprint"`
		Text           string
	}](t, "tenant_keys", 8) {
		tk, err := cachekit.DeriveTenantKeys(v.Master, v.Tenant)
		if v.Text != "" {
			if !sameCryptoError(err, v.Text) || tk != nil {
				t.Errorf("%.20s: got %v, %v, want %s", v.Tenant, tk, err, v.Text)
			}
			continue
		}
		good++
		if err != nil {
			t.Errorf("%.20s: %v", v.Tenant, err)
			continue
		}
		a, b, c := tk.Encryption(), tk.Authentication(), tk.CacheKeySalt()
		f, g := tk.EncryptionFingerprint(), tk.AuthenticationFingerprint()
		if tk.Tenant() != v.Tenant || !bytes.Equal(a[:], v.Encryption) || !bytes.Equal(b[:], v.Authentication) ||
			!bytes.Equal(c[:], v.CacheKeySalt) || !bytes.Equal(f[:], v.EncryptionF) || !bytes.Equal(g[:], v.AuthenticatonF) {
			t.Errorf("%.20s: got %x %x %x %x %x", v.Tenant, a[:], b[:], c[:], f, g)
		}
		tk.Close()
		tk.Close()
		if tk.Tenant() != v.Tenant || !strings.Contains(tk.String(), "closed") {
			t.Errorf("closed: %q, %v", tk.Tenant(), tk)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("a closed TenantKeys gives keys")
				}
			}()
			tk.Encryption()
		}()
	}
	count(t, "tenant_keys without error", good, 5)
}

func TestCrateFingerprint(t *testing.T) {
	for _, v := range section[struct{ Key, Fingerprint hexBytes }](t, "fingerprint", 5) {
		keep := bytes.Clone(v.Key)
		if f := cachekit.Fingerprint(v.Key); !bytes.Equal(f[:], v.Fingerprint) || !bytes.Equal(keep, v.Key) {
			t.Errorf("%x: got %x", v.Key, f)
		}
	}
	long := bytes.Repeat([]byte{1}, 1000)
	if cachekit.Fingerprint(long) == cachekit.Fingerprint(long[1:]) || long[0] != 1 {
		t.Error("long keys have no fingerprints of their own")
	}
}

func TestCrateKeyring(t *testing.T) {
	made, opened := 0, 0
	for _, v := range section[struct {
		Name, Tenant    string
		Current         hexBytes
		DecryptOnly     []hexBytes `json:"decrypt_only"`
		AAD, Ciphertext hexBytes
		Fingerprints    []hexBytes
		Plaintext       *hexBytes
		Index           int
		DecryptAt       []string `json:"decrypt_at"`
		Text            string
		ForTenant       string `json:"for_tenant"`
		ForTenantError  string `json:"for_tenant_error"`
		NewError        string `json:"new_error"`
	}](t, "keyring", 22) {
		old := make([][]byte, len(v.DecryptOnly))
		for i, k := range v.DecryptOnly {
			old[i] = bytes.Clone(k)
		}
		current := bytes.Clone(v.Current)
		ring, err := cachekit.NewKeyring(current, old...)
		if v.NewError != "" {
			if !sameCryptoError(err, v.Text) || ring != nil {
				t.Errorf("%s: got %v, want %s", v.Name, err, v.Text)
			}
			continue
		}
		made++
		if err != nil {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		// The ring has its own copies.
		clear(current)
		for i := range old {
			clear(old[i])
		}

		check := func(kind string, prints [][16]byte, index func([]byte) ([]byte, int, error), at func([]byte, int) ([]byte, error), plain func([]byte) ([]byte, error)) {
			t.Helper()
			count(t, v.Name+" fingerprints", len(prints), len(v.Fingerprints))
			for i, p := range prints {
				if !bytes.Equal(p[:], v.Fingerprints[i]) {
					t.Errorf("%s: %s: fingerprint %d is %x", v.Name, kind, i, p)
				}
			}
			pt, i, err := index(prefix)
			pt2, err2 := plain(prefix)
			if !bytes.Equal(pt, pt2) || (err == nil) != (err2 == nil) || err != nil && err.Error() != err2.Error() {
				t.Errorf("%s: %s: Decrypt %x, %v; DecryptIndexed %x, %v", v.Name, kind, pt2, err2, pt, err)
			}
			if v.Plaintext != nil {
				opened++
				if want := append(bytes.Clone(prefix), *v.Plaintext...); err != nil || !bytes.Equal(pt, want) || i != v.Index {
					t.Errorf("%s: %s: got %x, %d, %v", v.Name, kind, pt, i, err)
				}
			} else if !sameCryptoError(err, v.Text) || !bytes.Equal(pt, prefix) || i != -1 {
				t.Errorf("%s: %s: got %x, %d, %v, want %s", v.Name, kind, pt, i, err, v.Text)
			}
			for i, want := range v.DecryptAt {
				pt, err := at(prefix, i)
				if want == "ok" {
					if want := append(bytes.Clone(prefix), *v.Plaintext...); err != nil || !bytes.Equal(pt, want) {
						t.Errorf("%s: %s: at %d: got %x, %v", v.Name, kind, i, pt, err)
					}
				} else if !sameCryptoError(err, want) || !bytes.Equal(pt, prefix) {
					t.Errorf("%s: %s: at %d: got %x, %v, want %s", v.Name, kind, i, pt, err, want)
				}
			}
			if _, err := at(nil, -1); !errors.Is(err, cachekit.ErrKeyringIndexOutOfRange) {
				t.Errorf("%s: %s: at -1: %v", v.Name, kind, err)
			}
		}
		prints, err := ring.EncryptionFingerprints(v.Tenant)
		if v.ForTenantError != "" && !sameCryptoError(err, v.ForTenantError) {
			t.Errorf("%s: fingerprints: %v, want %s", v.Name, err, v.ForTenantError)
		}
		check("ring", prints,
			func(dst []byte) ([]byte, int, error) { return ring.DecryptIndexed(dst, v.Ciphertext, v.Tenant, v.AAD) },
			func(dst []byte, i int) ([]byte, error) { return ring.DecryptAt(dst, i, v.Ciphertext, v.Tenant, v.AAD) },
			func(dst []byte) ([]byte, error) { return ring.Decrypt(dst, v.Ciphertext, v.Tenant, v.AAD) })

		bound, err := ring.ForTenant(v.Tenant)
		if v.ForTenantError != "" {
			if !sameCryptoError(err, v.ForTenantError) || bound != nil {
				t.Errorf("%s: for tenant: %v, want %s", v.Name, err, v.ForTenantError)
			}
		} else if err != nil || v.ForTenant != "same" {
			t.Errorf("%s: for tenant: %v", v.Name, err)
		} else {
			check("tenant ring", bound.EncryptionFingerprints(),
				func(dst []byte) ([]byte, int, error) { return bound.DecryptIndexed(dst, v.Ciphertext, v.AAD) },
				func(dst []byte, i int) ([]byte, error) { return bound.DecryptAt(dst, i, v.Ciphertext, v.AAD) },
				func(dst []byte) ([]byte, error) { return bound.Decrypt(dst, v.Ciphertext, v.AAD) })
		}
		// The ring is consumed, whether it worked or not.
		for name, err := range afterClose(ring) {
			if !errors.Is(err, cachekit.ErrClosed) {
				t.Errorf("%s: %s after ForTenant: %v", v.Name, name, err)
			}
		}
	}
	count(t, "keyrings made", made, 16)
	count(t, "keyrings that open", opened, 2*8)
}

// afterClose calls everything on a closed ring.
func afterClose(r *cachekit.Keyring) map[string]error {
	errs := map[string]error{}
	_, errs["EncryptionFingerprints"] = r.EncryptionFingerprints("t")
	_, errs["Decrypt"] = r.Decrypt(nil, make([]byte, 28), "t", nil)
	_, _, errs["DecryptIndexed"] = r.DecryptIndexed(nil, make([]byte, 28), "t", nil)
	_, errs["DecryptAt"] = r.DecryptAt(nil, 0, make([]byte, 28), "t", nil)
	_, errs["ForTenant"] = r.ForTenant("t")
	return errs
}

func TestKeyringClose(t *testing.T) {
	r, err := cachekit.NewKeyring(secret)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				_, err := r.Decrypt(nil, make([]byte, 28), "t", nil)
				if !errors.Is(err, cachekit.ErrClosed) && !errors.Is(err, cachekit.ErrAuthenticationFailed) {
					t.Error(err)
				}
			}
		})
	}
	r.Close()
	r.Close()
	wg.Wait()
	for name, err := range afterClose(r) {
		if !errors.Is(err, cachekit.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	if !strings.Contains(fmt.Sprint(r), "closed") {
		t.Errorf("closed ring prints as %v", r)
	}

	other, err := cachekit.NewKeyring(secret)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := other.ForTenant("t")
	if err != nil {
		t.Fatal(err)
	}
	bound.Close()
	bound.Close()
	if _, err := bound.Decrypt(nil, make([]byte, 28), nil); !errors.Is(err, cachekit.ErrClosed) {
		t.Errorf("Decrypt after Close: %v", err)
	}
	if _, err := bound.DecryptAt(nil, 0, make([]byte, 28), nil); !errors.Is(err, cachekit.ErrClosed) {
		t.Errorf("DecryptAt after Close: %v", err)
	}
	if bound.EncryptionFingerprints() != nil || !strings.Contains(fmt.Sprint(bound), "closed") {
		t.Errorf("closed ring prints as %v", bound)
	}
}

// encryptionVectors are the vectors of encryption.json 1.3.0.
type sealedVector struct {
	Name         string
	Plaintext    hexBytes `json:"plaintext_hex"`
	CacheKey     string   `json:"cache_key"`
	Format       string
	Compressed   bool
	OriginalType string   `json:"original_type"`
	AAD          hexBytes `json:"aad_hex"`
	Ciphertext   hexBytes `json:"ciphertext_hex"`
	Master       hexBytes `json:"-"`
	With         string   `json:"encrypted_with"`
	Fingerprint  hexBytes `json:"key_fingerprint_hex"`
}

// check opens a sealed vector with the tenant's key and makes its AAD.
func (v *sealedVector) check(t *testing.T, master []byte, tenant string, fingerprint []byte) {
	t.Helper()
	if aad := cachekit.AAD3(prefix, tenant, v.CacheKey, v.Format, v.Compressed, v.OriginalType); !bytes.Equal(aad, append(bytes.Clone(prefix), v.AAD...)) {
		t.Errorf("%s: AAD is %x", v.Name, aad)
	}
	tk, err := cachekit.DeriveTenantKeys(master, tenant)
	if err != nil {
		t.Fatal(err)
	}
	if f := tk.EncryptionFingerprint(); !bytes.Equal(f[:], fingerprint) {
		t.Errorf("%s: fingerprint is %x", v.Name, f)
	}
	key := tk.Encryption()
	pt, err := open(t, newEncryptor(t, key[:]), v.Ciphertext, v.AAD)
	if err != nil || !bytes.Equal(pt, v.Plaintext) {
		t.Errorf("%s: got %x, %v", v.Name, pt, err)
	}
}

func TestEncryptionVectors(t *testing.T) {
	var all struct {
		Master      hexBytes `json:"master_key_hex"`
		Tenant      string   `json:"tenant_id"`
		Fingerprint hexBytes `json:"derived_key_fingerprint_hex"`
		Vectors     []sealedVector
		Default     struct {
			Tenant      string   `json:"tenant_id"`
			Fingerprint hexBytes `json:"derived_key_fingerprint_hex"`
			Vectors     []sealedVector
		} `json:"default_tenant"`
		Keyring struct {
			Tenant  string `json:"tenant_id"`
			Entries []struct {
				ID          string
				Master      hexBytes `json:"master_key_hex"`
				Fingerprint hexBytes `json:"derived_key_fingerprint_hex"`
			}
			Vectors []sealedVector
		}
		MasterKeyInput struct {
			Tenant string `json:"tenant_id"`
			Accept []struct {
				sealedVector
				MasterHex   hexBytes `json:"master_key_hex"`
				Fingerprint hexBytes `json:"derived_key_fingerprint_hex"`
			} `json:"accept_vectors"`
			Reject []struct {
				Name   string
				Master string `json:"master_key_hex"`
			} `json:"reject_vectors"`
			RawReject []struct {
				Name string
				Key  hexBytes `json:"raw_key_hex"`
			} `json:"raw_reject_vectors"`
		} `json:"master_key_input"`
	}
	load(t, "encryption.json", &all)
	count(t, "vectors", len(all.Vectors), 7)
	for _, v := range all.Vectors {
		v.check(t, all.Master, all.Tenant, all.Fingerprint)
	}
	count(t, "default_tenant vectors", len(all.Default.Vectors), 1)
	for _, v := range all.Default.Vectors {
		v.check(t, all.Master, cachekit.DefaultTenant, all.Default.Fingerprint)
	}
	in := all.MasterKeyInput
	count(t, "master_key_input accept", len(in.Accept), 1)
	for _, v := range in.Accept {
		v.check(t, v.MasterHex, in.Tenant, v.Fingerprint)
	}
	// Reading a key from text is the clients' business; what this package takes
	// of it is bytes, and an encryptor takes 32 of them.
	count(t, "master_key_input reject", len(in.Reject), 11)
	for _, v := range in.Reject {
		if key, err := hex.DecodeString(v.Master); err == nil && len(key) >= cachekit.KeySize {
			t.Errorf("%s is a key", v.Name)
		}
	}
	count(t, "master_key_input raw reject", len(in.RawReject), 5)
	for _, v := range in.RawReject {
		want := fmt.Sprintf("Invalid key length: expected 32 bytes, got %d", len(v.Key))
		if _, err := cachekit.NewEncryptor(v.Key); !sameCryptoError(err, want) {
			t.Errorf("%s: %v", v.Name, err)
		}
	}

	count(t, "keyring entries", len(all.Keyring.Entries), 2)
	count(t, "keyring vectors", len(all.Keyring.Vectors), 2)
	k1, k2 := all.Keyring.Entries[0], all.Keyring.Entries[1]
	tenant := all.Keyring.Tenant
	for i, v := range all.Keyring.Vectors {
		e := all.Keyring.Entries[i]
		count(t, v.Name+" named "+v.With, strings.Compare(v.With, e.ID), 0)
		v.check(t, e.Master, tenant, e.Fingerprint)

		both, err := cachekit.NewKeyring(k2.Master, k1.Master)
		if err != nil {
			t.Fatal(err)
		}
		pt, index, err := both.DecryptIndexed(nil, v.Ciphertext, tenant, v.AAD)
		if err != nil || !bytes.Equal(pt, v.Plaintext) || index != 1-i {
			t.Errorf("%s: got %x, %d, %v", v.Name, pt, index, err)
		}
		// The stored fingerprint selects the entry, and no other fits.
		prints, err := both.EncryptionFingerprints(tenant)
		if err != nil {
			t.Fatal(err)
		}
		for j, p := range prints {
			pt, err := both.DecryptAt(nil, j, v.Ciphertext, tenant, v.AAD)
			if match := bytes.Equal(p[:], v.Fingerprint); match != (err == nil) || match && !bytes.Equal(pt, v.Plaintext) {
				t.Errorf("%s: entry %d: %x, %v", v.Name, j, pt, err)
			}
		}
		if f := cachekit.Fingerprint(e.Master); bytes.Equal(f[:], v.Fingerprint) {
			t.Errorf("%s: the master key's fingerprint selects", v.Name)
		}
		one, err := cachekit.NewKeyring(k2.Master)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := one.Decrypt(nil, v.Ciphertext, tenant, v.AAD); (err == nil) != (v.With == "k2") {
			t.Errorf("%s: k2 alone: %v", v.Name, err)
		}
	}
}

func TestAAD3(t *testing.T) {
	const want = "030000000e63726f73732d73646b2d746573740000000d746573743a766563746f723a31000000076d73677061636b0000000546616c7365"
	if got := hex.EncodeToString(cachekit.AAD3(nil, "cross-sdk-test", "test:vector:1", "msgpack", false, "")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
