package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWhyALineMovesMuch(t *testing.T) {
	line := func(op string, requests, bytes, sectors uint64) Line {
		return Line{File: "k.cu", Line: 7, Op: op, Requests: requests, Bytes: bytes, Sectors: sectors}
	}
	for _, c := range []struct {
		name string
		line Line
		want string
	}{
		{"a column of a matrix", line("read", 100, 12800, 3200), "k.cu:7: a warp's request moves 32 sectors, and 4 would do: neighbouring threads read addresses that are far apart"},
		{"half as bad as may be", line("write", 100, 12800, 800), "moves 8 sectors, and 4 would do: neighbouring threads write"},
		{"one thread", line("read", 1000, 4000, 1000), "moves 32 bytes for the 4 that it reads: let all threads of the warp read"},
		{"again and again", line("read", 1000, 128000, 4000), "reads 13 × the least bytes of the whole case, the same numbers again and again"},
		{"sums in memory", line("atomic", 1000, 128000, 4000), "changes 13 × the least bytes of the whole case: keep sums in registers"},
		{"once", line("read", 50, 6400, 200), ""},
		{"a broadcast", line("read", 100, 12800, 100), ""},
		{"never", Line{File: "k.cu", Line: 7, Op: "read"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.line.Why(10_000)
			if c.want == "" {
				assert.Empty(t, got)
			}
			assert.Contains(t, got, c.want)
		})
	}
}

func TestMoversAreThoseOfTheWorstCase(t *testing.T) {
	column := []Line{{File: "k.cu", Line: 7, Op: "read", Requests: 100, Bytes: 12800, Sectors: 3200}}
	c := Check{Cases: []Outcome{
		{Name: "small", Passed: true, Moved: 20, Least: 10, Lines: []Line{{File: "k.cu", Line: 9, Op: "read", Requests: 1, Bytes: 128, Sectors: 32}}},
		{Name: "large", Passed: true, Moved: 30, Least: 10, Lines: column},
		{Name: "hidden", Hidden: true, Passed: true, Moved: 90, Least: 10, Lines: []Line{{File: "hidden.cu", Line: 1, Op: "read", Requests: 1, Bytes: 128, Sectors: 32}}},
		{Name: "wrong", Moved: 90, Least: 10, Lines: column[:0]},
	}}
	says := c.Movers()
	assert.Len(t, says, 1)
	assert.Contains(t, says[0], "k.cu:7:")
	assert.Empty(t, Check{}.Movers())
	c.Cases[3].Traffic = true
	assert.Empty(t, c.Movers(), "first it has to be right")
}

func TestBanks(t *testing.T) {
	column := Line{File: "k.cu", Line: 12, Op: "read", Shared: true, Requests: 10, Bytes: 1280, Passes: 320}
	rows := Line{File: "k.cu", Line: 13, Op: "write", Shared: true, Requests: 10, Bytes: 5120, Passes: 40}
	assert.Zero(t, rows.Conflicts(), "16 bytes a thread take four passes")
	assert.Equal(t, uint64(310), column.Conflicts())
	c := Check{Cases: []Outcome{{Lines: []Line{rows, column}}}}
	assert.Equal(t, "k.cu:12: a warp's request takes 32 passes of shared memory's banks, and 1 would do: its threads read different rows of one bank. Make rows a little longer", c.Banks())
	assert.Empty(t, Check{}.Banks())
}
