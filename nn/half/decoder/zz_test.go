package decoder

import (
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"flashlab/nn/llama3"
)

func BenchmarkZZ(b *testing.B) {
	shape := llama3.Sizes["8B"]
	_, m, cache := onGPU(b, shape, Room{1, 1024, 512})
	text := make([]int32, 512)
	for i := range text {
		text[i] = int32((i*i + 7*i) % shape.Vocabulary)
	}
	for way := range strings.SplitSeq(os.Getenv("FLASHLAB_ZZ"), ";") {
		require.NoError(b, m.Persist(cache, chosen(b, way)))
		all := map[uint64]int{}
		for range 50 {
			m.Reset()
			require.NoError(b, m.Prefill([][]int32{text}))
			for range 3 {
				require.NoError(b, m.SetNext([]int32{11}))
				require.NoError(b, m.Step())
			}
			l, err := m.logits.CopyOut(m.queue)
			require.NoError(b, err)
			h := fnv.New64a()
			h.Write(unsafe.Slice((*byte)(unsafe.Pointer(&l[0])), 4*len(l)))
			all[h.Sum64()>>40]++
		}
		most := 0
		for _, n := range all {
			most = max(most, n)
		}
		fmt.Printf("%s: %d of 50 alike\n", way, most)
	}
}
