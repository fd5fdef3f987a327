package command

import (
	"flag"
	"fmt"
	"strings"
)

// completion is a script for bash: the commands' names first, then the flags of the one that is
// typed. Where neither fits, bash completes files.
func (l List) completion() string {
	var names []string
	var cases strings.Builder
	for _, c := range l {
		if c.Hidden {
			continue
		}
		names = append(names, c.Name)
		var flags []string
		f, _ := c.flags()
		f.VisitAll(func(one *flag.Flag) { flags = append(flags, "-"+one.Name) })
		fmt.Fprintf(&cases, "        %s) words='%s' ;;\n", c.Name, strings.Join(append(flags, "-help"), " "))
	}
	return fmt.Sprintf(`# Bash's completion of the grader's commands and flags:
#     eval "$(out/bin/grader completion)"
_grader() {
    local words= word=${COMP_WORDS[COMP_CWORD]}
    if [ "$COMP_CWORD" -eq 1 ] || [ "${COMP_WORDS[1]}" = help ]; then
        words='%s'
    elif [ "${word:0:1}" = - ]; then
        case ${COMP_WORDS[1]} in
%s        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _grader grader
`, strings.Join(names, " "), cases.String())
}
