package copies

// Grams are the hashes of every Gram tokens in a row of a text.
func Grams(t []Token) []uint64 {
	const n = Gram
	if len(t) < n {
		return nil
	}
	const base = 0x9E3779B97F4A7C15
	first := uint64(1) // of the token that leaves: base to the power n-1
	for range n - 1 {
		first *= base
	}
	all := make([]uint64, 0, len(t)-n+1)
	h := uint64(0)
	for i, one := range t {
		if i >= n {
			h -= uint64(t[i-n].Kind) * first
		}
		h = h*base + uint64(one.Kind)
		if i >= n-1 {
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
