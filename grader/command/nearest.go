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

// distance is how many letters must be added, removed or changed to get from one word to
// another.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // from the first letters of a to those of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
