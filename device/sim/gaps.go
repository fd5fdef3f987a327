package sim

import (
	"fmt"
	"strconv"
	"strings"
)

// gapOfVariables is how many bytes before each of a module's variables are nobody's, as there are between arrays in
// device memory. Without them an index behind one variable lands in the next, and nobody sees it.
const gapOfVariables = 256

// withGaps returns the assembly with room between variables. Those of shared memory keep their places: a GPU leaves
// no room between them, and a kernel has little of it.
func withGaps(assembly string) string {
	var out strings.Builder
	writable, align := false, 1
	for line := range strings.Lines(assembly) {
		text := strings.TrimSpace(line)
		if !strings.HasPrefix(text, ".") && !(writable && strings.Contains(text, ":")) { // most lines: instructions
			out.WriteString(line)
			continue
		}
		fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
		switch {
		case len(fields) == 0:
		case fields[0] == ".section":
			writable, align = ofVariables(text), 1
		case fields[0] == ".data" || fields[0] == ".bss":
			writable, align = true, 1
		case fields[0] == ".text":
			writable = false
		case (strings.HasSuffix(fields[0], "align")) && len(fields) > 1:
			align = alignedTo(fields[1])
		case fields[0] == ".comm" && len(fields) == 4: // a function's own: `.local name` comes before it
			fmt.Fprintf(&out, ".pushsection .bss\n.balign %s\n.zero %d\n%s:\n.zero %s\n.type %[3]s, %%object\n.size %[3]s, %[4]s\n.popsection\n",
				fields[3], max(gapOfVariables, alignedTo(fields[3])), fields[1], fields[2])
			continue
		case writable && strings.HasSuffix(fields[0], ":") && !strings.HasPrefix(fields[0], ".L"):
			fmt.Fprintf(&out, "\t.zero %d\n", max(gapOfVariables, align)) // a multiple of the alignment
			align = 1
		}
		out.WriteString(line)
	}
	return out.String()
}

// ofVariables tells whether a section holds variables that threads of all blocks share.
func ofVariables(directive string) bool {
	name, flags, found := strings.Cut(strings.TrimSpace(strings.TrimPrefix(directive, ".section")), ",")
	flags, _, _ = strings.Cut(strings.Trim(flags, " \t"), ",")
	variables := strings.HasPrefix(name, ".data") && !strings.HasPrefix(name, ".data.rel.ro") || strings.HasPrefix(name, ".bss")
	return variables && found && strings.Contains(flags, "w") && !strings.Contains(flags, "T")
}

// alignedTo is what a directive may mean, as some processors' assemblers take it for a power of two.
func alignedTo(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 1
	}
	if n < 16 {
		n = max(n, 1<<n)
	}
	return n
}
