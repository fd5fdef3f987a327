package page

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAModelNeedNotHaveBothTimes: nobody multiplies a prompt by weights of four bits as PyTorch does.
func TestAModelNeedNotHaveBothTimes(t *testing.T) {
	each := Times{Each: []float64{2e7}}
	both := Times{First: []float64{1e9}, Each: []float64{1e7}}
	c := Model{Name: "a model", ID: "m", Ours: []Times{both}, Theirs: []Times{each}}
	p := Part{Task: "b9", Models: []Model{c}}
	text := p.ModelTable()
	assert.Contains(t, text, "| | | "+Eager+" | not measured | | |")
	assert.Contains(t, text, "**2.00** (2.00 to 2.00)")
	assert.NotContains(t, text, "NaN")
	d := Document{Parts: []Part{p}}
	assert.Len(t, pictures(d)[0].Bars, 1)
	_, pairs := d.Pairs(p)
	assert.Len(t, pairs, 1)
	p.Models[0].Ours = []Times{each}
	assert.NotContains(t, p.ModelTable(), "TTFT |", "neither has it")
}
