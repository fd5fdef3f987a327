package show

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// count writes a number as one reads it: 7, 12,288, 3.1 M.
func count(n uint64) string {
	if n >= 10_000_000 {
		return fmt.Sprintf("%.3g M", float64(n)/1e6)
	}
	digits := strconv.FormatUint(n, 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// bytesOf writes a number of bytes: 768 B, 12 KB, 3.1 MB.
func bytesOf(n uint64) string {
	x, unit := float64(n), "B"
	for _, larger := range []string{"KB", "MB", "GB"} {
		if x < 1024 {
			break
		}
		x, unit = x/1024, larger
	}
	return ratio(x) + " " + unit
}

// ratio writes 128, 9.4, 1.5, 0.06.
func ratio(x float64) string {
	switch {
	case x >= 99.5 || x == float64(int(x)):
		return count(uint64(x + 0.5))
	case x >= 9.95:
		return fmt.Sprintf("%.0f", x)
	}
	return strconv.FormatFloat(x, 'g', 2, 64)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%s %ss", count(uint64(n)), noun)
}

// index writes a thread or a block: (3,0,0).
func index(i [3]int) string { return fmt.Sprintf("(%d,%d,%d)", i[0], i[1], i[2]) }

// dims writes a launch's size without the dimensions of 1: 17, 32 × 8.
func dims(d [3]int) string {
	words := []string{strconv.Itoa(d[0])}
	for i, n := range d[1:] {
		if n > 1 || i == 0 && d[2] > 1 {
			words = append(words, strconv.Itoa(n))
		}
	}
	return strings.Join(words, " × ")
}

func past(op string) string {
	switch op {
	case "read":
		return "read"
	case "write":
		return "wrote"
	}
	return "changed"
}

// width is a share as CSS has it.
func width(share float64) string { return fmt.Sprintf("%.1f%%", 100*min(max(share, 0), 1)) }

// short bounds a text.
func short(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
