package quantized

// Bytes of a number.
const (
	half   = 2.0
	packed = 0.5
)

// Read is how many bytes a step reads, after which every sequence has so many tokens.
func Read(c Config, w Way, tokens int) Reads {
	perLayer := c.Elements(QKV) + c.Elements(Out) + c.Elements(GateUp) + c.Elements(Down)
	r := Reads{Matrices: float64(c.Layers*perLayer) * half, Head: float64(c.Elements(Head)) * half}
	if w.INT4 {
		r.Matrices = float64(c.Layers*perLayer) * (packed + half/WeightGroup)
	}
	heads := float64(c.Layers * c.Batch * c.KVHeads)
	if !w.KIVI {
		r.Cache = heads * float64(tokens*c.Dim) * 2 * half
		return r
	}
	closed := tokens / CacheGroup * CacheGroup
	keys := float64(closed*c.Dim)*packed + float64(closed/CacheGroup*c.Dim)*2*half
	values := float64(closed*c.Dim)*packed + float64(closed)*2*half
	open := float64((tokens-closed)*c.Dim) * 2 * half
	r.Cache = heads * (keys + values + open)
	return r
}

// Sheets follow from Read, and from two guesses: that every part reads at the same rate, and that the
// plain attention reads its cache at a tenth of it.
var Sheets = func() (all [len(Workloads)]Sheet) {
	const slow = 10
	for i, w := range Workloads {
		c := Llama(w.Batch, w.Tokens)
		before, cache, matrices := Read(c, Way{}, w.Tokens), Read(c, Way{KIVI: true}, w.Tokens), Read(c, Way{INT4: true}, w.Tokens)
		rest := before.Matrices + before.Head
		sum := rest + before.Cache
		s := &all[i]
		s.Attention = predicted(slow*before.Cache/(rest+slow*before.Cache), slow)
		s.KIVI = predicted(before.Cache/sum, before.Cache/cache.Cache)
		s.INT4 = predicted(before.Matrices/sum, before.Matrices/matrices.Matrices)
		left := 1 - s.KIVI.Share - s.INT4.Share + s.KIVI.Share/s.KIVI.Faster + s.INT4.Share/s.INT4.Faster
		s.All = 1 / left
	}
	return all
}()

// predicted is Amdahl's law.
func predicted(share, faster float64) Prediction {
	return Prediction{Share: share, Faster: faster, Gain: 1 / (1 - share + share/faster)}
}
