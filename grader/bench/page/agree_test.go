package page

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// wrote makes what two sequences wrote, with the margins of the first one's tokens.
func wrote(first, second []int32, margins ...float64) (w Written) {
	for i := range first {
		w.Tokens = append(w.Tokens, []int32{first[i], second[i]})
	}
	for _, m := range margins {
		w.Margins = append(w.Margins, []float64{m, 0.5})
	}
	return w
}

func TestAgreement(t *testing.T) {
	theirs := wrote([]int32{1, 2, 3, 4}, []int32{5, 6, 7, 8}, 0.2, 0.0005, 0.2, 0.2)
	for _, c := range []struct {
		name         string
		ours         Written
		tokens, same int
		differ       string
	}{
		{"the same", wrote([]int32{1, 2, 3, 4}, []int32{5, 6, 7, 8}), 8, 8, ""},
		{"fewer are the same", wrote([]int32{1, 2, 3}, []int32{5, 6, 7}), 6, 6, ""},
		{"a near tie parts them", wrote([]int32{1, 9, 9, 9}, []int32{5, 6, 7, 8}), 8, 5, ""},
		{"another token", wrote([]int32{1, 2, 9, 9}, []int32{5, 6, 7, 8}), 8, 6, "token 3 of sequence 1 is 9, and PyTorch's is 3, by a margin of 0.2 of the largest logit"},
		{"the second sequence", wrote([]int32{1, 2, 3, 4}, []int32{5, 9, 7, 8}), 8, 5, "token 2 of sequence 2 is 9"},
		{"nothing", Written{}, 0, 0, "did not tell"},
		{"one sequence", Written{Tokens: [][]int32{{1}, {2}}}, 0, 0, "token 1: 1 sequences, and PyTorch's are 2"},
		{"zeros", wrote(make([]int32, 4), make([]int32, 4)), 8, 0, "token 1 of sequence 1 is 0"},
	} {
		var a Agreement
		a.Compare(c.ours, theirs)
		assert.Equal(t, [2]int{c.tokens, c.same}, [2]int{a.Tokens, a.Same}, c.name)
		if c.differ == "" {
			assert.Empty(t, a.Differ, c.name)
		}
		assert.Contains(t, a.Differ, c.differ, c.name)
	}
	var a Agreement
	theirs.Margins[0][0] = math.NaN()
	a.Compare(wrote([]int32{9}, []int32{5}), theirs)
	assert.NotEmpty(t, a.Differ, "NaN is no near tie")
}

func TestThePageSaysWhatWasWritten(t *testing.T) {
	c := Model{Name: "a model", Ours: []Times{{First: []float64{1e9}, Each: []float64{1e7}}}, Theirs: []Times{{First: []float64{2e9}, Each: []float64{3e7}}}}
	for _, one := range []struct {
		Agreement
		says, not string
	}{
		{Agreement{Tokens: 8, Same: 8}, "| tokens | PyTorch eager, in a CUDA graph | the same 8 |", "wrong"},
		{Agreement{Tokens: 8, Same: 5}, "| tokens | PyTorch eager, in a CUDA graph | the same 5 of 8; two logits next to each other parted the rest |", "wrong"},
		{Agreement{Tokens: 8, Same: 5, Differ: "token | 3"}, "| tokens | PyTorch eager, in a CUDA graph | wrong: token / 3 |", "**2.00**"},
		{Agreement{}, "PyTorch has weights of its own here", "tokens |"},
	} {
		c.Agreement = one.Agreement
		table := Part{Models: []Model{c}}.ModelTable()
		assert.Contains(t, table, one.says)
		assert.NotContains(t, table, one.not)
		assert.Equal(t, one.Differ == "", strings.Contains(table, "**2.00**"))
	}
}
