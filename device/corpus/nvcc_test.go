package corpus

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device/nvcc"
)

// TestNvccTakesTheCorpus: what the simulator runs must be CUDA.
func TestNvccTakesTheCorpus(t *testing.T) {
	tk, err := nvcc.Find()
	if err != nil {
		t.Skip(err)
	}
	slots := make(chan struct{}, runtime.NumCPU())
	for _, file := range Files() {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			source, err := Source(file)
			require.NoError(t, err)
			cubin, err := tk.Compile(source, "sm_90a")
			require.NoError(t, err)
			assert.NotEmpty(t, cubin)
		})
	}
}
