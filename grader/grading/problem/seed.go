package problem

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// SeedOf is the seed of one part of a grading, a case or a timed run. Who knows it can tell neither the grading's nor
// any other part's, so that a submission that reads its inputs learns nothing of the next.
func SeedOf(grading uint64, part string) uint64 {
	return binary.LittleEndian.Uint64(mac(grading, part))
}

// Random draws what a submission must not foresee, such as the pieces of its output that are looked at.
func Random(grading uint64, part string) *rand.Rand {
	return rand.New(rand.NewChaCha8([32]byte(mac(grading, part))))
}

// mac is HMAC-SHA256 of the part's name.
func mac(grading uint64, part string) []byte {
	h := hmac.New(sha256.New, binary.LittleEndian.AppendUint64(nil, grading))
	h.Write([]byte(part))
	return h.Sum(nil)
}
