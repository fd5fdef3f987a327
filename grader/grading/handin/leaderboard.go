package handin

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"flashlab/internal/harmless"
)

// LeaderboardFile is where a student chooses to be on the class's leaderboard, and under which name. Without the file
// they are on none.
const LeaderboardFile = "leaderboard.txt"

// Bounds on a name, in letters.
const (
	shortestName = 2
	longestName  = 24
)

// ErrNoName says that the file has no line with a name.
var ErrNoName = errors.New("there is no name in it: write one on its first line, or delete the file")

// ChosenName is the name in a leaderboard.txt, as it stands there: its first line that is neither empty nor a comment
// (#), bounded. "" if there is none.
func ChosenName(file []byte) string {
	const most = 4 * longestName // bytes: enough to say that it is too long
	for line := range strings.Lines(string(file[:min(len(file), 4096)])) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for len(line) > most {
			_, last := utf8.DecodeLastRuneInString(line)
			line = line[:len(line)-last]
		}
		return line
	}
	return ""
}

// CheckName says why a leaderboard cannot show a name, whoever chose it.
func CheckName(name string) error {
	n := utf8.RuneCountInString(name)
	switch {
	case n == 0:
		return ErrNoName
	case n < shortestName:
		return fmt.Errorf("it has 1 character: choose a name of %d to %d", shortestName, longestName)
	case n > longestName:
		return fmt.Errorf("it has %d characters: choose a name of %d to %d", n, shortestName, longestName)
	case !utf8.ValidString(name) || harmless.Line(name) != name:
		return errors.New("it has characters that cannot be seen, or that change how a line reads: choose one without them")
	}
	first, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsLetter(first) && !unicode.IsDigit(first) {
		return errors.New("its first character is neither a letter nor a digit")
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune(" -_.'’+", r) {
			return fmt.Errorf("it has a %q: use letters, digits, blanks and - _ . ' +", r)
		}
	}
	return oneScript(name)
}

// oneScript refuses names whose letters come from alphabets that look alike: in a name of Latin letters nobody sees a
// Cyrillic one.
func oneScript(name string) error {
	seen := ""
	for _, script := range []struct {
		name  string
		table *unicode.RangeTable
	}{{"Latin", unicode.Latin}, {"Greek", unicode.Greek}, {"Cyrillic", unicode.Cyrillic}, {"Armenian", unicode.Armenian}, {"Cherokee", unicode.Cherokee}} {
		if !strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(script.table, r) }) {
			continue
		}
		if seen != "" {
			return fmt.Errorf("it mixes %s and %s letters, which look alike: use one alphabet", seen, script.name)
		}
		seen = script.name
	}
	return nil
}
