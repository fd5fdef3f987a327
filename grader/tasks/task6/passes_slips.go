package task6

import "flashlab/grader/grading/judge"

// slips are the mistakes that one makes in task 6.
func (p Passes) slips() []judge.Mistake {
	// A step that sees the keys that sees says; prompts are right.
	step := func(sees func(prompt, i, j int) bool) func(int) Slip {
		return func(prompt int) Slip {
			return Slip{Sees: func(i, j int) bool {
				if i < prompt {
					return j <= i
				}
				return j <= i && sees(prompt, i, j)
			}}
		}
	}
	position := func(at func(prompt, i int) int) func(int) Slip {
		return func(prompt int) Slip {
			return Slip{Position: func(i int) int {
				if i < prompt {
					return i
				}
				return at(prompt, i)
			}}
		}
	}
	as := func(slip func(prompt int) Slip, says string) judge.Mistake {
		return judge.Wrong(func() []float64 { return p.Try(slip) }, says)
	}
	list := []judge.Mistake{
		as(func(prompt int) Slip {
			return Slip{Sees: func(i, j int) bool { return j <= i || (i < prompt && j < prompt) }}
		}, "the mask is missing in the prefill: the tokens of a prompt see those after them (Causal)"),
		as(func(prompt int) Slip { return Slip{Unmerged: prompt} },
			"the heads of a prompt are not merged: its attention lies [batch, heads, count, dim], and Out wants [rows, heads × dim]"),
		as(func(prompt int) Slip { return Slip{Unsplit: prompt} },
			"the heads of a prompt are not split: q, k and v lie [rows, heads × dim], and the prefill wants [batch, heads, count, dim]"),
		as(func(prompt int) Slip { return Slip{Unsplit: prompt, Unmerged: prompt} },
			"the heads of a prompt are neither split nor merged: the prefill wants [batch, heads, count, dim]"),
		as(step(func(_, i, j int) bool { return j < i }),
			"a decoded token does not see itself: it reads s.Before keys, not s.After, or before the cache is updated"),
		as(step(func(_, i, j int) bool { return j == i }),
			"a decoded token sees only itself: this is the prefill used for decoding, or a cache that is not read"),
		as(step(func(prompt, i, j int) bool { return j < prompt }),
			"decoded tokens see the prompt only: is the cache updated in a step, too?"),
		as(step(func(prompt, i, j int) bool { return j < prompt || j == i }),
			"decoded tokens see the prompt and themselves, not those between: does each go into its own slot?"),
		as(step(func(prompt, i, j int) bool { return j >= prompt }),
			"decoded tokens do not see the prompt: are its keys and values put into the cache?"),
		as(func(prompt int) Slip {
			return Slip{KeyAsValue: func(i int) bool { return i >= prompt }}
		}, "decoded tokens read keys where values belong: Update takes k, then v"),
		as(func(int) Slip { return Slip{KeyAsValue: func(int) bool { return true }} },
			"V is confused with K: keys are taken for values, too"),
		as(func(int) Slip { return Slip{Swapped: true} },
			"V is confused with K: keys and values are swapped"),
		as(func(prompt int) Slip {
			return Slip{Position: func(i int) int {
				if i < prompt {
					return prompt + i
				}
				return i + 1
			}}
		}, "RoPE: tokens are rotated by s.After; their positions begin at s.Before. QKV does it, with the step that it is given"),
		as(position(func(_, i int) int { return i + 1 }),
			"RoPE: decoded tokens are rotated by one position too much; QKV does it, with the step that it is given"),
		as(position(func(prompt, i int) int { return i - prompt }),
			"RoPE: decoded tokens are rotated as if the sequence began with them; QKV does it, with the step that it is given"),
		as(position(func(int, int) int { return 0 }),
			"RoPE: decoded tokens are all rotated as if at position 0; QKV does it, with the step that it is given"),
	}
	if p.mergesInto {
		list = append(list,
			as(func(int) Slip { return Slip{NoOut: true} }, "this is the attention without the projection: Out comes last"))
	}
	return list
}
