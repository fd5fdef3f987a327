package kit

// Plain is one layer's cache in halves.
type Plain struct {
	K, V Halves // [Batch, KVHeads, Slots, Dim]
}

// Kivi is one layer's cache of four bits. A number is code · scale + low. K has a scale and a low for each channel
// of CacheGroup tokens, V for each token. The newest tokens, whose group is not full, are halves.
type Kivi struct {
	K, V           Bytes  // [Batch, KVHeads, Slots, Dim / 2]
	KScales, KLows Halves // [Batch, KVHeads, Slots / CacheGroup, Dim]
	VScales, VLows Halves // [Batch, KVHeads, Slots]
	KOpen, VOpen   Halves // [Batch, KVHeads, CacheGroup, Dim]
}

// CacheGroup is how many tokens of K share scales. Slots is a multiple of it.
const CacheGroup = 16

func (p Plain) check(what string, c Config) error {
	n := c.Batch * c.KVHeads * c.Slots * c.Dim
	return check(what, size{"the cache's K", p.K.Len(), n}, size{"the cache's V", p.V.Len(), n})
}

func (v Kivi) check(what string, c Config) error {
	heads := c.Batch * c.KVHeads
	codes, channels, open := heads*c.Slots*c.Dim/2, heads*c.Slots/CacheGroup*c.Dim, heads*CacheGroup*c.Dim
	return check(what, size{"the cache's K", v.K.Len(), codes}, size{"the cache's V", v.V.Len(), codes},
		size{"KScales", v.KScales.Len(), channels}, size{"KLows", v.KLows.Len(), channels},
		size{"VScales", v.VScales.Len(), heads * c.Slots}, size{"VLows", v.VLows.Len(), heads * c.Slots},
		size{"KOpen", v.KOpen.Len(), open}, size{"VOpen", v.VOpen.Len(), open})
}

func step(what string, qkv Floats, lengths Ints, c Config) error {
	return check(what, size{"qkv", qkv.Len(), c.Batch * c.QKV()}, size{"lengths", lengths.Len(), c.Batch})
}

// Append writes the keys and values in qkv, which are rotated, to slot lengths[b] of each sequence.
func (k *Kit) Append(to Plain, qkv Floats, lengths Ints, c Config) error {
	if err := to.check("Append", c); err != nil {
		return err
	}
	if err := step("Append", qkv, lengths, c); err != nil {
		return err
	}
	return k.append(to.K, to.V, qkv, lengths, c, c.Slots)
}

// AppendOpen writes them to the open groups: to row lengths[b] % CacheGroup.
func (k *Kit) AppendOpen(to Kivi, qkv Floats, lengths Ints, c Config) error {
	if err := to.check("AppendOpen", c); err != nil {
		return err
	}
	if err := step("AppendOpen", qkv, lengths, c); err != nil {
		return err
	}
	return k.append(to.KOpen, to.VOpen, qkv, lengths, c, CacheGroup)
}

func (k *Kit) append(keys, values Halves, qkv Floats, lengths Ints, c Config, rows int) error {
	return k.each("append", c.Batch*c.KVHeads*c.Dim, keys, values, qkv, lengths, c.Batch, c.Heads, c.KVHeads, c.Dim, c.Slots, rows)
}

// Close makes codes of the groups that the new tokens have filled, those of sequences with (lengths[b] + 1) %
// CacheGroup = 0. It does nothing for all others, so it belongs into every step, behind AppendOpen.
func (k *Kit) Close(to Kivi, lengths Ints, c Config) error {
	if err := to.check("Close", c); err != nil {
		return err
	}
	if err := check("Close", size{"lengths", lengths.Len(), c.Batch}); err != nil {
		return err
	}
	return k.queue.Launch(k.kernels["close_group"], heads(c.KVHeads, c.Batch, block, 0), to.K, to.V, to.KScales, to.KLows, to.VScales, to.VLows,
		to.KOpen, to.VOpen, lengths, c.Dim, c.Slots)
}

// Attend writes the attention of the queries in qkv, which are rotated, to slots 0 … lengths[b]: out [Batch, Heads × Dim].
func (k *Kit) Attend(out, qkv Floats, from Plain, lengths Ints, c Config) error {
	if err := from.check("Attend", c); err != nil {
		return err
	}
	if err := step("Attend", qkv, lengths, c); err != nil {
		return err
	}
	if err := check("Attend", size{"out", out.Len(), c.Batch * c.Heads * c.Dim}); err != nil {
		return err
	}
	return k.queue.Launch(k.kernels["attend"], heads(c.Heads, c.Batch, 32, 4*c.Slots), out, qkv, from.K, from.V, lengths, c.Heads, c.KVHeads, c.Dim, c.Slots)
}

// AttendKivi is Attend over a cache of four bits: full groups by their codes, the newest tokens by the halves that are open.
func (k *Kit) AttendKivi(out, qkv Floats, from Kivi, lengths Ints, c Config) error {
	if err := from.check("AttendKivi", c); err != nil {
		return err
	}
	if err := step("AttendKivi", qkv, lengths, c); err != nil {
		return err
	}
	if err := check("AttendKivi", size{"out", out.Len(), c.Batch * c.Heads * c.Dim}); err != nil {
		return err
	}
	return k.queue.Launch(k.kernels["attend_kivi"], heads(c.Heads, c.Batch, 32, 4*c.Slots), out, qkv, from.K, from.V, from.KScales, from.KLows,
		from.VScales, from.VLows, from.KOpen, from.VOpen, lengths, c.Heads, c.KVHeads, c.Dim, c.Slots)
}
