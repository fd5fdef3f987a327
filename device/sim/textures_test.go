package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
)

func texture[T device.Scalar](b bench, data []T, t device.Texels) device.Texture {
	b.t.Helper()
	made, err := device.NewTexture(b.d, upload(b, "texels", data), t)
	require.NoError(b.t, err)
	return made
}

// beyond is where an index leads: the oracle's own way, step by step.
func beyond(i, n int, outside device.Outside) int {
	for i < 0 || i >= n {
		switch {
		case outside == device.Border:
			return -1
		case outside == device.Clamp:
			return min(max(i, 0), n-1)
		case outside == device.Wrap && i < 0:
			i += n
		case outside == device.Wrap:
			i -= n
		case i < 0:
			i = -1 - i
		default:
			i = 2*n - 1 - i
		}
	}
	return i
}

// sampled is a fetch in up to three dimensions, of numbers that are there by index.
func sampled(at []float64, sizes []int, t device.Texels, value func(i []int) float64) float64 {
	sum := 0.0
	for corner := range 1 << len(at) {
		weight, inside := 1.0, true
		index := make([]int, len(at))
		for d, x := range at {
			outside := t.Outside
			if t.Normalized {
				x *= float64(sizes[d])
			} else if outside != device.Border {
				outside = device.Clamp
			}
			second := corner >> d & 1
			if t.Linear {
				first := math.Floor(x - 0.5)
				share := math.Floor((x-0.5-first)*256+0.5) / 256
				weight *= []float64{1 - share, share}[second]
				x = first + float64(second)
			} else if second == 1 {
				weight = 0
			}
			index[d] = beyond(int(math.Floor(x)), sizes[d], outside)
			inside = inside && index[d] >= 0
		}
		if weight != 0 && inside {
			sum += weight * value(index)
		}
	}
	return sum
}

// somewhere is a list of random places, inside and well beyond; as many numbers as asked for.
func somewhere(random *rand.Rand, n int, size float64) []float32 {
	at := make([]float32, n)
	for i := range at {
		at[i] = float32((random.Float64()*3 - 1) * size)
	}
	return at
}

func TestTexturesAgreeWithAnOracle(t *testing.T) {
	withModule(t, "textures.cu", func(b bench) {
		random := rand.New(rand.NewPCG(5, 7))
		texels := make([]float32, 5*7*3)
		for i := range texels {
			texels[i] = random.Float32()*2 - 1
		}
		const n = 64
		y := alloc[float32](b, "y", n)
		for outside := device.Wrap; outside <= device.Border; outside++ {
			for way := range 4 {
				form := device.Texels{Normalized: way&1 == 1, Linear: way&2 == 2, Outside: outside}
				for _, c := range []struct {
					kernel string
					sizes  []int
				}{{"line", []int{105}}, {"plane", []int{7, 15}}, {"volume", []int{5, 7, 3}}} {
					form := form
					form.Width = c.sizes[0]
					if len(c.sizes) > 1 {
						form.Height = c.sizes[1]
					}
					if len(c.sizes) > 2 {
						form.Depth = c.sizes[2]
					}
					size := 7.0
					if form.Normalized {
						size = 1
					}
					at := somewhere(random, n*len(c.sizes), size)
					b.launch(c.kernel, n, y, upload(b, "at", at), texture(b, texels, form))
					for i, v := range download(b, y) {
						var place []float64
						for d := range c.sizes {
							place = append(place, float64(at[i*len(c.sizes)+d]))
						}
						want := sampled(place, c.sizes, form, func(at []int) float64 {
							i, step := 0, 1
							for d, k := range at {
								i, step = i+k*step, step*c.sizes[d]
							}
							return float64(texels[i])
						})
						require.InDelta(b.t, want, v, 1e-6, "%s %+v at %v", c.kernel, form, place)
					}
				}
			}
		}
	})
}

func TestTexturesOfOtherTexels(t *testing.T) {
	withModule(t, "textures.cu", func(b bench) {
		x := counting(8 * 8)
		y := alloc[float32](b, "y", 64)
		b.launch("fetched", 64, y, texture(b, x[:60], device.Texels{Width: 60}))
		assert.Equal(b.t, append([]float32{0}, append(x[:60:60], 0, 0, 0)...), download(b, y))

		raw := make([]uint8, 4*64)
		for i := range raw {
			raw[i] = uint8(3 * i)
		}
		image := device.Texels{Width: 8, Height: 8, Numbers: 4}
		words := alloc[uint32](b, "words", 64)
		b.launch("bytes", 64, words, texture(b, raw, image))
		for i, v := range download(b, words) {
			require.Equal(b.t, uint32(raw[4*i])|uint32(raw[4*i+1])<<8|uint32(raw[4*i+2])<<16|uint32(raw[4*i+3])<<24, v)
		}
		image.Fractions, image.Linear, image.Normalized, image.Outside = true, true, true, device.Wrap
		at := somewhere(rand.New(rand.NewPCG(1, 2)), 2*64, 1)
		four := alloc[float32](b, "four", 4*64)
		b.launch("colors", 64, four, upload(b, "at", at), texture(b, raw, image))
		for i, v := range download(b, four) {
			want := sampled([]float64{float64(at[i/4*2]), float64(at[i/4*2+1])}, []int{8, 8}, image, func(at []int) float64 {
				return float64(raw[4*(8*at[1]+at[0])+i%4]) / 255
			})
			require.InDelta(b.t, want, v, 1e-6)
		}
		halves := []device.Float16{0x3c00, 0xc000, 0x3555, 0x7bff}
		b.launch("line", 4, y, upload(b, "at", []float32{0, 1, 2, 3}), texture(b, halves, device.Texels{Width: 4}))
		assert.Equal(b.t, []float32{1, -2, 0.33325195, 65504}, download(b, y)[:4])

		plane := texture(b, x, device.Texels{Width: 8, Height: 8})
		b.launch("gathered", 1, y, plane)
		assert.Equal(b.t, []float32{x[8+1], x[8+2], x[2], x[1]}, download(b, y)[:4])
		b.launch("layers", 5, y, texture(b, x, device.Texels{Width: 4, Height: 4, Layers: 4}))
		assert.Equal(b.t, []float32{x[1], x[17], x[33], x[49], x[49]}, download(b, y)[:5])

		directions := []float32{2, 0, 0, -1, 0, 0, 0, 3, 0, 0, -1, 0, 0, 0, 1, 0, 0, -2, 1, 0.5, 0.9}
		b.launch("cube", 7, y, upload(b, "d", directions), texture(b, x[:54], device.Texels{Width: 3, Height: 3, Layers: 6, Normalized: true}))
		assert.Equal(b.t, []float32{x[4], x[13], x[22], x[31], x[40], x[49], x[0]}, download(b, y)[:7])

		result := upload(b, "result", make([]float32, 64))
		to, err := device.NewTexture(b.d, result, device.Texels{Width: 8, Height: 8})
		require.NoError(b.t, err)
		b.launchShape("turned", device.Launch{Grid: device.D1(8), Block: device.D1(8)}, to, plane, int32(8))
		for i, v := range download(b, result) {
			require.Equal(b.t, x[i%8*8+i/8], v)
		}
		b.launch("volume_of", 1, y, struct{ Width, Height, Depth uint64 }{2, 3, 5})
		assert.Equal(b.t, float32(30), download(b, y)[0])
		b.launch("edges", 1, y, plane)
		assert.Equal(b.t, []float32{x[56], 0}, download(b, y)[:2])
	})
}

func TestMisusedTextures(t *testing.T) {
	withModule(t, "textures.cu", func(b bench) {
		for _, c := range []struct {
			kernel, memory, want string
			line                 int
		}{
			{"fetched", "", "tex1Dfetch: the object is none", 6},
			{"fetched", "plane", "tex1Dfetch: the texture has 2 dimensions", 6},
			{"fetched", "freed", "read of freed memory", 6},
			{"fetched", "blank", "read of memory that nothing has written", 6},
			{"wrong_type", "plane", "tex2D is to give 1 number of 8 bits, unsigned; the texture has 1 number of 32 bits, floating-point", 74},
			{"outside", "plane", "surf2Dwrite at byte 32 of row 0: the surface has 1 row of 32 bytes", 78},
			{"crooked", "plane", "x is 1, in bytes: it has to be a multiple of 4", 82},
			{"racing", "plane", "race on", 87},
		} {
			require.NoError(b.t, b.d.Reset())
			y, x := alloc[float32](b, "y", 8), alloc[float32](b, "x", 8)
			if c.memory != "blank" {
				require.NoError(b.t, x.CopyIn(b.d, counting(8)))
			}
			form := device.Texels{Width: 8}
			if c.memory == "plane" {
				form.Height = 1
			}
			made, err := device.NewTexture(b.d, x, form)
			require.NoError(b.t, err)
			if c.memory == "freed" {
				require.NoError(b.t, x.Free(b.d))
			}
			var args []any
			k, err := b.m.Kernel(c.kernel)
			require.NoError(b.t, err)
			for _, p := range k.Signature().Params {
				switch {
				case p.Kind == device.Pointer:
					args = append(args, y)
				case c.memory == "":
					args = append(args, uint64(12))
				default:
					args = append(args, made)
				}
			}
			r, err := b.try(c.kernel, device.Launch{Grid: device.D1(1), Block: device.D1(8)}, args...)
			_ = err // a finding may stop the kernel
			require.NotEmpty(b.t, r.Findings, c.kernel)
			f := r.Findings[0]
			assert.Contains(b.t, f.Message, c.want)
			assert.Equal(b.t, "textures.cu", f.File)
			assert.Equal(b.t, c.line, f.Line, c.want)
		}
	})
}

func TestAForgedTextureIsNone(t *testing.T) {
	withModule(t, "textures.cu", func(b bench) {
		const mark = 0x65727574786574ff // as device/texture.go has it
		r, err := b.try("forged", device.Launch{Grid: device.D1(1), Block: device.D1(1)}, alloc[float32](b, "y", 8), alloc[uint64](b, "own", 8), uint64(mark))
		assert.Error(b.t, err)
		require.NotEmpty(b.t, r.Findings)
		assert.Contains(b.t, r.Findings[0].Message, "tex1D: the object is none")
	})
}

func TestTexturesThatCannotBe(t *testing.T) {
	d := start(t, Options{})
	x, err := device.Upload(d, "x", counting(12))
	require.NoError(t, err)
	for _, c := range []struct {
		texels device.Texels
		want   string
	}{
		{device.Texels{Width: 13}, "do not fit: the buffer has 12"},
		{device.Texels{Width: 4, Numbers: 3}, "3 numbers a texel"},
		{device.Texels{}, "want at least one"},
		{device.Texels{Width: 2, Depth: 2}, "a volume has a height"},
		{device.Texels{Width: 2, Height: 2, Depth: 2, Layers: 2}, "no layers"},
		{device.Texels{Width: 2, Fractions: true}, "fractions are made of integers"},
		{device.Texels{Width: math.MaxInt, Height: math.MaxInt}, "do not fit"},
	} {
		_, err := device.NewTexture(d, x, c.texels)
		assert.ErrorContains(t, err, c.want)
	}
	wide, err := device.Upload(d, "wide", []float64{1})
	require.NoError(t, err)
	_, err = device.NewTexture(d, wide, device.Texels{Width: 1})
	assert.ErrorContains(t, err, "integers of 8, 16 and 32 bits, float or half")
}
