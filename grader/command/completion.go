package command

import (
	"flag"
	"fmt"
	"strings"
)

// completion is a script for bash: the commands' names first, then the variables and the flags of the one that is
// typed. Where none fits, bash completes files.
func (l List) completion() string {
	var cases strings.Builder
	for _, c := range l {
		if c.Hidden {
			continue
		}
		f, _ := c.flags()
		var words []string
		for _, one := range sorted(f) {
			words = append(words, key(one.Name)+"=")
		}
		f.VisitAll(func(one *flag.Flag) { words = append(words, "-"+one.Name) })
		fmt.Fprintf(&cases, "        %s) words='%s' ;;\n", c.Name, strings.Join(append(words, "-help"), " "))
	}
	return fmt.Sprintf(`# Bash's completion of the grader's commands, variables and flags:
#     eval "$(out/bin/grader completion)"
_grader() {
    local words= word=${COMP_WORDS[COMP_CWORD]}
    if [ "$COMP_CWORD" -eq 1 ] || [ "${COMP_WORDS[1]}" = help ]; then
        words='%s'
    elif [[ $word == [-A-Z]* ]]; then
        case ${COMP_WORDS[1]} in
%s        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _grader grader
`, strings.Join(l.names(), " "), cases.String())
}
