package sim

import (
	"slices"
	"strings"
)

// seen is memory that a hook has reported, and that the next instructions may access.
type seen struct {
	at    value
	bytes int64
	op    touch
	line  int // of the hook
}

func (h seen) equal(o seen) bool {
	return h.bytes == o.bytes && h.op == o.op && h.at.equal(o.at)
}

// plainHook is what a hook is told, without the circumstances: read4, write_range.
func plainHook(name string) string {
	name = strings.TrimPrefix(name, "__tsan_")
	return strings.TrimPrefix(strings.TrimPrefix(name, "unaligned_"), "volatile_")
}

// hook notes what is told by a hook, of the address that is its first argument.
func (s *state) hook(name string) {
	name = plainHook(name)
	h := seen{at: s.registers[s.processor.arguments[0]], line: s.line}
	switch {
	case strings.HasPrefix(name, "read_write"):
		h.op, name = touch{read: true, write: true}, name[len("read_write"):]
	case strings.HasPrefix(name, "read"):
		h.op, name = touch{read: true}, name[len("read"):]
	case strings.HasPrefix(name, "write"):
		h.op, name = touch{write: true}, name[len("write"):]
	default:
		return
	}
	if name == "_range" {
		if size := s.registers[s.processor.arguments[1]]; len(size.terms) == 0 {
			h.bytes = size.plus
		}
	} else if n, ok := immediate(name); ok {
		h.bytes = n
	}
	s.hooked = append(s.hooked, h)
}

// told reports whether hooks have already covered an access.
func (s *state) told(at value, t touch) bool {
	read, write := !t.read, !t.write
	for _, h := range s.hooked {
		apart := at.plus - h.at.plus
		if apart < 0 || apart+int64(t.bytes) > h.bytes || !slices.Equal(at.terms, h.at.terms) {
			continue
		}
		read, write = read || h.op.read, write || h.op.write
	}
	return read && write
}
