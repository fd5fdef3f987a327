package nvcc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEachProgramSeesItsOwnGPU(t *testing.T) {
	bin := t.TempDir()
	program(t, bin+"/nvidia-smi", `echo "GPU 0: NVIDIA H200 (UUID: GPU-0a1b-22)"; echo "GPU 1: NVIDIA L4 (UUID: GPU-2c3d-33)"; echo "GPU 2: NVIDIA H200 (UUID: GPU-4e5f-44)"`)
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	cards, err := Cards()
	require.NoError(t, err)
	require.Len(t, cards, 3)
	apart := Apart(cards)
	require.Len(t, apart, 2, "those of one kind: times of others cannot be compared with theirs")
	assert.Equal(t, "NVIDIA H200 (4e5f)", apart[1].String())
	assert.Equal(t, []string{"A=1", "CUDA_VISIBLE_DEVICES=GPU-4e5f-44"}, apart[1].Alone([]string{"CUDA_VISIBLE_DEVICES=0,1,2", "A=1"}))
	assert.Equal(t, []string{"CUDA_VISIBLE_DEVICES=7"}, Card{Index: "7", Name: "x"}.Alone(nil))
	assert.Equal(t, "x (number 7)", Card{Index: "7", Name: "x"}.String())

	t.Setenv("CUDA_VISIBLE_DEVICES", "2,0")
	cards, err = Cards()
	require.NoError(t, err)
	assert.Equal(t, []string{"2", "0"}, []string{Apart(cards)[0].Index, Apart(cards)[1].Index}, "in CUDA's own order")
	t.Setenv("CUDA_VISIBLE_DEVICES", "MIG-1")
	cards, err = Cards()
	require.NoError(t, err)
	assert.Empty(t, Apart(cards))
}
