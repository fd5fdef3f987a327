package ptx

import (
	"fmt"
	"regexp"
	"strings"
)

// copyBulk is cp.async.bulk: the copy engine's instructions.
func copyBulk(i *inst) string {
	for _, p := range i.parts {
		if strings.HasPrefix(p, "im2col") || strings.HasPrefix(p, "tile::") || p == "ignore_oob" || p == "cp_mask" {
			return i.refuse("boxes (.tile) are served")
		}
	}
	switch {
	case i.has("commit_group"):
		return "simt_bulk_commit();"
	case i.has("wait_group"):
		if !i.count(1) {
			return ""
		}
		return "simt_bulk_wait((unsigned long long)" + i.raw(0) + ");"
	case i.has("prefetch"):
		return ";"
	case i.has("tensor"):
		return i.copyBox()
	}
	policy := 0
	if i.has("L2::cache_hint") {
		policy = 1
	}
	multicast, blocks := i.multicast(4)
	if i.loads() {
		if !i.count(4 + multicast + policy) {
			return ""
		}
		return fmt.Sprintf("simt_bulk_load(%s, %s, %s, %s, %s, %s);", i.address(0, true), i.address(1, false), i.as(2, "u32"), i.address(3, true), blocks, line)
	}
	if i.sends() {
		if !i.count(4) {
			return ""
		}
		return fmt.Sprintf("simt_bulk_send(%s, %s, %s, %s, %s);", i.address(0, true), i.address(1, true), i.as(2, "u32"), i.address(3, true), line)
	}
	if !i.stores() || !i.count(3+policy) {
		return i.refuse("from .global or .shared::cta to .shared::cluster with an mbarrier, and from .shared::cta to .global in a .bulk_group, are served")
	}
	return fmt.Sprintf("simt_bulk_store(%s, %s, %s, %s);", i.address(0, false), i.address(1, true), i.as(2, "u32"), line)
}

// loads and stores go by the order of the state spaces.
func (i *inst) loads() bool {
	text := "." + strings.Join(i.parts, ".") + "."
	return (strings.Contains(text, ".shared::cluster.global.") || strings.Contains(text, ".shared::cta.global.")) && i.has("mbarrier::complete_tx::bytes")
}

// multicast is how many operands it takes, and the mask of blocks; the first of them is the n-th.
func (i *inst) multicast(n int) (int, string) {
	if !i.has("multicast::cluster") {
		return 0, "0u"
	}
	return 1, "(unsigned)" + i.as(n, "u16")
}

// sends goes from the block's own shared memory to another's.
func (i *inst) sends() bool {
	return strings.Contains("."+strings.Join(i.parts, ".")+".", ".shared::cluster.shared::cta.") && i.has("mbarrier::complete_tx::bytes")
}

func (i *inst) stores() bool {
	return strings.Contains("."+strings.Join(i.parts, ".")+".", ".global.shared::cta.") && i.has("bulk_group")
}

var boxForm = regexp.MustCompile(`^\[\s*([^,\s]+)\s*,\s*\{([^}]*)\}\s*\]$`)
var dimensions = regexp.MustCompile(`^[1-5]d$`)

// copyBox is cp.async.bulk.tensor: [map, {coordinates}].
func (i *inst) copyBox() string {
	rank := 0
	for _, p := range i.parts {
		if dimensions.MatchString(p) {
			rank = int(p[0] - '0')
		}
	}
	n, policy := 1, 0 // where the map is
	if i.has("L2::cache_hint") {
		policy = 1
	}
	loads := i.loads()
	multicast, blocks := i.multicast(3)
	switch {
	case loads && !i.count(3+multicast+policy):
		return ""
	case !loads && (!i.stores() || !i.count(2+policy)):
		return i.refuse("from .global to .shared::cluster with an mbarrier, and from .shared::cta to .global in a .bulk_group, are served")
	case !loads:
		n = 0
	}
	m := boxForm.FindStringSubmatch(strings.TrimSpace(i.arg(n)))
	if m == nil {
		return i.refuse("its map and coordinates are [map, {c0, c1}]")
	}
	coordinates := strings.Split(m[2], ",")
	if len(coordinates) != rank {
		return i.refuse(fmt.Sprintf("a map of %d dimensions takes as many coordinates", rank))
	}
	at := []string{"0", "0", "0", "0", "0"}
	for k, c := range coordinates {
		at[k] = asType(i.value(strings.TrimSpace(c)), "s32")
	}
	box := "(const void *)simt::ptx::generic(" + i.value(m[1]) + "), " + strings.Join(at, ", ")
	if loads {
		return fmt.Sprintf("simt_tensor_load(%d, %s, %s, %s, %s, %s);", rank, i.address(0, true), box, i.address(2, true), blocks, line)
	}
	return fmt.Sprintf("simt_tensor_store(%d, %s, %s, %s);", rank, box, i.address(1, true), line)
}
