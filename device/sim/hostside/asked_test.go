package hostside

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

const askedText = `namespace a { template <typename T, int N = 2> __global__ void one(T *x) {} }
template <int N> __global__ void two(int n) {}
template <class T> __global__ void two(T x, T y) {}
__global__ void plain(float *x, int n = 3) {}
__global__ void plain(double *x) {}
template <class T> __global__ void both(T x) {}
__global__ void both(int x) {}
`

func askedKernels() []Kernel {
	return Strip(askedText, device.BlankNonCode(askedText), func(int) bool { return true }).Kernels
}

func TestAsked(t *testing.T) {
	all := askedKernels()
	k, fault := Asked(all, "a::one<float>")
	require.Empty(t, fault)
	assert.Equal(t, "typename T, int N = 2", k.Takes)
	assert.Equal(t, "T * x ", k.Params)

	k, fault = Asked(all, "two<3>")
	require.Empty(t, fault)
	assert.Empty(t, k.Params, "which of the two it is, the compiler decides")
	assert.NotEmpty(t, all[1].Params)

	k, fault = Asked(all, "both<int>")
	require.Empty(t, fault)
	assert.True(t, k.Template, "the plain one takes no arguments")

	for _, plain := range []string{"plain", "both"} {
		k, fault = Asked(all, plain)
		assert.Empty(t, fault)
		assert.Nil(t, k, "%s needs no asking", plain)
	}
	for asked, want := range map[string]string{
		"one<float>": `Source.Kernels asks for "one<float>": the file has no kernel one; it has a::one, two, plain, both`,
		"plain<int>": `Source.Kernels asks for "plain<int>": plain is no template: ask for "plain"`,
	} {
		_, fault := Asked(all, asked)
		assert.Equal(t, want, fault)
	}
	_, fault = Asked(nil, "k")
	assert.Equal(t, `Source.Kernels asks for "k": the file has no kernel k, nor any other`, fault)
}

// Of a compiler's words those are repeated that are about the expression, and not about what is around it.
func TestMisfit(t *testing.T) {
	const plain = `Source.Kernels asks for "a::one<T>": that does not fit a::one, a template <typename T, int N = 2>`
	for said, want := range map[string]string{
		"":                                    plain,
		"cannot deduce \"auto\" type":         plain,
		"unable to deduce 'auto' from '&one'": plain,
		"identifier \"T\" is undefined":       plain + `: identifier "T" is undefined`,
	} {
		assert.Equal(t, want, Misfit(askedKernels(), "a::one<T>", said))
	}
}

func TestCalled(t *testing.T) {
	all := askedKernels()
	name, expression := Called(all, all[3])
	assert.Equal(t, "plain(float * x , int n)", name)
	assert.Equal(t, "static_cast<void (*)(float * x , int n )>(&plain)", expression, "a default value is no part of a type")
	name, expression = Called(all[:4], all[3])
	assert.Equal(t, "plain", name)
	assert.Equal(t, "&plain", expression)
}
