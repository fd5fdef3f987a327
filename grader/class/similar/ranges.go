package similar

import (
	"slices"

	"flashlab/grader/grading/copies"
)

// mostRanges of a pair are listed.
const mostRanges = 12

// mostPlaces of one fingerprint in a file are looked at: one that repeats itself tells little.
const mostPlaces = 16

// spot is where a fingerprint is: in which file, and at which token.
type spot struct {
	file int
	at   int32
}

// ranges joins fingerprints that follow each other in both into stretches.
func ranges(a, b *entry, forgiven map[uint64]bool) (found []Range) {
	places := map[uint64][]spot{}
	for i, f := range b.files {
		for _, p := range f.prints {
			if len(places[p.Hash]) < mostPlaces {
				places[p.Hash] = append(places[p.Hash], spot{i, p.At})
			}
		}
	}
	const near = 2 * (copies.Gram + copies.Window) // tokens between one fingerprint and the next of a stretch
	for _, f := range a.files {
		var current *Range
		var last spot // of the fingerprint before, in b
		var lastA int32
		for _, p := range f.prints {
			there := places[p.Hash]
			if len(there) == 0 || forgiven[p.Hash] {
				continue
			}
			next := there[0]
			follows := slices.IndexFunc(there, func(s spot) bool {
				return current != nil && s.file == last.file && s.at > last.at && s.at-last.at <= near && p.At-lastA <= near
			})
			if follows >= 0 {
				next = there[follows]
			} else {
				found = append(found, Range{FileA: f.name, FromA: f.line(p.At), FileB: b.files[next.file].name, FromB: b.files[next.file].line(next.at)})
				current = &found[len(found)-1]
			}
			current.ToA, current.ToB = f.line(p.At+copies.Gram-1), b.files[next.file].line(next.at+copies.Gram-1)
			current.Fingerprints++
			one := Same{f.line(p.At), current.ToA, b.files[next.file].line(next.at), current.ToB}
			// What both have from one fingerprint into the next is one piece.
			if step := p.At - lastA; follows >= 0 && step <= copies.Gram && step == next.at-last.at {
				piece := &current.Same[len(current.Same)-1]
				piece.ToA, piece.ToB = one.ToA, one.ToB
			} else {
				current.Same = append(current.Same, one)
			}
			last, lastA = next, p.At
		}
	}
	slices.SortStableFunc(found, func(x, y Range) int { return y.Fingerprints - x.Fingerprints })
	return found[:min(len(found), mostRanges)]
}

func (f file) line(at int32) int { return int(f.lines[min(int(at), len(f.lines)-1)]) }
