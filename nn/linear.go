package nn

import "fmt"

// linear.cu and gemm.cu are written for these; macros pass linearBlock on (defines.go).
const (
	linearBlock = 256 // threads; linear.cu's at most
	fewRows     = 16  // beyond, arithmetic costs more than reading the weights
	smallTile   = 64
	largeTile   = 128
	mostParts   = 3 // layers of one input that are computed together
)

// then is what happens to x · wᵀ + bias, by the numbers that the kernels get (defines.go).
type then int

const (
	asItIs     then = iota
	thenGELU        // GELU of it
	thenAdd         // it is added to what is in out
	thenSwiGLU      // of two layers: see LinearSwiGLU
)

// These are our own kernels, not cuBLAS. They run on the simulator too, so a model has
// one code path. They also go to the queue (and into a recorded graph) like all others,
// where gorgonia's cuBLAS would bring its own handle and stream. README.md says more.

// Part is one of several linear layers of the same input: Out [rows, width], W
// [width, in], Bias [width]; the zero Buffer means no bias.
type Part struct{ Out, W, Bias Floats }

// Linear writes out [rows, width] = x [rows, in] · wᵀ + bias [width], where w is
// [width, in]; the zero Buffer means no bias. out may not overlap the others.
func (l *Layers) Linear(out, x, w, bias Floats, rows, in, width int) error {
	return l.linear(x, rows, in, width, asItIs, Part{out, w, bias})
}

// LinearGELU is Linear and then GELU.
func (l *Layers) LinearGELU(out, x, w, bias Floats, rows, in, width int) error {
	return l.linear(x, rows, in, width, thenGELU, Part{out, w, bias})
}

// LinearAdd adds to out what Linear would write.
func (l *Layers) LinearAdd(out, x, w, bias Floats, rows, in, width int) error {
	return l.linear(x, rows, in, width, thenAdd, Part{out, w, bias})
}

// Linears computes up to three layers of one input, such as queries, keys and values.
func (l *Layers) Linears(x Floats, rows, in, width int, parts ...Part) error {
	return l.linear(x, rows, in, width, asItIs, parts...)
}

// LinearSwiGLU writes out [rows, width] = silu(x · gateᵀ) · (x · upᵀ), with gate and up
// [width, in] and no bias. spare is room of out's size, for up's part.
func (l *Layers) LinearSwiGLU(out, spare, x, gate, up Floats, rows, in, width int) error {
	if rows > fewRows && !l.alone {
		if err := l.Linears(x, rows, in, width, Part{Out: out, W: gate}, Part{Out: spare, W: up}); err != nil {
			return err
		}
		return l.SwiGLU(out, out, spare)
	}
	what := func() string {
		return fmt.Sprintf("SwiGLU of linear layers of x [%d, %d] with gate and up [%d, %d]", rows, in, width, in)
	}
	if err := check(what, []int{rows, in, width}, of("x", x, rows*in), of("gate", gate, width*in),
		of("up", up, width*in), of("out", out, rows*width), of("spare", spare, rows*width)); err != nil {
		return err
	}
	three := [mostParts]Floats{gate, up, up}
	return l.few(job{x: x, rows: rows, in: in, width: width, then: thenSwiGLU, parts: 1, w: three, bias: three,
		out: [mostParts]Floats{out, out, out}})
}

func (l *Layers) linear(x Floats, rows, in, width int, then then, parts ...Part) error {
	what := func() string {
		return fmt.Sprintf("linear layer of x [%d, %d] with w [%d, %d]", rows, in, width, in)
	}
	if len(parts) < 1 || len(parts) > mostParts {
		return fmt.Errorf("%s: %d of them together, want 1 to %d", what(), len(parts), mostParts)
	}
	j := job{x: x, rows: rows, in: in, width: width, then: then, parts: len(parts), biased: parts[0].Bias != Floats{}}
	sizes := []size{of("x", x, rows*in)}
	for i, p := range parts {
		if (p.Bias != Floats{}) != j.biased {
			return fmt.Errorf("%s: of several together all have a bias or none has", what())
		}
		sizes = append(sizes, of("out", p.Out, rows*width), of("w", p.W, width*in))
		if j.biased {
			sizes = append(sizes, of("bias", p.Bias, width))
		}
		j.out[i], j.w[i], j.bias[i] = p.Out, p.W, p.Bias
	}
	if err := check(what, []int{rows, in, width}, sizes...); err != nil {
		return err
	}
	for i := range mostParts { // a kernel needs addresses even of what it never reads
		if i >= len(parts) {
			j.out[i], j.w[i], j.bias[i] = j.out[0], j.w[0], j.bias[0]
		}
		if !j.biased {
			j.bias[i] = j.w[i]
		}
	}
	if l.cut != nil {
		if err := l.cut.fits(j); err != nil {
			return err
		}
	}
	switch {
	case rows <= fewRows || l.alone:
		return l.few(j)
	case l.onTensorCores(j):
		return l.product(j)
	}
	for i := range len(parts) {
		if err := l.gemm(j, i); err != nil {
			return err
		}
	}
	return nil
}

// job is what a call of linear asks for, checked.
type job struct {
	x               Floats
	rows, in, width int
	then            then
	parts           int
	biased          bool
	out, w, bias    [mostParts]Floats
}

func (j job) aligned() bool { return wide(j.in, append(j.w[:], j.x)...) }

// gemm is for many rows.
func (l *Layers) gemm(j job, part int) error {
	kernel, tile := "gemm_128", largeTile
	if blocks := tiles(j.rows, tile) * tiles(j.width, tile); blocks < l.processors {
		kernel, tile = "gemm_64", smallTile
	}
	return l.launch(kernel, tiles(j.rows, tile)*tiles(j.width, tile), linearBlock, j.x, j.w[part], j.bias[part], j.out[part],
		j.rows, j.in, j.width, j.biased, int(j.then), j.aligned(), wide(j.width, j.out[part]))
}

// few is for decoding. A block has few columns, and as many threads as a row of weights
// has work for.
func (l *Layers) few(j job) error {
	if l.alone {
		return l.byThreads(j)
	}
	kernel, atOnce, columns := "linear_8", 8, 4 // rows that share one reading of the weights
	switch {
	case j.rows == 1:
		kernel, atOnce, columns = "linear_1", 1, 2
	case j.rows == 2:
		kernel, atOnce = "linear_2", 2
	case j.rows <= 4:
		kernel, atOnce = "linear_4", 4
	}
	if j.then == thenSwiGLU {
		columns /= 2 // of each matrix
	}
	aligned, pieces := j.aligned(), j.in
	if aligned {
		pieces /= 4
	}
	threads := min(linearBlock, tiles(pieces, 32)*32)
	if pieces < 128 {
		threads = 32 // a single warp has least to add up
	}
	return l.grid(kernel, tiles(j.rows, atOnce)*tiles(j.width, columns), j.parts, 1, threads, 0,
		j.x, j.w[0], j.w[1], j.w[2], j.bias[0], j.bias[1], j.bias[2], j.out[0], j.out[1], j.out[2],
		j.rows, j.in, j.width, j.biased, int(j.then), aligned)
}

// Alone is the same layers, but without GELU, whose results are computed by a thread each, of any number of rows. In the simulator that
// is many times as fast, for there it takes the most time that threads add up together; a GPU's memory would idle.
func (l *Layers) Alone() *Layers {
	one := *l
	one.alone = true
	return &one
}

// byThreads is for the simulator.
func (l *Layers) byThreads(j job) error {
	if j.then == thenGELU {
		return fmt.Errorf("linear layer of x [%d, %d] with w [%d, %d]: GELU is not done by threads alone", j.rows, j.in, j.width, j.in)
	}
	for i := range j.parts {
		if err := l.each("linear_alone", j.rows*j.width, j.x, j.w[i], j.w[1], j.bias[i], j.out[i], j.rows, j.in, j.width, j.biased, int(j.then)); err != nil {
			return err
		}
	}
	return nil
}

// tiles is how many of a size cover n.
func tiles(n, size int) int { return (n + size - 1) / size }
