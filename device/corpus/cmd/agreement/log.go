package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"flashlab/device/corpus"
)

// complaint is one error in a log of compute-sanitizer.
type complaint struct {
	tool  string
	text  string // its first line, without addresses
	lines []int  // of the .cu file, in order of appearance
	after bool   // the driver's, of what went wrong before
}

// verdict is what one run came to.
type verdict struct {
	complaints []complaint
	state      string // "ran", "stopped by the time limit", "did not run", "no log"
}

var (
	prefix = regexp.MustCompile(`^=========( ?)(.*)$`)
	place  = regexp.MustCompile(`\w+\.cu:(\d+)`)
	// chatter is what the tool says besides.
	chatter = regexp.MustCompile(`^(COMPUTE-SANITIZER|(ERROR|RACECHECK|LEAK) SUMMARY|No (errors|CUDA)|Target application|Internal|Error: (process|Target)|Warning: .*(backtrace|symbol))`)
	details = regexp.MustCompile(`(?i) (at|between (read|write|atomic) access at) \S.*$| on address .*$`)
)

// readLog reads DIR/NAME.TOOL.log, which ends with a line "exit N" of the script.
func readLog(dir, name, tool string) (verdict, error) {
	text, err := os.ReadFile(filepath.Join(dir, name+"."+tool+".log"))
	if errors.Is(err, fs.ErrNotExist) {
		return verdict{state: "no log"}, nil
	}
	if err != nil {
		return verdict{}, err
	}
	return parse(string(text), tool), nil
}

func parse(text, tool string) verdict {
	v := verdict{state: "did not run"}
	var open *complaint
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if code, ok := strings.CutPrefix(line, "exit "); ok {
			v.state = state(code)
			continue
		}
		m := prefix.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		verdict := m[2]
		detail := strings.HasPrefix(verdict, " ")
		switch {
		case strings.TrimSpace(verdict) == "" || !detail && chatter.MatchString(verdict):
			open = nil
			continue
		case !detail:
			v.complaints = append(v.complaints, complaint{tool: tool, text: details.ReplaceAllString(verdict, ""), after: strings.HasPrefix(verdict, "Program hit")})
			open = &v.complaints[len(v.complaints)-1]
		}
		if open != nil {
			for _, at := range place.FindAllStringSubmatch(verdict, -1) {
				n, _ := strconv.Atoi(at[1]) // digits
				open.lines = append(open.lines, n)
			}
		}
	}
	return v
}

func state(code string) string {
	switch code {
	case "0":
		return "ran"
	case "124", "137":
		return "stopped by the time limit"
	}
	return "did not run"
}

// about tells whether a complaint names a bug's line.
func (c complaint) about(b corpus.Bug) bool {
	for _, line := range c.lines {
		if line == b.Line {
			return true
		}
	}
	return false
}
