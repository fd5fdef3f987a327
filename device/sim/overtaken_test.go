package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Of these, the first line's load is used behind the arrival, if its name says so.
func TestLoadsThatACopyMayOvertake(t *testing.T) {
	const hook = "\tmovq %rbx, %rdi\n\tcall __tsan_read4@PLT\n\tmovss (%rbx), %xmm0\n"
	for name, rest := range map[string]string{
		"late: kept on the stack":        "\tmovss %xmm0, 12(%rsp)\n\tcall simt_mbarrier_arrive@PLT\n\taddss 12(%rsp), %xmm1\n",
		"late: moved twice":              "\tmovd %xmm0, %ebp\n\tmovl %ebp, 8(%rsp)\n\tcall simt_mbarrier_arrive@PLT\n\tmovl 8(%rsp), %eax\n\timull %eax, %ecx\n",
		"late: on one way of two":        "\tmovd %xmm0, %ebp\n\tje .L2\n\taddl %ebp, %r12d\n.L2:\n\tcall simt_mbarrier_arrive@PLT\n\taddl %ebp, %r12d\n",
		"late: stored":                   "\tmovd %xmm0, %ebp\n\tcall simt_mbarrier_arrive@PLT\n\tmovl %ebp, (%r12)\n",
		"late: other hooks between":      "\tmovss %xmm0, 12(%rsp)\n\tcall __tsan_write4@PLT\n\tcall __sanitizer_cov_trace_pc@PLT\n\tcall simt_mbarrier_arrive@PLT\n\tmulss 12(%rsp), %xmm1\n",
		"used before":                    "\taddss %xmm0, %xmm1\n\tmovss %xmm0, 12(%rsp)\n\tcall simt_mbarrier_arrive@PLT\n\taddss 12(%rsp), %xmm1\n",
		"stored before":                  "\tmovss %xmm0, (%r12)\n\tmovss %xmm0, 12(%rsp)\n\tcall simt_mbarrier_arrive@PLT\n\taddss 12(%rsp), %xmm1\n",
		"never used":                     "\tmovss %xmm0, 12(%rsp)\n\tcall simt_mbarrier_arrive@PLT\n\tmovss %xmm1, 12(%rsp)\n\taddss 12(%rsp), %xmm1\n",
		"a barrier of the block between": "\tmovss %xmm0, 12(%rsp)\n\tcall simt_barrier@PLT\n\tcall simt_mbarrier_arrive@PLT\n\taddss 12(%rsp), %xmm1\n",
		"a fence between":                "\tmovss %xmm0, 12(%rsp)\n\tcall simt_fence_proxy@PLT\n\tcall simt_mbarrier_arrive@PLT\n\taddss 12(%rsp), %xmm1\n",
		"no arrival":                     "\tmovss %xmm0, 12(%rsp)\n\taddss 12(%rsp), %xmm1\n\tret\n\tcall simt_mbarrier_arrive@PLT\n",
		"lost in the call":               "\tcall simt_mbarrier_arrive@PLT\n\taddss %xmm0, %xmm1\n",
	} {
		watched, err := seeAll("f:\n"+hook+rest+"\tret\n", x86)
		require.NoError(t, err, name)
		assert.Equal(t, strings.HasPrefix(name, "late"), strings.Contains(watched, "call simt_late_read4@PLT"), "%s:\n%s", name, watched)
	}
}
