package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"flashlab/device"
	"flashlab/tensor"
)

// TestHoppersProjection runs bonus task b4's kernel for Hopper, with all checks, against float64.
func TestHoppersProjection(t *testing.T) {
	text, err := os.ReadFile("../../bonus/b4_qkv/solution/hopper.cu")
	require.NoError(t, err)
	shapes := []struct {
		batch, seq, hidden, heads, kv, dim, columns, tall int
		brain, bias, tokensFirst                          bool
	}{
		{1, 1, 8, 1, 1, 8, 128, 1, false, true, false},
		{2, 65, 200, 4, 2, 24, 160, 1, true, true, true},
		{1, 200, 136, 6, 1, 40, 160, 2, false, false, false},
		{3, 50, 64, 2, 1, 72, 128, 2, false, true, false},
		{1, 130, 136, 2, 1, 40, 64, 1, false, true, false},
		{1, 40, 328, 2, 2, 24, 64, 1, true, true, true},
	}
	for _, s := range shapes {
		t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
			d := start(t, Options{Checks: AllChecks(), Workers: 1})
			form, kind := half16, tensor.Float16
			defines := map[string]string{"COLUMNS": strconv.Itoa(s.columns), "TALL": strconv.Itoa(s.tall), "STAGES": "3", "GROUP": "2"}
			if s.brain {
				form, kind, defines["BRAIN"] = bfloat16, tensor.BFloat16, "1"
			}
			m, err := d.Compile(device.Source{Name: "hopper.cu", Text: string(text), Defines: defines})
			require.NoError(t, err)
			kernel, err := m.Kernel("project")
			require.NoError(t, err)
			b := bench{t, d, m}
			r := rand.New(rand.NewPCG(4, 4))
			random := func(rows, columns int) matrix {
				x := matrix{rows: rows, columns: columns, values: make([]float64, rows*columns)}
				for i := range x.values {
					x.values[i] = float64(r.IntN(129)-64) / 64
				}
				return x
			}
			rows, outputs := s.batch*s.seq, (s.heads+2*s.kv)*s.dim
			x, w, bias := random(rows, s.hidden), random(s.hidden, outputs), random(1, outputs)
			mapOf := func(name string, x matrix, high int) device.TensorMap {
				buffer := upload(b, name, x.codes(form))
				m, err := device.NewTensorMap(buffer.Memory(), kind, []int{x.columns, x.rows}, []int{64, high}, 128)
				require.NoError(t, err)
				return m
			}
			given := upload(b, "bias", bias.codes(form))
			if !s.bias {
				bias.values = make([]float64, outputs)
			}
			var out [3]device.Buffer[uint16]
			for i, heads := range []int{s.heads, s.kv, s.kv} {
				out[i] = alloc[uint16](b, []string{"q", "k", "v"}[i], rows*heads*s.dim)
			}
			boxes := (s.columns + 63) / 64
			shape := device.Launch{Grid: device.D1(2), Block: device.D1(384), Shared: 3*128*(128*s.tall+64*boxes) + 1024 + 48}
			err = d.Launch(kernel, shape, mapOf("x", x, 128*s.tall), mapOf("w", w, 64), given, out[0], out[1], out[2],
				rows, s.hidden, outputs, s.seq, s.heads, s.kv, s.dim, s.tokensFirst, s.bias)
			report, _ := d.Report()
			for i, f := range report.Findings {
				if i < 8 {
					assert.Fail(t, "a finding on a right kernel", "%v", f)
				}
			}
			require.NoError(t, err)
			first := 0
			for i, heads := range []int{s.heads, s.kv, s.kv} {
				for at, code := range download(b, out[i]) {
					row, head := at/(heads*s.dim), at/s.dim%heads
					if !s.tokensFirst {
						row, head = at/(s.seq*heads*s.dim)*s.seq+at/s.dim%s.seq, at/(s.seq*s.dim)%heads
					}
					column := first + head*s.dim + at%s.dim
					want := bias.values[column]
					for j := range s.hidden {
						want += x.values[row*s.hidden+j] * w.values[j*outputs+column]
					}
					limit := math.Abs(want)/256 + 1e-3
					if got := form.value(code); !(math.Abs(got-want) <= limit) {
						require.Fail(t, "wrong", "output %d, number %d: %v, want %v", i, at, got, want)
					}
				}
				first += heads * s.dim
			}
			c := report.Launches[0]
			t.Logf("read %d, written %d, flops %d", c.DeviceRead, c.DeviceWritten, c.FLOPs)
		})
	}
}
