package pages

import (
	"html/template"
	"regexp"
)

// quoted is a command in a message, as the terminal has it.
var quoted = regexp.MustCompile("`([^`\n]+)`")

// prose is a bounded message of the grader's, with the commands in it as code. Strangers have a part in it: it is
// escaped first.
func prose(s string, most int) template.HTML {
	return template.HTML(quoted.ReplaceAllString(template.HTMLEscapeString(short(s, most)), "<code>$1</code>"))
}
