package similar

import "flashlab/grader/grading/copies"

// A fingerprint is the hash of gram tokens in a row; of each window of such hashes one is
// kept. So whatever two files share of gram + window - 1 tokens, some six lines, is found,
// and what is shorter than gram tokens is not: an index expression or the head of a loop is
// nobody's own.
const (
	gram   = 24
	window = 12
)

// print is a fingerprint, and its first token's place in the file.
type print struct {
	hash uint64
	at   int32
}

// grams are the hashes of every gram of a file.
func grams(t []copies.Token) []uint64 { return copies.Grams(t, gram) }

// winnow keeps the smallest hash of each window, the last one of equals.
func winnow(g []uint64) (kept []print) {
	for from := 0; from == 0 || from+window <= len(g); from++ {
		least := -1
		for i := from; i < min(from+window, len(g)); i++ {
			if least < 0 || g[i] <= g[least] {
				least = i
			}
		}
		if least >= 0 && (len(kept) == 0 || kept[len(kept)-1].at != int32(least)) {
			kept = append(kept, print{g[least], int32(least)})
		}
	}
	return kept
}
