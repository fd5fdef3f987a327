package command

// nearest is the name that a mistyped one was probably meant to be; "" if none is like it.
func nearest(typed string, names []string) (near string) {
	least := 1 + max(2, len(typed)/3) // more letters than that are not a slip
	for _, name := range names {
		if d := distance(typed, name); d < least && d < max(len(typed), len(name)) {
			near, least = name, d
		}
	}
	return near
}

// distance is how many letters must be added, removed, changed or exchanged with the next to get from one word to
// another.
func distance(a, b string) int {
	from := make([][]int, len(a)+1) // the first letters of a, to those of b
	for i := range from {
		from[i] = make([]int, len(b)+1)
		from[i][0] = i
	}
	for j := range from[0] {
		from[0][j] = j
	}
	for i := range len(a) {
		for j := range len(b) {
			changed := from[i][j]
			if a[i] != b[j] {
				changed++
			}
			d := min(changed, from[i][j+1]+1, from[i+1][j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, from[i-1][j-1]+1)
			}
			from[i+1][j+1] = d
		}
	}
	return from[len(a)][len(b)]
}
