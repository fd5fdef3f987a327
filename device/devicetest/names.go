package devicetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func refusesNames(t *testing.T, b bench) { Names(t, b.Compile) }

// Names checks that what names no kernel is said in the same words by every device. It launches nothing, so
// a compiler without a device will do.
func Names(t *testing.T, compile func(device.Source) (device.Module, error)) {
	for asked, want := range map[string]string{
		"nowhere<float>":       `named.cu: error: Source.Kernels asks for "nowhere<float>": the file has no kernel nowhere; it has ofTheHeader, scale, count, `,
		"fold<layers::Add>":    `the file has no kernel fold; it has `,
		"scale<float>":         `that does not fit scale, a template <typename T, int N>`,
		"scale<3, float>":      `that does not fit scale, a template <typename T, int N>`,
		"scale<Nothing, 3>":    `that does not fit scale, a template <typename T, int N>`,
		"count<int>":           `count is no template: ask for "count"`,
		"which<int>":           `which is no template: ask for "which"`,
		"layers::Add::of":      `the file has no kernel layers::Add::of; it has `,
		"scale<float, 3>; x":   `"scale<float, 3>; x" names no kernel`,
		"layers::fold":         `that does not fit layers::fold, a template <class Operation, typename... T>`,
		"namelessToo<other>":   `that does not fit namelessToo, a template <bool Twice>`,
		"ofTheHeader<Line, 3>": `that does not fit ofTheHeader, a template <typename T>`,
	} {
		src := namedSource()
		src.Kernels = []string{"scale<float, 3>", asked}
		_, err := compile(src)
		assert.ErrorContains(t, err, want, asked)
		if strings.HasPrefix(asked, "scale<") && !strings.Contains(asked, ";") {
			assert.ErrorContains(t, err, "named.cu:10: error: ", "where the template is")
		}
	}
	m, err := compile(namedSource())
	require.NoError(t, err)
	for _, name := range append(namedSource().Kernels, "hidden", "nameless") {
		k, err := m.Kernel(name)
		require.NoError(t, err)
		assert.Equal(t, name, k.Signature().Name)
	}
	for name, want := range map[string]string{
		"scale<float, 5>": "Of templates it has those that Source.Kernels asks for, by the same words",
		"which":           `named.cu has no kernel "which"; it has `,
		"Count":           `named.cu has no kernel "Count"; it has `,
	} {
		_, err := m.Kernel(name)
		assert.ErrorContains(t, err, want, name)
	}
	_, err = m.Kernel("which")
	assert.ErrorContains(t, err, "which(float * out , int n), which(float * out , float x)", "the words to ask for them by")
}
