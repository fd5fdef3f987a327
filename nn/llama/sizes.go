package llama

import "fmt"

// Sizes are the models that are timed: one for the simulator, and a ladder for
// GPUs.
var Sizes = map[string]Config{
	"tiny":   {Hidden: 64, Heads: 4, Layers: 2, Vocabulary: 128, MLP: 128, MaxSeq: 48, Prompt: 24, Batch: 2},
	"small":  {Hidden: 512, Heads: 8, Layers: 4, Vocabulary: 8192, MLP: 2048, MaxSeq: 1024 + answer, Prompt: 1024, Batch: 4},
	"medium": {Hidden: 2048, Heads: 16, Layers: 12, Vocabulary: 8192, MLP: 8192, MaxSeq: 1024 + answer, Prompt: 1024, Batch: 4},
	"large":  {Hidden: 4096, Heads: 32, Layers: 8, Vocabulary: 8192, MLP: 16384, MaxSeq: 1024 + answer, Prompt: 1024, Batch: 4},
	"full":   {Hidden: 4096, Heads: 32, Layers: 24, Vocabulary: 8192, MLP: 16384, MaxSeq: 1024 + answer, Prompt: 1024, Batch: 4},
}

// answer is room for the tokens that are timed.
const answer = 128

// ladder is the sizes for GPUs, from the largest.
var ladder = []string{"full", "large", "medium", "small"}

// Fitting picks the largest size that takes at most so many bytes.
func Fitting(free int64) (name string, err error) {
	for _, name := range ladder {
		if Sizes[name].Total() <= free {
			return name, nil
		}
	}
	last := ladder[len(ladder)-1]
	return "", fmt.Errorf("the smallest model, %q, takes %d MB of device memory, and %d MB are free", last, Sizes[last].Total()>>20, free>>20)
}

// Total is all that a model takes on the device.
func (c Config) Total() int64 {
	weights, cache, activations := c.Bytes()
	return weights + cache + activations
}
