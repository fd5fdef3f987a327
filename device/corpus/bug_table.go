package corpus

import (
	"flashlab/device"
)

// one is a launch of one block.
func one(threads int) device.Launch { return many(1, threads) }

func many(blocks, threads int) device.Launch {
	return device.Launch{Grid: device.D1(blocks), Block: device.D1(threads)}
}

func args(a ...argument) []argument { return a }

// Why compute-sanitizer has nothing to say.
const (
	sharedOnly  = "racecheck looks at shared memory only"
	insideArray = "the address lies within the array's memory"
	localMemory = "initcheck does not look at a thread's local memory"
	noPipeline  = "it does not follow asynchronous copies"
	noTrap      = "integer division does not trap on a GPU"
	noLimit     = "it sets no limit: the run was stopped"

	zeroConstants = "a constant that nobody sets has zeros"
)

var races = []Bug{
	{Name: "read_too_early", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "refill_too_early", launch: one(64), args: args(in(256), out[float32](64), number(4))},
	{Name: "two_writers", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "wrong_buffer", launch: one(64), args: args(in(256), out[float32](64), number(4))},
	{Name: "tree_without_barrier", launch: one(256), args: args(in(256), out[float32](1))},
	{Name: "last_warp_unsynchronised", right: "last_warp_unsynchronised_ok", launch: one(64), args: args(in(64), out[float32](1))},
	{Name: "swap_twice", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "scan_one_barrier", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "announce_too_early", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "rim_without_barrier", launch: one(64), args: args(in(66), out[float32](64))},
	{Name: "product_one_barrier", launch: device.Launch{Grid: device.D1(1), Block: device.D2(16, 16)},
		args: args(in(16*48), in(48*16), out[float32](256), number(48))},
}

var wideRaces = []Bug{
	{Name: "exchange_in_warp", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "syncwarp_too_weak", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "halves_apart", launch: one(32), args: args(in(32), out[float32](32))},
	{Name: "shuffle_is_no_barrier", launch: one(32), args: args(in(32), out[float32](32))},
	{Name: "counter_not_atomic", launch: one(64), args: args(in(64), out[int32](1))},
	{Name: "histogram_not_atomic", launch: one(64), args: args(ints(64), out[int32](8))},
	{Name: "bins_zeroed_too_late", launch: one(64), args: args(ints(128), out[int32](64))},
	{Name: "total_read_too_early", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "blocks_share_a_sum", launch: many(4, 64), args: args(in(64), zeros[float32](1)), Blind: sharedOnly},
	{Name: "blocks_overlap", launch: many(3, 64), args: args(in(193), zeros[float32](193)), Blind: sharedOnly},
	{Name: "stencil_in_place", launch: many(3, 64), args: args(in(192), zeros[float32](192)), Blind: sharedOnly},
	{Name: "barrier_is_no_grid_barrier", launch: many(2, 64), args: args(in(128), zeros[float32](128), out[float32](128)), Blind: sharedOnly},
	{Name: "sums_before_all_are_done", launch: many(4, 64), args: args(in(64), zeros[float32](4), zeros[uint32](1), out[float32](4)), Blind: sharedOnly},
	{Name: "bytes_overlap", launch: one(64), args: args(in(64), out[uint8](64))},
}

// Blocks that leave their parts to the last of them.
var fences = launched(many(4, 64), args(in(64), zeros[float32](256), zeros[uint32](1), zeros[float32](64)),
	Bug{Name: "fences_before_its_part", Blind: sharedOnly},
	Bug{Name: "fences_before_the_blocks_part", Blind: sharedOnly},
	Bug{Name: "acquires_before_its_part", Blind: sharedOnly},
	Bug{Name: "raises_behind_an_early_fence", Blind: sharedOnly},
	Bug{Name: "tells_a_warp_behind_an_early_fence"},
)

var memoryBugs = []Bug{
	{Name: "no_guard", launch: many(5, 64), args: args(in(1), out[float32](300), number(300))},
	{Name: "up_to_n", launch: one(64), args: args(in(1), out[float32](256), number(256))},
	{Name: "before_the_start", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "unsigned_wraps", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "wrong_stride", launch: one(64), args: args(in(20*5), out[float32](20), number(20), number(5))},
	{Name: "pitch_in_bytes", launch: one(64), args: args(in(8*8), out[float32](8), number(32), number(8))},
	{Name: "indices_swapped", launch: one(64), args: args(in(7*13), out[float32](7*13), number(7), number(13))},
	{Name: "last_tile_unguarded", launch: one(64), args: args(in(50), out[float32](64), number(50))},
	{Name: "four_at_a_time", launch: one(64), args: args(in(250), out[float32](250), number(250))},
	{Name: "index_overflows", launch: one(64), args: args(in(64), out[float32](64), number(50000))},
	{Name: "wild_bin", launch: one(64), args: args(ints(64), zeros[int32](64))},
	{Name: "past_shared", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "past_shared_by_pointer", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "dynamic_too_small", launch: withShared(one(64), 256), twin: withShared(one(64), 512), args: args(in(64), out[float32](64))},
	{Name: "past_the_row", launch: one(64), args: args(in(64), out[float32](64), number(1)), Blind: insideArray},
	{Name: "past_local", launch: one(64), args: args(in(64), out[float32](64), number(4)), Blind: insideArray},
	{Name: "null_pointer", launch: one(64), args: args(zeros[float32](64), number(0))},
	{Name: "after_free", launch: one(64), args: args(zeros[float32](64), freed(64))},
	{Name: "crooked_float4", launch: one(64), args: args(in(257), out[float32](64))},
	{Name: "crooked_float2", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "writes_constant", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "past_a_variable", launch: one(64), args: args(in(64), out[float32](64), number(64))},
}

var wideMemoryBugs = []Bug{
	{Name: "stage_unguarded", launch: one(64), args: args(in(7*32), out[float32](64), number(7))},
	{Name: "stage_by_ones", launch: one(64), args: args(in(8*32), out[float32](64), number(8))},
}

var uninitialised = []Bug{
	{Name: "tile_partly_filled", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "tail_not_zeroed", launch: one(64), args: args(in(64), out[float32](64), number(50))},
	{Name: "sum_without_start", launch: one(64), args: args(in(150), out[float32](64), number(150))},
	{Name: "dynamic_unwritten", launch: withShared(one(64), 256), args: args(in(64), out[float32](64))},
	{Name: "reads_padding", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "reads_fresh", launch: one(64), args: args(fresh(64), in(64), out[float32](64))},
	{Name: "adds_to_fresh", launch: one(64), args: args(in(64), fresh(1))},
	{Name: "constant_never_set", launch: one(4), args: args(in(4), out[float32](4)), Blind: zeroConstants},
	{Name: "local_partly_written", launch: one(64), args: args(in(64), out[float32](64), number(3)), Blind: localMemory},
	{Name: "last_one_unwritten", launch: many(2, 64), args: args(in(100), out[float32](100), number(100))},
}

var synchronisation = []Bug{
	{Name: "barrier_in_branch", launch: one(64), args: args(in(64), zeros[float32](64))},
	{Name: "late_return", launch: one(64), args: args(in(64), zeros[float32](64), number(40))},
	{Name: "uneven_rounds", launch: one(64), args: args(in(80), out[float32](64), number(80))},
	{Name: "out_of_step", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "two_barriers", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "count_in_branch", launch: one(64), args: args(ramp(64, -20), zeros[int32](1))},
	{Name: "shuffle_meets_barrier", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "syncwarp_meets_barrier", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "mask_without_self", launch: one(32), args: args(in(32), out[float32](32))},
	{Name: "absent_lane", launch: one(32), args: args(in(32), zeros[float32](32))},
}

var limits = []Bug{
	{Name: "divides_by_zero", launch: one(64), args: args(ints(64), out[int32](64), number(0)), Blind: noTrap},
	{Name: "remainder_of_zero", launch: one(64), args: args(ints(64), out[int32](64), number(0)), Blind: noTrap},
	{Name: "step_of_zero", launch: one(64), args: args(in(64), zeros[float32](64), number(0)), Blind: noLimit},
	{Name: "waits_for_nobody", launch: one(64), args: args(zeros[int32](1)), Blind: noLimit},
	{Name: "barriers_for_ever", launch: one(64), args: args(ints(64), zeros[int32](64)), Blind: noLimit},
	{Name: "spins", launch: one(64), args: args(zeros[float32](64), number(0)), Blind: noLimit},
	{Name: "large_local_array", launch: one(64), args: args(in(1), out[float32](64), number(7))},
	{Name: "recursion_without_end", launch: one(1), args: args(in(64), out[float32](1))},
	{Name: "traps", launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "asserts", launch: one(64), args: args(in(64), out[float32](64), number(0))},
}

var asynchronous = []Bug{
	{Name: "copy_not_waited_for", Class: inGroups, launch: one(64), args: args(in(64), out[float32](64)), Blind: noPipeline},
	{Name: "last_round_not_waited_for", Class: inGroups, launch: one(64), args: args(in(256), out[float32](64), number(4)), Blind: noPipeline},
	{Name: "waits_alone", Class: inGroups, launch: one(64), args: args(in(64), out[float32](64))},
	{Name: "matrix_too_low", launch: one(32), args: args(zeros[uint16](256), out[float32](32), number(16))},
	{Name: "tile_not_staged", launch: one(64), args: args(zeros[uint16](256), out[float32](64))},
	{Name: "warp_not_whole", launch: one(32), args: args(zeros[uint16](256), zeros[float32](32), number(20))},
}

var tensorCoreBugs = []Bug{
	{Name: "rows_not_staged", launch: one(64), args: args(zeros[uint16](512), out[float32](64))},
	{Name: "stage_filled_too_early", launch: one(64), args: args(zeros[uint16](4*512), out[float32](64), number(4))},
	{Name: "row_crooked", launch: one(32), args: args(zeros[uint16](256), out[float32](32))},
	{Name: "rows_too_low", launch: one(32), args: args(zeros[uint16](256), out[float32](32))},
	{Name: "product_in_branch", launch: one(32), args: args(zeros[uint16](128), out[float32](32), number(5))},
	{Name: "products_apart", launch: one(32), args: args(zeros[uint16](64), out[float32](32))},
}

func withShared(l device.Launch, bytes int) device.Launch {
	l.Shared = bytes
	return l
}

// ramp is a buffer of n floats from first on, one apart.
func ramp(n int, first float32) argument {
	data := make([]float32, n)
	for i := range data {
		data[i] = first + float32(i)
	}
	return given(data, false)
}
