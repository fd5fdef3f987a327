package task5

import (
	"fmt"

	"flashlab/grader/grading/race"
)

func DecodeOf(batch, kvHeads, tokens int, peers ...string) race.Workload {
	return race.Workload{Name: fmt.Sprintf("decoding, batch %d, 32 heads × 128, %d key heads, context %d", batch, kvHeads, tokens),
		ID: fmt.Sprintf("decode-%d-%d-%d", batch, kvHeads, tokens), Task: "5", Op: "decode", Traffic: true,
		Shape: []int{batch, 32, kvHeads, tokens, 128}, Peers: peers}
}

func SplitOf(tokens, parts int, peers ...string) race.Workload {
	return race.Workload{Name: fmt.Sprintf("decoding in %d parts, batch 1, 32 heads × 128, context %d", parts, tokens),
		ID: fmt.Sprintf("split-1-%d-%d", tokens, parts), Task: "5", Op: "split", Traffic: true,
		Shape: []int{1, 32, 32, tokens, 128, parts}, Peers: peers}
}
