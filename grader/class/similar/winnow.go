package similar

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
func grams(t []tok) []uint64 {
	if len(t) < gram {
		return nil
	}
	const base = 0x9E3779B97F4A7C15
	first := uint64(1) // of the token that leaves: base to the power gram-1
	for range gram - 1 {
		first *= base
	}
	all := make([]uint64, 0, len(t)-gram+1)
	h := uint64(0)
	for i, one := range t {
		if i >= gram {
			h -= uint64(t[i-gram].kind) * first
		}
		h = h*base + uint64(one.kind)
		if i >= gram-1 {
			all = append(all, mixed(h))
		}
	}
	return all
}

// mixed spreads the bits, so that the smallest of a window is any of them.
func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

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
