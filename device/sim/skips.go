package sim

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"flashlab/device"
)

// skippedBarrier is the kind of finding about threads that returned without a barrier at which others of their warp
// waited, and had done before what those do only behind it (runtime/skips.cpp).
const skippedBarrier = "barrier not reached by all"

// divergentBarrier is the kind of finding about threads that wait at different barriers.
const divergentBarrier = "divergent barrier"

// endedBefore is the kind of note about threads that have ended while others wait at a barrier.
const endedBefore = "ended before a barrier"

// withSkips leaves of these what the source confirms, and no note on a kernel of which a finding tells more.
func (d *Device) withSkips(all []rawFinding) (left []rawFinding) {
	told := map[string]bool{}
	for _, f := range all {
		told[f.Kernel] = told[f.Kernel] || f.Kind == skippedBarrier && d.shows(f) || f.Kind == divergentBarrier || f.Kind == "deadlock"
	}
	for _, f := range all {
		switch {
		case f.Kind == skippedBarrier && !d.shows(f), f.Kind == endedBefore && (told[f.Kernel] || !d.goesAround(f)):
			continue
		case f.Kind == endedBefore && d.options.Strict:
			f.Check = "synccheck"
		}
		left = append(left, f)
	}
	return left
}

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

// leavesEarly is how a thread may honestly be gone, or a macro that may hide it.
var leavesEarly = regexp.MustCompile(`\b(?:return|goto|asm|__asm__)\b`)

// goesAround reports whether threads that ended early must have gone around the barrier. They must have if it is in the
// kernel's own body and nothing there lets a thread leave before the last line.
func (d *Device) goesAround(f rawFinding) bool {
	m := d.module(f.Module)
	if m == nil {
		return false
	}
	for _, text := range append(slices.Collect(maps.Values(m.source.Files)), m.source.Text) {
		for line := range strings.Lines(strings.ReplaceAll(device.BlankComments(text), "\\\n", " ")) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") && leavesEarly.MatchString(line) {
				return false
			}
		}
	}
	file, line := fileOf(m.source.Files, m.source.Name, f.Line)
	body := kernelBody(device.BlankNonCode(m.text(file)), line)
	return body != "" && !leavesEarly.MatchString(body)
}

var global = regexp.MustCompile(`\b__global__\b[^{};]*\{`)

// kernelBody is the body of the kernel to which a line belongs, "" if it belongs to none.
func kernelBody(code string, line int) string {
	for _, at := range global.FindAllStringIndex(code, -1) {
		open := at[1] - 1
		end := device.Closing(code, open)
		if first := 1 + strings.Count(code[:open], "\n"); end > 0 && first <= line && line <= first+strings.Count(code[open:end], "\n") {
			return code[open:end]
		}
	}
	return ""
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
