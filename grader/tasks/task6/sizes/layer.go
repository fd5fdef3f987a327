// Package sizes is what the grader and the worker of task 6 agree upon.
package sizes

import (
	"math"

	"flashlab/grader/grading/problem"
	"flashlab/nn/llama"
)

// What a layer is asked for, as task 6's worker counts its calls.
const (
	PromptPass = "prompt" // several tokens at once
	FirstPass  = "first"  // a prompt of one token
	StepPass   = "step"   // one token after others
)

// What a layer may call.
const (
	CallForward = "forward" // the layer itself was called
	CallQKV     = "qkv"
	CallUpdate  = "update"
	CallPrefill = "prefill"
	CallDecode  = "decode"
	CallOut     = "out"
	// Calls that are not what they should be.
	LateUpdate = "late update" // Decode came first
	WrongSlots = "wrong slots" // Update at other slots than Before
	WrongKeys  = "wrong keys"  // Decode with other lengths than After
	OtherCache = "other cache" // not the one that New was given
	WrongCount = "wrong count" // Update of more or fewer tokens than the pass has
)

// CallName is the name of the count of calls in passes of one kind.
func CallName(pass, call string) string { return pass + ": " + call }

// Kept is how many tokens of its prompt sequence b keeps in the case of ragged
// sequences; the rest of the prompt was padding.
func Kept(c problem.Problem, b int) int { return c.Sizes["prompt"] - b%c.Sizes["prompt"] }

// ProjectionScale keeps what a projection of width in makes from normal numbers
// near 1. It is a power of two, so that scaling is exact.
func ProjectionScale(in int) float32 {
	return float32(math.Exp2(-math.Round(math.Log2(1.15 * math.Sqrt(float64(in))))))
}

// Llama is the size of a case's model.
func Llama(c problem.Problem) llama.Config {
	s := c.Sizes
	longest := max(s["prompt"], s["second"])
	return llama.Config{Hidden: s["heads"] * s["dim"], Heads: s["heads"], Layers: s["layers"], Vocabulary: s["vocabulary"], MLP: s["mlp"],
		MaxSeq: longest + s["steps"] + spare, Prompt: longest, Batch: s["batch"]}
}

// spare slots of a cache: they belong to nobody, so that writing there is noticed.
const spare = 2

// LayerSlots is the size of the cache in the cases of a single layer.
func LayerSlots(c problem.Problem) int { return c.Sizes["prompt"] + c.Sizes["steps"] + spare }
