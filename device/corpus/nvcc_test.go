package corpus

import (
	"fmt"
	"runtime"
	"strings"
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
		for _, bugs := range []bool{true, false} {
			source, err := Source(file, bugs)
			require.NoError(t, err)
			if bugs && !strings.Contains(source.Text, "def BUG\n") {
				continue
			}
			t.Run(fmt.Sprintf("%s bugs=%t", file, bugs), func(t *testing.T) {
				t.Parallel()
				record.Skip(t, "nvcc "+tk.Version)
				slots <- struct{}{}
				defer func() { <-slots }()
				cubin, err := tk.Compile(source, "sm_90a")
				require.NoError(t, err)
				assert.NotEmpty(t, cubin)
			})
		}
	}
}
