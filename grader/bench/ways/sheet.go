package ways

import (
	"fmt"
	"strings"

	w4a16 "flashlab/bonus/b8_w4a16"
)

// reads are the bytes that an average step reads.
type reads struct{ matrices, head, cache float64 }

func (r reads) all() float64 { return r.matrices + r.head + r.cache }

// reads are a way's: what bonus task b9's sheet predicts from, for the workload at hand.
func (w Workload) reads(way Way) (r reads) {
	const half = 2.0
	for _, m := range [][2]int{{w.All(), w.Hidden}, {w.Hidden, w.Width()}, {2 * w.MLP, w.Hidden}, {w.Hidden, w.MLP}} {
		each := half * float64(m[0]*m[1])
		if way.Four { // codes, a scale in halves and a zero of a byte for each group
			each = float64(m[0]*whole(m[1])) * (0.5 + (half+1)/w4a16.Group)
		}
		r.matrices += float64(w.Layers) * each
	}
	r.head = half * float64(w.Vocabulary*w.Hidden)
	tokens := float64(w.Layers*w.Batch*w.KVHeads) * (float64(w.Prompt) + float64(w.Tokens)/2)
	numbers := tokens * float64(w.Dim) // of keys, and as many of values
	r.cache = 2 * half * numbers
	if way.Kivi { // scale and low: of each channel of a group of keys, of each token of values
		r.cache = numbers/2 + 2*half*numbers/group + numbers/2 + 2*half*tokens
	}
	return r
}

// predicted tells, before anything runs, what each way would bring if bytes were all that counts.
func (w Workload) predicted() string {
	ours := w.reads(Ways[1])
	text := fmt.Sprintf("predicted by bytes: a step reads %s of matrices, %s of the head, %s of the cache", bytes(int64(ours.matrices)), bytes(int64(ours.head)), bytes(int64(ours.cache)))
	for _, way := range Ways[2:] {
		text += fmt.Sprintf("; %s %.2f ×", way.Name, ours.all()/w.reads(way).all())
	}
	return text + " as fast as our attention (b9's sheet)"
}

// measured sets beside that what came out: nothing, where no step was timed with our attention.
func (r Report) measured() string {
	var ours float64
	for _, x := range r.Results {
		if x.Way == Ways[1] && x.Failed == "" {
			ours = x.Each.Median
		}
	}
	var all []string
	for _, x := range r.Results {
		if ours > 0 && x.Each.Median > 0 && (x.Way.Kivi || x.Way.Four) && !x.Way.One {
			all = append(all, fmt.Sprintf("%s %.2f × (by bytes %.2f)", x.Way.Name, ours/x.Each.Median, r.reads(Ways[1]).all()/r.reads(x.Way).all()))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "measured, as fast as our attention: " + strings.Join(all, "; ")
}
