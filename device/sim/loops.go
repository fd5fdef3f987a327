package sim

import (
	"regexp"
	"strings"

	"flashlab/device"
)

var (
	loopBegins = regexp.MustCompile(`\b(?:for|while|do)\b`)
	// ofTheBlock is a barrier of the whole block as it is mostly spelt; someBarrier is one of any kind.
	ofTheBlock  = regexp.MustCompile(`\b__syncthreads\w*\s*\(|\b(?:block|cta|this_thread_block\(\))\.sync\s*\(`)
	someBarrier = regexp.MustCompile(`(?i)sync|barrier|wait`)
)

// source is a file of a kernel's, for what its debug information does not say.
type source struct {
	lines []string // without comments
	loops []stretch
	// The bodies of functions and lambdas: what calls them is elsewhere, and so is the loop.
	bodies []stretch
}

func readSource(text string) source {
	code := device.BlankNonCode(text)
	s := source{lines: strings.Split(code, "\n")}
	s.bodies = bodiesOf(code)
	line, counted := 1, 0
	for _, at := range loopBegins.FindAllStringIndex(code, -1) {
		line += strings.Count(code[counted:at[0]], "\n")
		counted = at[0]
		if end := endOfLoop(code, at[1]); end >= 0 {
			s.loops = append(s.loops, stretch{line, line + strings.Count(code[at[0]:end], "\n")})
		}
	}
	return s
}

var (
	bodyBegins = regexp.MustCompile(`[\])]\s*(?:const|noexcept|mutable|->[\w:<>*& ]+)?\s*$`)
	control    = regexp.MustCompile(`^\s*(?:\}?\s*else\s+)?(?:if|for|while|switch)\b`)
)

// bodiesOf lists the blocks that have a head with parameters, and are not of an if or a loop.
func bodiesOf(code string) (all []stretch) {
	line, from := 1, 0
	for i := range len(code) {
		switch code[i] {
		case '\n':
			line++
		case ';', '}':
			from = i + 1
		case '{':
			head := code[from:i]
			if last := strings.LastIndex(head, ";"); last >= 0 {
				head = head[last+1:]
			}
			from = i + 1
			if end := device.Closing(code, i); end > 0 && bodyBegins.MatchString(head) && !insideFor(head) {
				all = append(all, stretch{line, line + strings.Count(code[i:end], "\n")})
			}
		}
	}
	return all
}

// insideFor is true of what stands between the block before and the brace of an if or a loop; of a for it may be the
// last part alone: i++).
func insideFor(head string) bool {
	return control.MatchString(head) || strings.Count(head, ")") > strings.Count(head, "(")
}

// inOneBody tells whether two lines are in the body of the same function: only then does their order say something.
func (s source) inOneBody(a, b int) bool {
	body := func(line int) (best stretch) {
		for _, x := range s.bodies {
			if x.holds(line) && (best == stretch{} || x.last-x.first <= best.last-best.first) {
				best = x
			}
		}
		return best
	}
	return body(a) == body(b)
}

// read is a file of the module's, read at its first use.
func (m *module) read(file string) source {
	s, known := m.sources[file]
	if !known {
		s = readSource(m.text(file))
		if m.sources == nil {
			m.sources = map[string]source{}
		}
		m.sources[file] = s
	}
	return s
}

// stretch is a range of lines, both ends included.
type stretch struct{ first, last int }

func (s stretch) holds(line int) bool { return s.first <= line && line <= s.last }

// loopAround is the innermost loop that both lines belong to.
func (s source) loopAround(a, b int) (best stretch, ok bool) {
	for _, loop := range s.loops {
		if loop.holds(a) && loop.holds(b) && (!ok || loop.last-loop.first <= best.last-best.first) {
			best, ok = loop, true
		}
	}
	return best, ok
}

// endOfLoop is where the body ends of a loop whose keyword ends at a place; -1 if it does not.
func endOfLoop(code string, at int) int {
	for at < len(code) {
		switch code[at] {
		case '{':
			return device.Closing(code, at)
		case '(':
			if at = device.Closing(code, at); at < 0 {
				return -1
			}
		case ';':
			return at
		}
		at++
	}
	return -1
}

// barriers reports whether a range of lines contains a barrier of the whole block, and whether it contains any other.
func (s source) barriers(in stretch) (block, others bool) {
	for n := max(in.first, 1); n <= min(in.last, len(s.lines)); n++ {
		line := s.lines[n-1]
		block = block || ofTheBlock.MatchString(line)
		others = others || someBarrier.MatchString(ofTheBlock.ReplaceAllString(line, ""))
	}
	return block, others
}
