package sim

import (
	"regexp"
	"strings"
)

// On AArch64 a division by zero gives zero. So each integer division gets an instruction
// before it that stops the kernel there (runtime/signals.cpp). Neither changes a register or a
// flag.
var dividing = regexp.MustCompile(`^\s+[us]div\s+[wx]\w+,\s*[wx]\w+,\s*([wx]\w+)`)

func stopDivisions(assembly string) string {
	var out strings.Builder
	for line := range strings.Lines(assembly) {
		if m := dividing.FindStringSubmatch(line); m != nil {
			out.WriteString("\tcbnz\t" + m[1] + ", 77f\n\tbrk\t7\n77:\n")
		}
		out.WriteString(line)
	}
	return out.String()
}
