package record

import (
	"fmt"
	"strings"
)

// Plural counts something in words: "1 student", "2 students".
func Plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch") || strings.HasSuffix(noun, "ss"):
		noun += "e"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
