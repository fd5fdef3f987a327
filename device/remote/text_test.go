package remote

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/device/protocol"
)

// TestNoTextComesFromAClient: a client refuses to send any, a message that has some all the same is malformed, and
// what is compiled is the owner's text of the file that was named, whatever else is asked for.
func TestNoTextComesFromAClient(t *testing.T) {
	f := newFake()
	var compiled []string
	d := connect(t, &Server{Device: f, Find: func(named device.Source) (device.Source, error) {
		require.Empty(t, named.Text)
		require.Empty(t, named.Files)
		src, err := files.Find(named)
		compiled = append(compiled, src.Text)
		return src, err
	}}).(Shelved).Device
	for name, src := range map[string]device.Source{
		"a text":   {Name: "k.cu", Text: "__global__ void mine() {}"},
		"a header": {Name: "k.cu", Files: map[string]string{"tile.cuh": "int x;"}},
	} {
		_, err := d.Compile(src)
		require.ErrorIs(t, err, device.ErrText, name)
		require.ErrorContains(t, err, "compile k.cu: a program that is graded names a file", name)
	}
	assert.Empty(t, compiled)
	_, err := d.Compile(device.Source{Name: "k.cu", Defines: map[string]string{"N": "4"}})
	require.NoError(t, err)
	assert.Equal(t, []string{text}, compiled)
	_, err = d.Compile(device.Source{Name: "other.cu"})
	require.ErrorContains(t, err, "not on the shelf")

	mine := "extern \"C\" __global__ void mine() {}"
	for name, parts := range map[string][]any{
		"as it once was":       {device.Source{Name: "k.cu", Text: mine}},
		"a text behind":        {protocol.Named{Name: "k.cu"}, mine},
		"files behind":         {protocol.Named{Name: "k.cu"}, map[string]string{"tile.cuh": mine}},
		"for a GPU, text last": {protocol.Named{Name: "k.cu"}, "sm_90", mine},
	} {
		for _, op := range []protocol.Op{protocol.OpCompile, protocol.OpCubin} {
			answer, err := listen(t, send(nil, op, nil, parts...), false)
			require.NoError(t, err)
			assert.Equal(t, protocol.Failed, answer.Status(), "%s, operation %d", name, op)
		}
	}
}

// TestAMessageNamesAFileAndNoMore: who adds a field has to think about what a worker could put there.
func TestAMessageNamesAFileAndNoMore(t *testing.T) {
	var fields []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[protocol.Named]()) {
		fields = append(fields, f.Name)
	}
	assert.Equal(t, []string{"Folder", "Name", "Defines", "Kernels"}, fields)
}
