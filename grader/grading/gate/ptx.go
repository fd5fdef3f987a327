package gate

import (
	"regexp"
	"strings"

	"flashlab/device"
)

var (
	asmStatement = regexp.MustCompile(`\b(?:asm|__asm__|__asm)\b(?:\s*(?:volatile|__volatile__)\b)?\s*`)
	hostRegister = regexp.MustCompile(`\bregister\b`)
	hashLine     = regexp.MustCompile(`(?m)^[ \t]*#[^\n]*`)
)

// checkStatements looks at where asm statements stand, where a task allows them. Their text is
// PTX: the simulator translates it, or says what is wrong with it, and never hands it on. What
// else an asm could be is refused here: code of the file itself, the name of a symbol, a variable in
// a register, a branch, or an asm inside of another one's operands.
func checkStatements(code string, refuse func(int, string, string)) {
	code = hashLine.ReplaceAllStringFunc(code, func(l string) string { return strings.Repeat(" ", len(l)) })
	line := func(at int) int { return 1 + strings.Count(code[:at], "\n") }
	done, depth, counted := 0, 0, 0
	for _, m := range asmStatement.FindAllStringIndex(code, -1) {
		word := asmWord.FindString(code[m[0]:m[1]])
		if m[0] < done {
			refuse(line(m[0]), word+" in the operands of another", "compute the operand before, in C++")
			continue
		}
		depth += strings.Count(code[counted:m[0]], "{") - strings.Count(code[counted:m[0]], "}")
		counted = m[0]
		begins := strings.LastIndexAny(code[:m[0]], ";{}") + 1
		switch before := code[begins:m[0]]; {
		case depth < 1:
			refuse(line(m[0]), word+" outside of a function", "inline PTX belongs into a __device__ function")
		case hostRegister.MatchString(before):
			refuse(line(m[0]), "a variable in a register of its own", "inline PTX takes its operands from C++: \"r\"(x)")
		case m[1] >= len(code) || code[m[1]] != '(':
			refuse(line(m[0]), word+" "+firstWord(code[m[1]:]), "want asm(\"PTX\" : outputs : inputs), or asm volatile(…)")
		}
		if m[1] < len(code) && code[m[1]] == '(' {
			if done = 1 + device.Closing(code, m[1]); done == 0 {
				done = len(code)
			}
		}
	}
}

// firstWord shows what stands there.
func firstWord(text string) string {
	if words := strings.Fields(text[:min(len(text), 40)]); len(words) > 0 {
		return words[0]
	}
	return "at the end of the file"
}
