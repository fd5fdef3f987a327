package similar

// candidate is a pair in one task.
type candidate struct {
	a, b   *entry
	shared Shared
}

// alike makes a candidate of two entries, if what they share is enough to be told.
func alike(a, b *entry, same, of int, forgiven map[uint64]bool) (candidate, bool) {
	share := float64(same) / float64(max(of, 1))
	if same < fewest || share < leastPart {
		return candidate{}, false
	}
	return candidate{a, b, Shared{Share: min(share, 1), Matched: same, Ranges: ranges(a, b, forgiven)}}, true
}

// amongPeople compares the entries of a task: those of the class, whose origins are below class, with each other and with
// those of earlier years. What much of the class has, or a solution, is forgiven.
func amongPeople(all []entry, class int, forgiven map[uint64]bool) (found []candidate) {
	own := make([]int, len(all)) // fingerprints that nobody forgives
	holders := map[uint64][]int32{}
	for i, e := range all {
		for h := range e.hashes {
			if !forgiven[h] {
				own[i]++
				holders[h] = append(holders[h], int32(i))
			}
		}
	}
	matched := map[[2]int32]int{}
	for _, who := range holders {
		for x, i := range who {
			for _, j := range who[x+1:] {
				if i, j := min(i, j), max(i, j); all[i].origin < class {
					matched[[2]int32{i, j}]++
				}
			}
		}
	}
	for key, n := range matched {
		if c, ok := alike(&all[key[0]], &all[key[1]], n, min(own[key[0]], own[key[1]]), forgiven); ok {
			found = append(found, c)
		}
	}
	return found
}

// withPublished compares each of the class with each published solution, and keeps the one that it is most like. Nothing
// is forgiven: however many of the class have a piece of a solution, each of them has it.
func withPublished(people, published []entry, class int) (found []candidate) {
	for i := range people {
		a := &people[i]
		if a.origin >= class {
			continue
		}
		var best candidate
		for j := range published {
			b := &published[j]
			same := 0
			for h := range a.hashes {
				if b.hashes[h] {
					same++
				}
			}
			c, ok := alike(a, b, same, min(len(a.hashes), len(b.hashes)), nil)
			if !ok {
				if whole := equal(a, b); len(whole) > 0 {
					c, ok = candidate{a, b, Shared{Share: 1, Matched: same, Ranges: whole}}, true
				}
			}
			if ok && (best.a == nil || c.shared.Share > best.shared.Share || c.shared.Share == best.shared.Share && same > best.shared.Matched) {
				best = c
			}
		}
		if best.a != nil {
			found = append(found, best)
		}
	}
	return found
}

// equal are the files that two entries have byte for byte, too short for fingerprints; none that everybody was given.
func equal(a, b *entry) (whole []Range) {
	for _, f := range a.files {
		for _, g := range b.files {
			if f.name == g.name && f.sum == g.sum && f.sum != [32]byte{} {
				last := int(f.lines[len(f.lines)-1])
				whole = append(whole, Range{FileA: f.name, FromA: 1, ToA: last, FileB: g.name, FromB: 1, ToB: last, Same: []Same{{1, last, 1, last}}})
			}
		}
	}
	return whole
}

// commonOf are fingerprints that much of the class has.
func commonOf(all []entry, class int) map[uint64]bool {
	count := map[uint64]int{}
	for _, e := range all {
		if e.origin < class {
			for h := range e.hashes {
				count[h]++
			}
		}
	}
	common := map[uint64]bool{}
	for h, n := range count {
		if n >= commonMin && float64(n) > mostHold*float64(class) {
			common[h] = true
		}
	}
	return common
}
