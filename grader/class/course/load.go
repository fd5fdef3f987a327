package course

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	_ "time/tzdata" // time zones on machines that have none installed

	"github.com/BurntSushi/toml"

	"flashlab/grader/tasks/registry"
)

// defaultLimit for a task of a submission is far above what a slow honest one takes.
const defaultLimit = 15 * time.Minute

// Default is a course without a course.toml.
func Default() *Course {
	c := &Course{}
	if err := c.settle(); err != nil {
		panic("course: the defaults are wrong: " + err.Error()) // a test sees to it
	}
	return c
}

// Load reads and checks a course.toml. have are the numbers of the tasks that the tree has, and variants those of the
// course.
func Load(name string, have []registry.Name, variants ...string) (*Course, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return Parse(filepath.Base(name), string(text), have, variants...)
}

// Parse is Load for a text; name is used in errors.
func Parse(name, text string, have []registry.Name, variants ...string) (*Course, error) {
	c := &Course{}
	meta, err := toml.Decode(text, c)
	if err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			return nil, fmt.Errorf("%s:%d: %s", name, parse.Position.Line, parse.Message)
		}
		if m := typeError.FindStringSubmatch(err.Error()); m != nil {
			return nil, fmt.Errorf("%s:%s: %s: %s", name, m[1], m[2], m[3])
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, at(name, text, unknown[0], fmt.Errorf("unknown key %q", unknown[0].String()))
	}
	if err = c.settle(); err == nil {
		err = c.known(have, variants)
	}
	var f *fault
	if errors.As(err, &f) {
		return nil, at(name, text, f.key, f.err)
	}
	return c, err
}

// typeError is how the library words a value of the wrong type.
var typeError = regexp.MustCompile(`^toml: line (\d+) \(last key "([^"]+)"\): (.*)`)

// fault is something wrong with a key.
type fault struct {
	key toml.Key
	err error
}

func (f *fault) Error() string { return f.key.String() + ": " + f.err.Error() }

func wrong(key, message string, args ...any) error {
	return &fault{strings.Split(key, "."), fmt.Errorf(key+" "+message, args...)}
}

// at puts the line of a key before an error.
func at(name, text string, key toml.Key, err error) error {
	if n := lineOf(text, key); n > 0 {
		return fmt.Errorf("%s:%d: %w", name, n, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

var (
	tableLine = regexp.MustCompile(`^\s*\[\[?\s*([^\]]+?)\s*\]\]?`)
	keyLine   = regexp.MustCompile(`^\s*([A-Za-z0-9_."-]+)\s*=`)
)

// lineOf finds the line that sets a key; that of its table, where there is none.
func lineOf(text string, key toml.Key) int {
	want := strings.ReplaceAll(strings.Join(key, "."), `"`, "")
	table, best := "", 0
	for i, line := range strings.Split(text, "\n") {
		full := ""
		if m := tableLine.FindStringSubmatch(line); m != nil {
			table = m[1]
			full = table
		} else if m := keyLine.FindStringSubmatch(line); m != nil {
			full = strings.TrimPrefix(table+"."+m[1], ".")
		}
		switch full = strings.ReplaceAll(full, `"`, ""); {
		case full == "":
		case full == want:
			return i + 1
		case strings.HasPrefix(want, full+"."):
			best = i + 1
		}
	}
	return best
}
