package build

import (
	"fmt"
	"path/filepath"
	"strings"
)

// patched applies a diff in the unified form, but for its line numbers, which nobody would keep right:
// after a line that begins with @@ come lines of the text, which begin with a blank or, if they go, with
// a minus, and new ones, which begin with a plus. What stands before the first @@ explains, or names a
// base by a line "--- task4_flash/solution/_versions/4_quads/kernels.cu".
func patched(text, diff []byte) ([]byte, error) {
	rest := strings.SplitAfter(string(text), "\n")
	var out strings.Builder
	hunks := strings.Split("\n"+string(diff), "\n@@")[1:]
	for n, hunk := range hunks {
		_, lines, _ := strings.Cut(hunk, "\n")
		var old, now []string
		for line := range strings.Lines(lines + "\n") {
			switch mark, line := line[0], line[1:]; {
			case mark == ' ':
				old, now = append(old, line), append(now, line)
			case mark == '-':
				old = append(old, line)
			case mark == '+':
				now = append(now, line)
			case mark != '\n':
				return nil, fmt.Errorf("part %d of the diff has a line that begins with %q: want a blank, - or +", n+1, mark)
			}
		}
		at := find(rest, old)
		if at < 0 {
			return nil, fmt.Errorf("part %d of the diff does not fit: the next version's file no longer has, once and in this order, the lines\n%s", n+1, strings.Join(old, ""))
		}
		out.WriteString(strings.Join(append(rest[:at:at], now...), ""))
		rest = rest[at+len(old):]
	}
	if len(hunks) == 0 {
		return nil, fmt.Errorf("the diff changes nothing: want lines after @@")
	}
	out.WriteString(strings.Join(rest, ""))
	return []byte(out.String()), nil
}

// find is where the only such lines are; -1 where there are none, or several.
func find(text, lines []string) int {
	found := -1
	for at := 0; at+len(lines) <= len(text); at++ {
		same := len(lines) > 0
		for i := 0; same && i < len(lines); i++ {
			same = text[at+i] == lines[i]
		}
		if same && found >= 0 {
			return -1
		}
		if same {
			found = at
		}
	}
	return found
}

// baseOf is the file that a diff names as what it changes; "" is the next version's.
func baseOf(diff []byte) string {
	head, _, _ := strings.Cut("\n"+string(diff), "\n@@")
	_, base, _ := strings.Cut(head, "\n--- ")
	base, _, _ = strings.Cut(base, "\n")
	return filepath.FromSlash(strings.TrimSpace(base))
}
