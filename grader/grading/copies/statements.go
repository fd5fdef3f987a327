package copies

// Fingerprints of tokens in a row end where a statement is put in between. So functions are compared by the set of their
// statements, too: whatever stands between these, and in which order they stand, hides nothing. The course's own
// solutions, and their earlier versions, share at most half of a function with it.
const (
	leastOfOne  = 4   // tokens: a shorter statement is anybody's
	mostFiles   = 10  // of the course have it, or it is anybody's
	leastOwn    = 30  // tokens of a function's own statements, of which there are
	leastCount  = 4   // so many: a function with less has nothing of its own
	ofStatement = 0.6 // of their tokens make a copy
)

// statement is one, by the hash of its tokens.
type statement struct {
	hash   uint64
	tokens int
	line   int32
}

var headWords = map[uint32]bool{hash("for"): true, hash("if"): true, hash("while"): true, hash("switch"): true}

var clauseWords = map[uint32]bool{hash("case"): true, hash("default"): true}

var (
	elseWord, doWord           = hash("else"), hash("do")
	opening                    = map[uint32]bool{hash("("): true, hash("["): true}
	closing                    = map[uint32]bool{hash(")"): true, hash("]"): true}
	comma                      = hash(",")
	colon                      = hash(":")
	noHead, outside            = -1, 0
	hashOffset, hashMultiplier = uint64(14695981039346656037), uint64(1099511628211)
)

// statements cuts tokens into statements: at braces, at semicolons and commas outside of parentheses, behind the
// parentheses of a for, if, while or switch, at else and do, and behind a case.
func statements(all []Token) (found []statement) {
	from, depth, head, clause := 0, outside, noHead, false
	end := func(at, next int) {
		if at-from >= leastOfOne {
			found = append(found, statement{hashOf(all[from:at]), at - from, all[from].Line})
		}
		from = next
	}
	for i, t := range all {
		clause = clause || clauseWords[t.Kind]
		switch {
		case opening[t.Kind]:
			if depth++; head == noHead && i > 0 && headWords[all[i-1].Kind] {
				head = depth
			}
		case closing[t.Kind]:
			if depth == head {
				head = noHead
				end(i+1, i+1)
			}
			depth = max(depth-1, outside)
		case t.Kind == brace || t.Kind == endBrace:
			depth, head = outside, noHead
			end(i, i+1)
		case depth == outside && (t.Kind == semicolon || t.Kind == comma):
			end(i, i+1)
		case t.Kind == elseWord || t.Kind == doWord || clause && depth == outside && t.Kind == colon:
			clause = false
			end(i, i+1)
		}
	}
	end(len(all), len(all))
	return found
}

func hashOf(tokens []Token) uint64 {
	h := hashOffset
	for _, t := range tokens {
		h = (h ^ uint64(t.Kind)) * hashMultiplier
	}
	return mixed(h)
}

// keepOwn leaves out what more than mostFiles files of the course have.
func (f *Function) keepOwn(files map[uint64]int) {
	kept := f.statements[:0]
	for _, s := range f.statements {
		if files[s.hash] <= mostFiles {
			kept = append(kept, s)
			f.own += s.tokens
		}
	}
	f.statements = kept
	if len(kept) < leastCount || f.own < leastOwn {
		f.statements, f.own = nil, 0
	}
}

// byStatements finds functions by their statements: the share of each that is there, and from where to where.
func (l *Library) byStatements(all []Token) map[int]hit {
	there, lines := map[uint64]int{}, map[uint64][2]int32{}
	candidates := map[int]bool{}
	for _, s := range statements(all) {
		if there[s.hash]++; there[s.hash] == 1 {
			lines[s.hash] = [2]int32{s.line, s.line}
		}
		lines[s.hash] = [2]int32{lines[s.hash][0], s.line}
		for _, f := range l.with[s.hash] {
			candidates[f] = true
		}
	}
	hits := map[int]hit{}
	for i := range candidates {
		f, found, used := l.Functions[i], 0, map[uint64]int{}
		h := hit{}
		for _, s := range f.statements {
			if used[s.hash]++; used[s.hash] > there[s.hash] {
				continue
			}
			found += s.tokens
			if at := lines[s.hash]; h.from == 0 {
				h.from, h.to = at[0], at[1]
			} else {
				h.from, h.to = min(h.from, at[0]), max(h.to, at[1])
			}
		}
		if h.share = float64(found) / float64(f.own); h.share >= ofStatement {
			hits[i] = h
		}
	}
	return hits
}
