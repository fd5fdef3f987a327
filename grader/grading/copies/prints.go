package copies

// A fingerprint is the hash of Gram tokens in a row; of each Window of such hashes one is kept (winnowing). So whatever
// two texts share of Gram + Window - 1 tokens, some six lines, is found, and what is shorter than Gram tokens is not:
// an index expression or the head of a loop is nobody's own. Copies of the course's code and likeness in a class are
// told by the same fingerprints.
const (
	Gram   = 18
	Window = 8
)

// Print is a fingerprint, and its first token's place.
type Print struct {
	Hash uint64
	At   int32
}

// Prints are the fingerprints of tokens: of each window the smallest hash, the last one of equals.
func Prints(t []Token) (kept []Print) {
	g := Grams(t)
	for from := 0; from == 0 || from+Window <= len(g); from++ {
		least := -1
		for i := from; i < min(from+Window, len(g)); i++ {
			if least < 0 || g[i] <= g[least] {
				least = i
			}
		}
		if least >= 0 && (len(kept) == 0 || kept[len(kept)-1].At != int32(least)) {
			kept = append(kept, Print{g[least], int32(least)})
		}
	}
	return kept
}
