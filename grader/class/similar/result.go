// Package similar finds submissions that share more of their text than chance, the stubs and
// the published solutions explain. It compares fingerprints of tokens (winnowing): it treats all
// identifiers alike, ignores comments and layout, and accepts functions in any order. It says
// what is alike, never why.
package similar

// Result is what a comparison found.
type Result struct {
	Compared int      // submissions
	Past     int      // submissions of earlier years
	Pairs    []Pair   // of people, the most alike first; then those with published solutions
	More     int      // pairs of people that are not listed any more
	Left     []string // what could not be compared, and why
	Shipped  []Copied // code of the course's own in what the class handed in: shipped, or of a solution
}

// Copied is a function that every release ships, or that a solution has, and that somebody handed in.
type Copied struct {
	By    Origin
	Task  string // its folder
	Of    string // the place in the course: "nn/attention.cu:10-80"
	Share float64
}

// Pair is two submissions that are alike in one task or more.
type Pair struct {
	A, B  Origin
	Share float64 // the largest of its tasks'
	Tasks []Shared
}

// Shared is what two submissions share of one task.
type Shared struct {
	Task    string  // its folder
	Share   float64 // of the fingerprints of the one that has fewer
	Matched int     // fingerprints
	Ranges  []Range // the longest first
}

// Origin says whose files these are.
type Origin struct {
	ID      string // the student's, or a published solution's folder
	Name    string `json:",omitempty"`
	Attempt int    `json:",omitempty"`
	Past    string `json:",omitempty"` // the earlier year's folder, or Published; "" for this class
}

// Published is where a solution of the course's own comes from.
const Published = "published"

// Range is a stretch that both have.
type Range struct {
	FileA        string
	FromA, ToA   int // lines
	FileB        string
	FromB, ToB   int
	Fingerprints int
	Same         []Same // what matches in it, from its first line to its last
}

// Same are lines of a stretch that match as they stand: the same words, but for names, in the same order.
// Between one and the next, either side has lines of its own.
type Same struct{ FromA, ToA, FromB, ToB int }
