package sim

import (
	"fmt"
	"regexp"
	"strings"
)

// Of a program's assembly only what kernels may come to is read and given hooks: functions and tables that a kernel
// names, or that such a one names. The host's code may have any instruction.

// part is a function or a variable in the assembly.
type part struct {
	from, to int // lines
	code     bool
	reached  bool
}

var (
	symbolType = regexp.MustCompile(`^\s*\.type\s+([\w.$]+), ?[@%](function|object|gnu_unique_object)`)
	symbolSize = regexp.MustCompile(`^\s*\.size\s+([\w.$]+), ?`)
	symbolName = regexp.MustCompile(`[A-Za-z_][\w.$]*`)
	notNames   = regexp.MustCompile(`^\s*\.(?:loc|cfi|file|section|align|p2align|globl|weak|type|size|local|comm|text|data|bss|hidden)`)
)

// How a kernel is called, by the simulator and by the host: no kernel's code.
var callsKernels = []string{"_ZN4simt6Called", "_ZN4simt5start"}

// hostPart stands for a function of the host's, by its lines.
const hostPart = "#simt-host "

// watchKernels is watch for a program's assembly.
func (c *compiler) watchKernels(assembly string) (string, error) {
	lines := strings.Split(assembly, "\n")
	parts := partsOf(lines)
	var queue []string
	reach := func(name string) {
		p := parts[name]
		if p == nil || p.reached {
			return
		}
		for _, prefix := range callsKernels {
			if strings.HasPrefix(name, prefix) {
				return
			}
		}
		p.reached = true
		queue = append(queue, name)
	}
	for name := range parts {
		if inner, ok := strings.CutPrefix(name, "_ZZ"); ok {
			if inner, _, ok := strings.Cut(inner, "E11simt_kernel"); ok {
				reach("_Z" + inner)
				reach(strings.TrimLeft(inner, "0123456789"))
			}
		}
	}
	for len(queue) > 0 {
		name := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		reach(name + ".cold")
		p := parts[name]
		for _, line := range lines[p.from:p.to] {
			if notNames.MatchString(line) {
				continue
			}
			for _, word := range symbolName.FindAllString(line, -1) {
				reach(word)
			}
		}
	}
	cut := map[int]*part{}
	for _, p := range parts {
		if p.code && !p.reached {
			cut[p.from] = p
		}
	}
	var kept []string
	for i := 0; i < len(lines); i++ {
		if p := cut[i]; p != nil {
			kept = append(kept, fmt.Sprintf("%s%d %d", hostPart, p.from, p.to))
			i = p.to - 1
			continue
		}
		kept = append(kept, lines[i])
	}
	watched, err := c.watch(strings.Join(kept, "\n"))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for line := range strings.Lines(watched) {
		if strings.HasPrefix(line, hostPart) {
			var from, to int
			if _, err := fmt.Sscanf(line[len(hostPart):], "%d %d", &from, &to); err != nil {
				return "", err
			}
			out.WriteString(strings.Join(lines[from:to], "\n") + "\n")
			continue
		}
		out.WriteString(line)
	}
	return out.String(), nil
}

// partsOf finds each function and variable, from its label to its size.
func partsOf(lines []string) map[string]*part {
	parts, code := map[string]*part{}, map[string]bool{}
	for i, line := range lines {
		if m := symbolType.FindStringSubmatch(line); m != nil {
			code[m[1]] = m[2] == "function"
			continue
		}
		if m := labelLine.FindStringSubmatch(line); m != nil {
			if _, known := code[m[1]]; known {
				parts[m[1]] = &part{from: i, to: i + 1, code: code[m[1]]}
			}
			continue
		}
		if m := symbolSize.FindStringSubmatch(line); m != nil && parts[m[1]] != nil {
			parts[m[1]].to = i
		}
	}
	// g++ gives a variable its size before its label: it ends where the next label stands.
	for _, p := range parts {
		for !p.code && p.to < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[p.to]), ".") && !symbolType.MatchString(lines[p.to]) && !strings.Contains(lines[p.to], ".section") {
			p.to++
		}
	}
	return parts
}
