// Package safetensorstest writes .safetensors files for tests.
package safetensorstest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"flashlab/tensor"
)

// File is a .safetensors file with these tensors, in float32.
func File(t testing.TB, all map[string]*tensor.Tensor) []byte {
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data bytes.Buffer
	for name, x := range all {
		from := data.Len()
		require.NoError(t, binary.Write(&data, binary.LittleEndian, x.Data))
		header[name] = map[string]any{"dtype": "F32", "shape": x.Shape, "data_offsets": []int{from, data.Len()}}
	}
	text, err := json.Marshal(header)
	require.NoError(t, err)
	return bytes.Join([][]byte{binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text, data.Bytes()}, nil)
}
