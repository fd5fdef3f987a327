package sim

import (
	"fmt"
	"strconv"
	"strings"

	"flashlab/device"
	"flashlab/device/sim/hostside"
)

// undefinedAsNaN is preprocessed text in which the floating variables that declarations leave undefined
// become NaN, and whether there are any. What the compilers write there by themselves (fillLocals) is
// finite, with g++ all of it and with clang++ halves: exp(-INFINITY) times that is the 0 that was
// forgotten. Whatever follows keeps its line and column.
func undefinedAsNaN(text string, s moduleSource) (string, bool) {
	all := hostside.UndefinedIn(device.BlankNonCode(text), ownParts(text, s))
	if len(all) == 0 {
		return text, false
	}
	var b strings.Builder
	offset, line := 0, 0
	for full := range strings.Lines(text) {
		if m := lineMarker.FindStringSubmatch(full); m != nil {
			line, _ = strconv.Atoi(m[1])
			line--
		}
		done := 0
		for ; len(all) > 0 && all[0].Behind <= offset+len(full); all = all[1:] {
			at := all[0].Behind - offset
			b.WriteString(full[done:at])
			done = at
			for _, name := range all[0].Names {
				fmt.Fprintf(&b, " ::simt::undefined(%s);", name)
			}
			if strings.TrimSpace(full[at:]) != "" {
				fmt.Fprintf(&b, "\n# %d\n%s", line, strings.Repeat(" ", at))
			}
		}
		b.WriteString(full[done:])
		offset += len(full)
		line++
	}
	return b.String(), true
}
