package page

import "fmt"

// Written is what one process of a model wrote, the best token each time: of each token one
// of each sequence.
type Written struct {
	Tokens [][]int32
	// Margins, of PyTorch's: how far the best logit was ahead of the second, over the largest.
	Margins [][]float64
}

// Agreement is how far the output of a model's two programs agrees: they have the same weights
// and the same prompts.
type Agreement struct {
	Tokens int    `json:",omitempty"` // that both wrote; 0 where nothing was compared
	Same   int    `json:",omitempty"`
	Differ string `json:",omitempty"` // where they should be the same and are not
}

// nearTie is a margin that rounding may turn over: two programs that add up the same numbers
// in different orders. From there on a sequence goes another way, and is not compared.
const nearTie = 1e-3

// Compare adds what both wrote in one round.
func (a *Agreement) Compare(ours, theirs Written) {
	both := min(len(ours.Tokens), len(theirs.Tokens), len(theirs.Margins))
	if both == 0 {
		a.differ("one of the two programs did not tell what it wrote")
		return
	}
	sequences := len(ours.Tokens[0])
	for i := range both {
		if n := min(len(theirs.Tokens[i]), len(theirs.Margins[i])); len(ours.Tokens[i]) != sequences || n != sequences {
			a.differ(fmt.Sprintf("token %d: %d sequences, and PyTorch's are %d", i+1, len(ours.Tokens[i]), n))
			return
		}
	}
	a.Tokens += both * sequences
	for s := range sequences {
		for i := range both {
			got, want, margin := ours.Tokens[i][s], theirs.Tokens[i][s], theirs.Margins[i][s]
			if got == want {
				a.Same++
				continue
			}
			if !(margin < nearTie) {
				a.differ(fmt.Sprintf("token %d of sequence %d is %d, and PyTorch's is %d, by a margin of %.2g of the largest logit", i+1, s+1, got, want, margin))
			}
			break
		}
	}
}

// differ keeps the first difference.
func (a *Agreement) differ(how string) {
	if a.Differ == "" {
		a.Differ = how
	}
}

// words for a table.
func (a Agreement) words() string {
	if a.Same == a.Tokens {
		return fmt.Sprintf("the same %d", a.Same)
	}
	return fmt.Sprintf("the same %d of %d; two logits next to each other parted the rest", a.Same, a.Tokens)
}
