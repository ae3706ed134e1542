package main

import (
	"errors"

	cachekit "github.com/cachekit-go/cachekit/core"
)

// A code is a CachekitError of the header.
type code uint32

const (
	ok                   code = 0
	invalidInput         code = 1
	checksumMismatch     code = 2
	decompressionFailed  code = 3
	decryptionFailed     code = 4
	rotationNeeded       code = 5
	counterExhausted     code = 6
	invalidKeyLength     code = 7
	bufferTooSmall       code = 8
	nullPointer          code = 9
	inputTooLarge        code = 10
	decompressionBomb    code = 11
	sizeValidationFailed code = 12
	domainTooLong        code = 14 // 13 is of a random source that fails
	saltTooLong          code = 15
	invalidHandle        code = 16
)

// codes are the kinds of errors that have a code of their own. All others are
// invalidInput.
var codes = []struct {
	kind error
	code code
}{
	{cachekit.ErrInputTooLarge, inputTooLarge},
	{cachekit.ErrDecompressionBomb, decompressionBomb},
	{cachekit.ErrChecksumMismatch, checksumMismatch},
	{cachekit.ErrDecompressionFailed, decompressionFailed},
	{cachekit.ErrSizeValidationFailed, sizeValidationFailed},
	{cachekit.ErrInvalidKeyLength, invalidKeyLength},
	{cachekit.ErrAuthenticationFailed, decryptionFailed},
	{cachekit.ErrNonceCounterExhausted, counterExhausted},
	{cachekit.ErrInvalidMasterKeyLength, invalidKeyLength},
	{cachekit.ErrDomainTooLong, domainTooLong},
	{cachekit.ErrTenantSaltTooLong, saltTooLong},
}

// codeOf returns the code of an error of package cachekit.
func codeOf(err error) code {
	if err == nil {
		return ok
	}
	for _, c := range codes {
		if errors.Is(err, c.kind) {
			return c.code
		}
	}
	return invalidInput
}

// rescue is deferred. It turns a panic into the result is.
func rescue[T any](result *T, is T) {
	if recover() != nil {
		*result = is
	}
}
