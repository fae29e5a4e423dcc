package oasis

import (
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 9562 5.5 says so; nothing is secured by it.
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// UUID is the identity of a type, a node, a run or a command (RFC 9562).
type UUID [16]byte

// namespaceOID is that of RFC 9562, 6.6.
var namespaceOID = UUID{0x6b, 0xa7, 0xb8, 0x12, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}

// runPurpose is what runs are derived from, besides the secret.
const runPurpose = "OASIS run of a node"

// ParseUUID reads the 36 characters of a UUID, in either case.
func ParseUUID(text string) (UUID, error) {
	var id UUID
	if len(text) != 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return id, fmt.Errorf("%.60q is no UUID: write it as 6f0f6e7e-3f0b-4c58-9d3c-0d7b6f2a9f31", text)
	}
	digits := text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	if _, err := hex.Decode(id[:], []byte(digits)); err != nil {
		return UUID{}, fmt.Errorf("%q is no UUID: %w", text, err)
	}
	return id, nil
}

// String returns the 36 characters, in lower case.
func (u UUID) String() string {
	text := hex.EncodeToString(u[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// MarshalText writes the 36 characters.
func (u UUID) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads the 36 characters.
func (u *UUID) UnmarshalText(text []byte) error {
	id, err := ParseUUID(string(text))
	if err == nil {
		*u = id
	}
	return err
}

// derivedUUID is of version 5: the same for the same name.
func derivedUUID(name string) UUID {
	digest := sha1.Sum(append(namespaceOID[:], name...)) //nolint:gosec // as above
	return versioned(digest[:], 5)
}

func randomUUID() (UUID, error) {
	var octets [16]byte
	if _, err := rand.Read(octets[:]); err != nil {
		return UUID{}, fmt.Errorf("the system gives no random numbers: %w", err)
	}
	return versioned(octets[:], 4), nil
}

// runOf returns the run that only the owner of this secret can begin and resume (docs/reference/data-channel.md).
func runOf(secret UUID) UUID {
	digest := sha256.Sum256(append([]byte(runPurpose), secret[:]...))
	return versioned(digest[:], 8)
}

func versioned(octets []byte, version byte) UUID {
	var id UUID
	copy(id[:], octets)
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
	return id
}
