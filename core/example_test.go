package cachekit_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"strings"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// A master key comes from a secret store; these make the output repeat.
var (
	exampleMaster = []byte(strings.Repeat("\x42", 32))
	exampleOld    = []byte(strings.Repeat("\x41", 32))
)

// The whole way of an entry: compress, seal, and back.
func Example() {
	keys, err := cachekit.DeriveTenantKeys(exampleMaster, "tenant-123")
	if err != nil {
		log.Fatal(err)
	}
	defer keys.Close()
	key := keys.Encryption()
	defer key.Wipe()
	enc, err := cachekit.NewEncryptor(key[:])
	if err != nil {
		log.Fatal(err)
	}
	defer enc.Close()

	payload := []byte(strings.Repeat("the quick brown fox ", 50))
	aad := cachekit.AAD3(nil, "tenant-123", "users:7", cachekit.DefaultFormat, true, "")
	env, err := cachekit.Store(nil, payload)
	if err != nil {
		log.Fatal(err)
	}
	sealed, err := enc.Seal(nil, env, aad)
	if err != nil {
		log.Fatal(err)
	}

	env, err = enc.Open(nil, sealed, aad)
	if err != nil {
		log.Fatal(err)
	}
	got, format, err := cachekit.Retrieve(nil, env)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(got), format, len(sealed) < len(payload)/10)
	// Output: 1000 msgpack true
}

func ExampleStore() {
	env, err := cachekit.Store(nil, []byte("hello, cachekit!"))
	if err != nil {
		log.Fatal(err)
	}
	payload, format, err := cachekit.Retrieve(nil, env)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d bytes hold %q, %s\n", len(env), payload, format)
	// Output: 42 bytes hold "hello, cachekit!", msgpack
}

// An envelope is not trusted: whatever is wrong with it is an error of a kind.
func ExampleRetrieve() {
	env, err := cachekit.Store(nil, []byte("hello, cachekit!"))
	if err != nil {
		log.Fatal(err)
	}
	env[10] ^= 1 // a letter of the payload
	_, _, err = cachekit.Retrieve(nil, env)
	fmt.Println(err, errors.Is(err, cachekit.ErrChecksumMismatch))

	_, _, err = cachekit.Retrieve(nil, env[:20])
	fmt.Println(errors.Is(err, cachekit.ErrDeserializationFailed))
	// Output:
	// integrity check failed true
	// true
}

// Buffers can be used again: what is made is appended to the first argument.
func ExampleStore_reuse() {
	env := make([]byte, 0, 256)
	payload := make([]byte, 0, 256)
	for _, s := range []string{"one", "two", "three"} {
		var err error
		if env, err = cachekit.Store(env[:0], []byte(s)); err != nil {
			log.Fatal(err)
		}
		if payload, _, err = cachekit.Retrieve(payload[:0], env); err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(payload), cap(env), cap(payload))
	}
	// Output:
	// one 256 256
	// two 256 256
	// three 256 256
}

// A reader of small entries need not be ready for large ones.
func ExampleCodec() {
	small := cachekit.Codec{MaxPayload: 1 << 10, Strict: true, Format: "json"}
	env, err := small.Store(nil, []byte(`{"id":7}`))
	if err != nil {
		log.Fatal(err)
	}
	payload, format, err := small.Retrieve(nil, env)
	fmt.Println(string(payload), format, err)

	_, _, err = small.Retrieve(nil, append(env, 0))
	fmt.Println("one byte more:", errors.Is(err, cachekit.ErrDeserializationFailed))

	env, err = cachekit.Store(nil, make([]byte, 4<<10))
	if err != nil {
		log.Fatal(err)
	}
	_, _, err = small.Retrieve(nil, env)
	fmt.Println("4 KiB:", err)
	// Output:
	// {"id":7} json <nil>
	// one byte more: true
	// 4 KiB: input exceeds maximum size
}

func ExampleEncryptor() {
	enc, err := cachekit.NewEncryptor(exampleMaster)
	if err != nil {
		log.Fatal(err)
	}
	defer enc.Close()
	sealed, err := enc.Seal(nil, []byte("plaintext"), []byte("where it belongs"))
	if err != nil {
		log.Fatal(err)
	}
	plaintext, err := enc.Open(nil, sealed, []byte("where it belongs"))
	fmt.Println(string(plaintext), err)
	_, err = enc.Open(nil, sealed, []byte("elsewhere"))
	fmt.Println(err)
	fmt.Println(enc.Counter(), "of", uint64(1)<<31, "calls until it is time for a new encryptor")
	// Output:
	// plaintext <nil>
	// Authentication verification failed
	// 1 of 2147483648 calls until it is time for a new encryptor
}

// Rotation: the old master key still opens what it sealed.
func ExampleKeyring() {
	key, err := cachekit.DeriveDomainKey(exampleOld, cachekit.DomainEncryption, []byte("tenant-123"))
	if err != nil {
		log.Fatal(err)
	}
	enc, err := cachekit.NewEncryptor(key[:])
	if err != nil {
		log.Fatal(err)
	}
	before, err := enc.Seal(nil, []byte("sealed before the rotation"), nil)
	if err != nil {
		log.Fatal(err)
	}

	ring, err := cachekit.NewKeyring(exampleMaster, exampleOld)
	if err != nil {
		log.Fatal(err)
	}
	defer ring.Close()
	plaintext, index, err := ring.DecryptIndexed(nil, before, "tenant-123", nil)
	fmt.Printf("%s: entry %d, %v\n", plaintext, index, err)
	// An index other than 0 says that the entry should be sealed again.

	_, err = cachekit.NewKeyring(exampleMaster, exampleOld, exampleMaster)
	fmt.Println(errors.Is(err, cachekit.ErrCurrentKeyInDecryptOnlyList))
	// Output:
	// sealed before the rotation: entry 1, <nil>
	// true
}

// One tenant, many calls: the keys are derived once. The fingerprint that was
// stored with an entry chooses the key.
func ExampleKeyring_ForTenant() {
	ring, err := cachekit.NewKeyring(exampleMaster, exampleOld)
	if err != nil {
		log.Fatal(err)
	}
	tenant, err := ring.ForTenant("tenant-123") // ring is closed now
	if err != nil {
		log.Fatal(err)
	}
	defer tenant.Close()

	key, err := cachekit.DeriveDomainKey(exampleOld, cachekit.DomainEncryption, []byte("tenant-123"))
	if err != nil {
		log.Fatal(err)
	}
	stored := cachekit.Fingerprint(key[:])
	enc, err := cachekit.NewEncryptor(key[:])
	if err != nil {
		log.Fatal(err)
	}
	sealed, err := enc.Seal(nil, []byte("plaintext"), nil)
	if err != nil {
		log.Fatal(err)
	}

	for i, print := range tenant.EncryptionFingerprints() {
		if print != stored {
			continue
		}
		plaintext, err := tenant.DecryptAt(nil, i, sealed, nil)
		fmt.Println(i, string(plaintext), err)
	}
	// Output: 1 plaintext <nil>
}

func ExampleAAD3() {
	aad := cachekit.AAD3(nil, "cross-sdk-test", "test:vector:1", "msgpack", false, "")
	fmt.Printf("%x\n", aad[:19])
	fmt.Printf("%q\n", bytes.SplitN(aad[1:], []byte{0, 0, 0}, 5)[1:])
	// Output:
	// 030000000e63726f73732d73646b2d74657374
	// ["\x0ecross-sdk-test" "\rtest:vector:1" "\amsgpack" "\x05False"]
}

func ExampleDeriveDomainKey() {
	key, err := cachekit.DeriveDomainKey(exampleMaster, "cache", []byte("tenant-123"))
	if err != nil {
		log.Fatal(err)
	}
	defer key.Wipe()
	print := cachekit.Fingerprint(key[:])
	fmt.Println(key, hex.EncodeToString(print[:]))

	_, err = cachekit.DeriveDomainKey([]byte("short"), "cache", []byte("tenant-123"))
	fmt.Println(err)
	// Output:
	// <redacted> 8fa454553ad76d7a0b95d9bd00e90ee6
	// Invalid master key length: expected at least 16 bytes, got 5
}

func ExampleDeriveTenantKeys() {
	keys, err := cachekit.DeriveTenantKeys(exampleMaster, "tenant-123")
	if err != nil {
		log.Fatal(err)
	}
	defer keys.Close()
	encryption, authentication := keys.EncryptionFingerprint(), keys.AuthenticationFingerprint()
	fmt.Println(keys.Tenant())
	fmt.Println(hex.EncodeToString(encryption[:]))
	fmt.Println(hex.EncodeToString(authentication[:]))
	// Output:
	// tenant-123
	// 8d08521488d68a3c319fc13ba2fe9daa
	// 776d463d50e10ebacbc60fa54bc7143e
}

// Check a document before a decoder sees it.
func ExampleCheckStructure() {
	fine := []byte("\x81\xa2id\x07") // {"id": 7}
	fmt.Println(cachekit.CheckStructure(fine, cachekit.MaxDepth))

	// An array of four thousand million elements, in five bytes.
	err := cachekit.CheckStructure([]byte("\xdd\xff\xff\xff\xff"), cachekit.MaxDepth)
	var s *cachekit.StructureError
	fmt.Println(errors.As(err, &s))

	deep := bytes.Repeat([]byte{0x91}, 1000) // [[[...
	fmt.Println(cachekit.CheckStructure(append(deep, 0xc0), cachekit.MaxDepth) != nil)
	// Output:
	// <nil>
	// true
	// true
}

// hardware stands for a module or a library that provides AES-256-GCM.
type hardware struct{ cipher.AEAD }

func (h hardware) Seal(dst, nonce, plaintext, aad []byte) []byte {
	fmt.Println("sealing", len(plaintext), "bytes")
	return h.AEAD.Seal(dst, nonce, plaintext, aad)
}

// A cipher of the caller's, under nonces of the library's.
func ExampleSuite() {
	suite := cachekit.Suite{AEAD: func(key []byte) (cipher.AEAD, error) {
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		a, err := cipher.NewGCM(block)
		return hardware{a}, err
	}}
	enc, err := suite.NewEncryptor(exampleMaster)
	if err != nil {
		log.Fatal(err)
	}
	defer enc.Close()
	sealed, err := enc.Seal(nil, []byte("plaintext"), nil)
	if err != nil {
		log.Fatal(err)
	}
	// The bytes are the same, so any encryptor with this key opens them.
	plain, err := cachekit.NewEncryptor(exampleMaster)
	if err != nil {
		log.Fatal(err)
	}
	got, err := plain.Open(nil, sealed, nil)
	fmt.Println(string(got), err)
	// Output:
	// sealing 9 bytes
	// plaintext <nil>
}
