// Package estimate says how long a launch would take on a GPU, from what the simulator counted of it.
//
// A launch needs several resources at once: device memory, the L2 cache, the pipe of shared memory and the L1 cache, slots
// for instructions, tensor cores, special units. Each of them alone would take a time; so would one warp after another if
// only latency counted. The launch takes about as long as the largest of these, and more where several are close.
package estimate

import (
	"math"

	"flashlab/device/trace"
)

// Estimate is a launch's time on a GPU.
type Estimate struct {
	Seconds float64
	Bound   string  // the resource that takes longest
	Terms   []Term  // what each alone would take
	Blocks  float64 // that a multiprocessor holds at once
}

// Term is what one resource takes, in seconds of each launch.
type Term struct {
	Name    string
	Seconds float64
}

// launch is the mean of a kernel's launches.
type launch struct {
	blocks, threads, warps, shared float64 // warps and threads of a block
	bounds                         [2]int
	distinct, written, held        float64 // bytes of device memory: different ones, by the model of an endless L2 cache
	missed, sent, partial          float64 // bytes that the L1 cache does not have; those that are written; what their sectors have besides
	pipe, scattered                float64 // passes of shared memory and the L1 cache; sectors beyond what was asked for
	requests, shareds              float64 // of warps
	plain, special                 float64 // operations of lanes, but for tensor cores'
	steps                          float64 // basic blocks of warps
	code                           float64 // instructions of warps, as the simulator's processor counts them
	barriers                       float64
	products, groups               float64 // of tensor cores: 16 × 8 by 32 bytes, by warps and by warp groups
}

// of is the mean launch, `times` as many blocks of which would be launched as were counted.
func of(c trace.Counts, times float64) launch {
	n, ran := float64(max(c.Launches, 1)), float64(c.Ran)
	if ran == 0 {
		ran = float64(max(c.Blocks, 1))
	}
	all := float64(c.Blocks) * times
	scale := all / ran / n
	many := func(counts ...uint64) (sum float64) {
		for _, one := range counts {
			sum += float64(one)
		}
		return sum * scale
	}
	l := launch{blocks: all / n, threads: float64(c.Threads) / float64(max(c.Blocks, 1)), shared: float64(c.SharedHad) / float64(max(c.Blocks, 1)), bounds: c.Bounds,
		held: float64(c.Held) / n * times, requests: many(c.GlobalRequests), shareds: many(c.SharedRequests), barriers: many(c.Barriers),
		plain: many(c.FLOPs) - many(c.Matrix) - many(c.Special), special: many(c.Special), code: many(c.Instructions) / 32}
	l.warps = math.Ceil(l.threads / 32)
	l.missed, l.sent = sector*many(c.SectorsMissed), many(c.GlobalWritten)
	l.partial = math.Max(0, sector*many(c.SectorsWritten)-l.sent)
	l.distinct = math.Min(many(c.DeviceRead), l.held)
	l.written = math.Min(many(c.DeviceWritten), l.held)
	l.pipe = many(c.SharedPasses) + math.Max(many(c.SectorsRead, c.SectorsWritten)/4, l.requests)
	l.scattered = math.Max(0, many(c.SectorsRead)-many(c.GlobalRead)/sector) + l.partial/sector
	l.steps = math.Max(0, many(c.Steps)/32-l.requests-l.shareds-l.barriers*l.warps)
	// Arithmetic of halves is calls here, with branches of their own, and an instruction on a GPU.
	l.steps = math.Min(l.steps, (l.requests+l.shareds+l.plain/32)/4)
	l.groups = many(c.WarpGroupSteps)
	l.products = math.Max(0, many(c.TensorCore)-4*many(c.WarpGroups))
	return l
}

const (
	sector   = 32
	byLaunch = "the launch itself" // binds it
)

// resident is how many blocks a multiprocessor holds at once.
func (g GPU) resident(l launch, registers float64) float64 {
	n := math.Min(g.Blocks, math.Floor(g.Warps/l.warps))
	n = math.Min(n, math.Floor(g.Memory/(l.shared+1024)))
	if l.bounds[0] > 0 && l.bounds[1] > 0 {
		registers = math.Min(255, math.Floor(g.Registers/float64(l.bounds[0]*l.bounds[1])/8)*8)
	}
	registers = math.Min(registers, math.Floor(g.Registers/(32*l.warps)/8)*8)
	return math.Max(1, math.Min(n, math.Floor(g.Registers/(registers*32*l.warps))))
}

// Time estimates a kernel's launches, each; `times` as many blocks are launched as were counted.
func (g GPU) Time(c trace.Counts, times float64) Estimate { return g.timed(of(c, times), Fitted) }

func (g GPU) timed(l launch, f Constants) Estimate {
	e := Estimate{Blocks: g.resident(l, f[Registers])}
	p := float64(g.Processors)
	used := math.Min(p, l.blocks)
	// The last blocks leave multiprocessors idle: with few blocks each, that matters.
	uneven := 1.0
	each := l.blocks / p
	if each < 8 {
		uneven = math.Ceil(each-1e-9) / each
	}
	rounds := math.Max(1, each/e.Blocks)
	if rounds < 4 {
		rounds = math.Ceil(rounds - 1e-9)
	}
	clocks := func(work float64) float64 { return work / p / g.Clock * uneven }
	// What blocks that run at once read of device memory is read again from the L2 cache, as far as it fits.
	device := l.distinct
	if again := l.missed - l.distinct; again > 0 {
		atOnce := l.distinct * math.Min(1, e.Blocks*p/l.blocks)
		device += again * (1 - math.Min(1, g.Cache/math.Max(1, atOnce)))
	}
	warps := l.blocks * l.warps
	instructions := l.plain/32*f[Plain] + l.special/32*f[Special] + (l.requests+l.shareds)*f[Request] + l.steps*f[Step] + l.code*f[Code] + l.products + l.groups/4
	alone := l.missed / sector / 4 / warps * f[LatencyDevice]
	alone += (l.requests) / warps * f[LatencyCache]
	alone += l.shareds/warps*f[LatencyShared] + instructions/warps*f[LatencyPlain] + l.barriers/l.blocks*f[LatencyBarrier] + l.products/warps*f[LatencyProduct]
	e.Terms = []Term{
		{"device memory", (device + l.written) / (g.Device * f[Device]) * math.Max(1, 0.5*p/used)},
		{"the L2 cache", (l.missed + l.sent + l.partial*f[Partial]) / (g.L2 * f[L2])},
		{"shared memory", clocks((l.pipe + l.scattered*f[Scatter]) / f[Shared] * 128 / g.Shared)},
		{"instructions", clocks(instructions / 4 / f[Issue])},
		{"arithmetic", clocks(l.plain * 0.5 / g.Lanes / f[Issue])},
		{"tensor cores", clocks((l.products/f[Product] + l.groups/f[Group]) / g.Tensor)},
		{"special units", clocks(l.special / g.Special / f[Issue])},
		{"latency", rounds * alone / g.Clock},
	}
	// Between two barriers a block often needs one resource alone: then only as many overlap as there are blocks at once.
	apart := math.Max(1, math.Min(e.Blocks, each))
	if l.barriers == 0 {
		apart *= l.warps
	}
	phases := 0.0
	for _, t := range e.Terms {
		phases += t.Seconds
	}
	e.Terms = append(e.Terms, Term{"barriers", phases / apart * f[Phases]})
	sum, most := 0.0, 0.0
	for _, t := range e.Terms {
		sum += math.Pow(t.Seconds, f[Power])
		if t.Seconds > most {
			most, e.Bound = t.Seconds, t.Name
		}
	}
	e.Seconds = f[Launch]*g.Launch + math.Pow(sum, 1/f[Power])
	if most < g.Launch {
		e.Bound = byLaunch
	}
	return e
}
