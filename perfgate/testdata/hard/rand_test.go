package hard

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"hash/maphash"
	mathrand "math/rand/v2"
	"testing"
)

// Chance itself. What rejects a random number and draws another takes another
// time with another one.

func BenchmarkECDSASign(b *testing.B) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	digest := sha256.Sum256([]byte("message"))
	for b.Loop() {
		if sinkBytes, err = ecdsa.SignASN1(rand.Reader, key, digest[:]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCryptoRand(b *testing.B) {
	buf := make([]byte, 48)
	for i := 0; i < b.N; i++ {
		rand.Read(buf)
		for buf[0] > 100 {
			rand.Read(buf[:1])
		}
	}
}

func BenchmarkMathRand(b *testing.B) {
	for b.Loop() {
		sinkInt += mathrand.IntN(1000)
		mathrand.Shuffle(10, func(i, j int) { sinkInt += i })
	}
}

func BenchmarkMaphash(b *testing.B) {
	for i := 0; i < b.N; i++ {
		if maphash.String(maphash.MakeSeed(), "key")%3 == 0 {
			sinkInt += i % 7
		}
	}
}
