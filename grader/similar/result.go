// Package similar compares submissions by fingerprints of their tokens.
package similar

// Result is what a comparison found.
type Result struct {
	Compared int      // submissions
	Past     int      // of earlier years
	Pairs    []Pair   // the most alike first
	Left     []string // submissions that could not be compared, and why
}

// Pair is two sets of files that share more than chance and stubs explain.
type Pair struct {
	A, B   Origin
	Share  float64 // of the shorter one's own fingerprints that the other has too
	Tokens int     // that match, about
	Ranges []Range // the longest first
}

// Origin says whose files these are.
type Origin struct {
	ID      string // the student's, or the folder's name in an earlier year
	Name    string
	Attempt int
	Past    string // the earlier year's folder; "" in this class
}

// Range is a stretch that both have.
type Range struct {
	FileA        string
	FromA, ToA   int // lines
	FileB        string
	FromB, ToB   int
	Fingerprints int
}
