package sim

import (
	"strings"

	"flashlab/device"
)

// skippedBarrier is the kind of finding about threads that returned without a barrier at which others of their warp
// waited, and had done before what those do only behind it (runtime/skips.cpp).
const skippedBarrier = "barrier not reached by all"

// shows tells whether what they did shows that they skipped the barrier. It does not
//   - where the compiler made one instruction of two lines, which then has no line: one may be before the barrier;
//   - before the barrier, where others come in a later round of a loop, or in a function that both call;
//   - in a block that ends with return: whoever does this leaves the kernel, in whichever round.
func (d *Device) shows(f rawFinding) bool {
	m := d.module(f.Module)
	if m == nil {
		return true
	}
	at := m.debug().exactly(f.OtherPC, m.owns)
	text := m.text(at.file)
	if text == "" || at.line == 0 {
		return false
	}
	barrier, line := fileOf(m.source.Files, m.source.Name, f.Line)
	file, n := fileOf(m.source.Files, at.file, at.line)
	if file == barrier && n < line || file != barrier && file != m.source.Name {
		return false
	}
	return !leaves(device.BlankNonCode(text), at.line%headerLines)
}

// leaves tells whether the innermost block around a line ends with return.
func leaves(code string, line int) bool {
	lines := strings.SplitAfterN(code, "\n", line)
	if len(lines) < line {
		return false
	}
	depth := 0
	for i := len(code) - len(lines[line-1]) - 1; i >= 0; i-- {
		switch code[i] {
		case '}':
			depth++
		case '{':
			if depth--; depth < 0 {
				block := strings.TrimRight(code[i:max(i, device.Closing(code, i))], " \t\r\n")
				return strings.HasSuffix(block, "return;")
			}
		}
	}
	return false
}
