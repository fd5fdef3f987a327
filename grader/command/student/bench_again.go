package student

import (
	"fmt"

	"flashlab/grader/bench/page"
)

// comparison is of a run's ratios with those of an earlier one.
type comparison struct {
	file      string // "" for none
	earlier   page.Document
	pairs     []page.Pair
	elsewhere bool
}

func (c *comparison) add(p page.Part) {
	_, pairs := c.earlier.Pairs(p)
	c.pairs = append(c.pairs, pairs...)
	c.elsewhere = c.elsewhere || c.earlier.Elsewhere(p)
}

func (c *comparison) print() {
	if c.file == "" {
		return
	}
	fmt.Printf("\nBeside %s:\n%s\n", c.file, page.Again(c.pairs))
	if c.elsewhere {
		fmt.Println("That run was on another card: two of a kind may differ by a few percent.")
	}
}
