package sim

import "strings"

// A structure of two floats is one access of 8 bytes on x86-64, whoever passes it. On AArch64 a call
// gives and takes it in two registers, so there are two instructions. They are told as one, so
// that the same is counted.

// joined finds the accesses that go on where one ends, up to a width that a thread can ask for at once.
// Their lines need no further hook. It returns the bytes of all.
func (u *unseen) joined(s *state, line int) int64 {
	l := &u.lines[line]
	first := s.armAddress(l.access.place)
	bytes := int64(l.access.bytes())
	best := bytes
	var more []int
	s = s.clone()
	s.followAt(l, line)
	for n := line + 1; n < len(u.lines); n++ {
		l := &u.lines[n]
		if strings.HasPrefix(strings.TrimSpace(l.text), ".loc") || l.label != "" && !strings.HasPrefix(l.label, ".LV") && !strings.HasPrefix(l.label, ".LB") {
			break
		}
		if l.op == "" {
			continue
		}
		if l.op == "bl" || l.op == "blr" || l.jump != "" || l.ends {
			break
		}
		if a := l.access; a != nil && !a.none && !u.covered[n] {
			if a.each == 0 {
				break
			}
			if lacks := u.lacking(s, l); len(lacks) > 0 {
				apart := s.armAddress(a.place).add(first, -1)
				if len(apart.terms) > 0 || apart.plus != bytes || a.write != u.lines[line].access.write ||
					lacks[0].bytes != int64(a.bytes()) || bytes+lacks[0].bytes > 16 {
					break
				}
				more = append(more, n)
				if bytes += lacks[0].bytes; bytes&(bytes-1) == 0 {
					best = bytes
					for _, n := range more {
						u.covered[n] = true
					}
				}
			}
		}
		s.followAt(l, n)
	}
	return best
}

func (s *state) followAt(l *statement, line int) {
	s.line, s.made = line, 0
	s.followArm(l)
}
