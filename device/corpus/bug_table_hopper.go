package corpus

import (
	"flashlab/device"
	"flashlab/tensor"
)

// The classes of Hopper's mistakes.
const (
	early     = "data before its barrier's phase"
	unfenced  = "no fence.proxy.async"
	refilled  = "a buffer refilled while it is in use"
	sumsEarly = "sums before wgmma.wait_group"
	noGroup   = "no commit"
	stale     = "a stale phase"
	counted   = "transaction bytes, arrivals"
	swizzle   = "a descriptor's swizzle"
	meeting   = "threads that have to meet"
	address   = "addresses of copies and products"
	inGroups  = "groups of cp.async"
	cluster   = "clusters, distributed shared memory"
	wholeGrid = "barriers of the grid"
)

// kernel is a bug whose twin is the same kernel without BUG.
func kernel(class, name string) Bug { return Bug{Name: name, Class: class} }

// pair is a bug, and the kernel that is its twin.
func pair(class, name, right string) Bug { return Bug{Name: name, Class: class, right: right} }

// apart says that a bug's twin computes something else.
func apart(b Bug) Bug {
	b.Apart = true
	return b
}

// launched gives all bugs of a file their launch and arguments.
func launched(l device.Launch, a []argument, bugs ...Bug) []Bug {
	for i := range bugs {
		bugs[i].launch, bugs[i].args = l, a
	}
	return bugs
}

// Hopper's bugs take a tensor of 64 × 64 halves, as a tensor map and as it is.
var (
	twoWarpgroups = one(256)
	boxed         = args(box(64, 64), given(halfBits(64*64), false), zeros[float32](8192))
)

var waits = launched(twoWarpgroups, boxed,
	pair(early, "reads_early", "reads_in_time"),
	pair(early, "only_one_waits", "reads_in_time"),
	kernel(early, "one_waits_without_its_warp"),
	kernel(early, "multiplies_early"),
	kernel(early, "never_waited_for"),
	kernel(stale, "keeps_its_phase"),
	kernel(stale, "waits_for_ever"),
	pair(counted, "announces_too_much", "reads_in_time"),
	pair(counted, "announces_too_little", "reads_in_time"),
	kernel(counted, "announces_one_of_two"),
	kernel(counted, "too_many_arrive"),
	pair(counted, "not_initialised", "initialised_for_all"),
	pair(counted, "initialised_unseen", "initialised_for_all"),
)

var handing = launched(twoWarpgroups, boxed,
	pair(unfenced, "multiplies_without_fence", "multiplies_what_it_wrote"),
	pair(unfenced, "fences_before_it_writes", "multiplies_what_it_wrote"),
	pair(unfenced, "one_fences_for_all", "multiplies_what_it_wrote"),
	pair(unfenced, "sends_without_fence", "sends_what_it_wrote"),
	pair(unfenced, "sends_without_barrier", "sends_what_it_wrote"),
	kernel(unfenced, "barrier_without_fence"),
	pair(early, "sends_and_leaves", "sends_what_it_wrote"),
	pair(noGroup, "sends_in_no_group", "sends_what_it_wrote"),
	apart(kernel(address, "sends_past_the_end")),
	apart(kernel(address, "fetches_from_within_a_chunk")),
	apart(kernel(address, "sends_before_the_first_row")),
)

var buffers = launched(twoWarpgroups, boxed,
	kernel(refilled, "refills_while_multiplying"),
	kernel(refilled, "writes_while_multiplying"),
	pair(refilled, "arrives_too_soon", "arrives_when_done"),
	pair(refilled, "one_arrives_too_soon", "one_arrives_when_done"),
	kernel(refilled, "arrives_before_it_uses"),
	pair(stale, "refills_by_an_old_phase", "arrives_when_done"),
	pair(refilled, "two_copies_at_once", "one_copy_at_a_time"),
	kernel(refilled, "changes_what_it_sends"),
)

var products = launched(twoWarpgroups, boxed,
	pair(sumsEarly, "uses_sums_early", "uses_sums_in_time"),
	kernel(sumsEarly, "changes_sums_early"),
	kernel(sumsEarly, "waits_for_the_first_only"),
	pair(noGroup, "commits_nothing", "uses_sums_in_time"),
	pair(sumsEarly, "fences_nothing", "uses_sums_in_time"),
	pair(swizzle, "another_swizzle", "uses_sums_in_time"),
	pair(swizzle, "no_swizzle", "uses_sums_in_time"),
	pair(swizzle, "another_swizzle_of_b", "uses_sums_in_time"),
	pair(meeting, "different_descriptors", "uses_sums_in_time"),
	pair(address, "beyond_shared_memory", "uses_sums_in_time"),
	pair(meeting, "a_warp_is_missing", "uses_sums_in_time"),
	kernel(meeting, "arrives_before_it_writes"),
	pair(meeting, "half_a_block_waits", "all_of_a_block_wait"),
	kernel(meeting, "wrong_half"),
	pair(meeting, "two_counts", "all_of_a_block_wait"),
)

// Four blocks in clusters of two.
var (
	inClusters = device.Launch{Grid: device.D1(4), Block: device.D1(64), Cluster: device.D1(2)}
	numbered   = args(in(256), zeros[float32](2048))
)

var clusters = launched(inClusters, numbered,
	pair(cluster, "swaps_at_once", "swaps"),
	pair(cluster, "returns_early", "swaps"),
	pair(cluster, "fills_too_late", "swaps"),
	pair(cluster, "writes_without_barrier", "writes_to_it"),
	kernel(cluster, "rounds_with_one_barrier"),
	kernel(cluster, "adds_plainly"),
	apart(pair(cluster, "one_past_the_end", "up_to_the_end")),
	pair(cluster, "no_such_rank", "up_to_the_end"),
	pair(cluster, "writes_between", "relaxed_behind_a_fence"),
	pair(cluster, "arrives_relaxed", "relaxed_behind_a_fence"),
	kernel(cluster, "waits_without_arriving"),
	kernel(cluster, "half_arrives"),
	pair(cluster, "through_memory_at_once", "through_memory"),
	apart(pair(cluster, "through_memory_of_others", "through_memory")),
)

var clusterBarriers = launched(inClusters, numbered,
	kernel(cluster, "hands_over_unasked"),
	pair(cluster, "unknown_barrier", "known_barrier"),
	kernel(cluster, "waits_for_anothers"),
	kernel(cluster, "stores_unwaited"),
	pair(cluster, "fetches_unwaited", "fetches_for_both"),
	pair(cluster, "fetches_for_nobody", "fetches_for_both"),
	pair(cluster, "refills_unasked", "refills_when_told"),
	kernel(cluster, "sends_to_neighbour_without_fence"),
)

var grids = launched(device.Launch{Grid: device.D1(5), Block: device.D1(64), Cooperative: true}, args(in(320), zeros[float32](4097)),
	kernel(wholeGrid, "no_second_barrier"),
	pair(wholeGrid, "a_block_returns", "no_block_returns"),
	pair(wholeGrid, "a_block_fails", "no_block_returns"),
	apart(pair(wholeGrid, "different_barriers", "no_block_returns")),
)

var groups = launched(one(64), args(in(128), zeros[float32](64)),
	kernel(inGroups, "newer_group_unwaited"),
	kernel(inGroups, "copy_in_no_group"),
	kernel(inGroups, "copy_over_unread"),
)

// halfBits are n of them, in bits: from 1 to 2.5.
func halfBits(n int) []uint16 {
	bits := make([]uint16, n)
	for i := range bits {
		bits[i] = uint16(0x3c00 + i%7*0x100)
	}
	return bits
}

// box is a tensor map of so many halves, in one box, swizzled by 128 bytes.
func box(rows, columns int) argument {
	return func(d device.Device, name string) (any, device.Memory, error) {
		b, err := device.Upload(d, name, halfBits(rows*columns))
		if err != nil {
			return nil, device.Memory{}, err
		}
		m, err := device.NewTensorMap(b.Memory(), tensor.Float16, []int{columns, rows}, []int{columns, rows}, 128)
		return m, device.Memory{}, err
	}
}
