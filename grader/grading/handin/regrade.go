package handin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"flashlab/grader/tasks/registry"
	"flashlab/internal/harmless"
)

// RegradeFile is where a student asks for something to be looked at once more. Without the file they ask for nothing.
const RegradeFile = "regrade.toml"

// Bounds on it.
const (
	mostRequests  = 20
	longestReason = 2000 // characters
	longestField  = 100  // of the others
	largestFile   = 64 << 10
)

// Request asks for one thing: a check of a task, or one case of it.
type Request struct {
	Task    registry.Name `toml:"task"`
	Check   string        `toml:"check"`
	Case    string        `toml:"case"`    // "" for the whole check
	Receipt string        `toml:"receipt"` // of the hand-in that it is about, as the feedback has it
	Reason  string        `toml:"reason"`  // what is wrong with the result
}

// What is the case, or the check, as messages name it.
func (r Request) What() string {
	what := string(r.Task) + "/" + r.Check
	if r.Case != "" {
		what += "/" + r.Case
	}
	return what
}

// ID names a request of a student: another reason makes another one.
func (r Request) ID(student string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{student, r.What(), strings.ReplaceAll(r.Receipt, " ", ""), r.Reason}, "\x00")))
	return hex.EncodeToString(sum[:4])
}

// Requests reads a regrade.toml. An error is in words for its author; then nothing is asked.
func Requests(file []byte) ([]Request, error) {
	if len(file) > largestFile {
		return nil, fmt.Errorf("it has %d KB; at most %d are read", len(file)>>10, largestFile>>10)
	}
	var all struct {
		Request []Request `toml:"request"`
	}
	meta, err := toml.Decode(string(file), &all)
	var parse toml.ParseError
	switch unknown := meta.Undecoded(); {
	case errors.As(err, &parse):
		return nil, fmt.Errorf("line %d: %s", parse.Position.Line, parse.Message)
	case err != nil:
		return nil, err
	case len(unknown) > 0:
		return nil, fmt.Errorf("it has a key %q: want [[request]] with task, check, case, receipt and reason", unknown[0].String())
	case len(all.Request) > mostRequests:
		return nil, fmt.Errorf("it has %d requests; at most %d are read", len(all.Request), mostRequests)
	}
	for i := range all.Request {
		r := &all.Request[i]
		for _, s := range []*string{&r.Check, &r.Case, &r.Receipt, &r.Reason} {
			*s = strings.TrimSpace(*s)
		}
		if err := r.fault(); err != nil {
			return nil, fmt.Errorf("request %d: %w", i+1, err)
		}
	}
	return all.Request, nil
}

func (r Request) fault() error {
	if r.Task == "" || r.Check == "" {
		return errors.New("task or check is missing: want task = 2 and check = \"softmax\", say")
	}
	if r.Reason == "" {
		return fmt.Errorf("%s has no reason: write between the quotes what you think is wrong, and why", r.What())
	}
	for _, field := range []struct {
		name, text string
		most       int
	}{{"task", string(r.Task), longestField}, {"check", r.Check, longestField}, {"case", r.Case, longestField}, {"receipt", r.Receipt, longestField}, {"reason", r.Reason, longestReason}} {
		if n := utf8.RuneCountInString(field.text); n > field.most {
			return fmt.Errorf("%s has %d characters; at most %d are read", field.name, n, field.most)
		}
	}
	return nil
}

// regradeHead begins a new file.
const regradeHead = `# What you ask to have looked at once more. Write the reason between the quotes, then make pack, and hand the zip in.
# Delete a request, or this file, to withdraw it.
`

// AddRequest is the file with one more request. The texts in it are whatever they are: none ends its string.
func AddRequest(file []byte, r Request) []byte {
	text := string(file)
	if strings.TrimSpace(text) == "" {
		text = regradeHead
	}
	quoted := func(s string) string { return inTOML.Replace(harmless.Line(s)) }
	return fmt.Appendf(nil, "%s\n[[request]]\ntask    = \"%s\"\ncheck   = \"%s\"\ncase    = \"%s\"\nreceipt = \"%s\"\nreason  = \"\"\"\n%s\n\"\"\"\n",
		strings.TrimRight(text, "\n")+"\n", quoted(string(r.Task)), quoted(r.Check), quoted(r.Case), quoted(r.Receipt), inTOML.Replace(harmless.Text(r.Reason)))
}

var inTOML = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
