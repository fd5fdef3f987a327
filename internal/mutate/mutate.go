// Package mutate gives fuzz targets a short run without Go's fuzzing, which compiles the standard library anew: it
// changes the inputs of a target's kept corpus at random. `make fuzz` looks further, by coverage.
package mutate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"flashlab/internal/glob"
)

// Corpus adds as many changed inputs as FLASHLAB_FUZZ says, none without it, of the corpus in testdata/fuzz. The
// seed that it prints repeats them: FLASHLAB_FUZZ=COUNT,SEED.
func Corpus(f *testing.F) {
	f.Helper()
	setting := os.Getenv("FLASHLAB_FUZZ")
	if setting == "" {
		return
	}
	count, seed, err := parse(setting)
	if err != nil {
		f.Fatal(err)
	}
	f.Logf("repeat with FLASHLAB_FUZZ=%d,%d", count, seed)
	inputs, err := kept(filepath.Join("testdata", "fuzz", f.Name()))
	if err != nil {
		f.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for range count {
		input := append([]any{}, inputs[r.IntN(len(inputs))]...)
		at := r.IntN(len(input))
		other := inputs[r.IntN(len(inputs))][at]
		switch value := input[at].(type) {
		case []byte:
			input[at] = change(r, value, other.([]byte))
		case string:
			input[at] = string(change(r, []byte(value), []byte(other.(string))))
		}
		f.Add(input...)
	}
}

// parse reads COUNT or COUNT,SEED; without a seed it is a new one.
func parse(setting string) (count int, seed uint64, err error) {
	number, rest, given := strings.Cut(setting, ",")
	count, err = strconv.Atoi(number)
	seed = uint64(time.Now().UnixNano())
	if given && err == nil {
		seed, err = strconv.ParseUint(rest, 10, 64)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("FLASHLAB_FUZZ=%s: want COUNT or COUNT,SEED: %w", setting, err)
	}
	return count, seed, nil
}

// kept reads the inputs of a corpus: files of Go's form 'go test fuzz v1', whose values are []byte and string.
func kept(folder string) ([][]any, error) {
	files, err := glob.In(folder, "*")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s: no inputs are kept there (%v): `make fuzz` finds some", folder, err)
	}
	var inputs [][]any
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var input []any
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
			kind, quoted, _ := strings.Cut(strings.TrimSuffix(line, ")"), "(")
			value, err := strconv.Unquote(quoted)
			switch {
			case err == nil && kind == "[]byte":
				input = append(input, []byte(value))
			case err == nil && kind == "string":
				input = append(input, value)
			default:
				return nil, fmt.Errorf("%s: %q is no []byte or string: teach internal/mutate its type", name, line)
			}
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

// change makes one to four edits: a bit, a byte, a piece left out or doubled, or the end of another input.
func change(r *rand.Rand, of, other []byte) []byte {
	data := append([]byte{}, of...)
	for range 1 + r.IntN(4) {
		if len(data) == 0 {
			data = append(data, byte(r.Uint32()))
			continue
		}
		at := r.IntN(len(data))
		end := at + r.IntN(min(16, len(data)-at)+1)
		switch r.IntN(5) {
		case 0:
			data[at] ^= 1 << r.IntN(8)
		case 1:
			data[at] = byte(r.Uint32())
		case 2:
			data = append(data[:at], data[end:]...)
		case 3:
			data = append(data[:end:end], data[at:]...)
		case 4:
			data = append(data[:at:at], other[r.IntN(len(other)+1):]...)
		}
	}
	return data
}
