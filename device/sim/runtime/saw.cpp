// saw.cpp - the hooks that unseen.go puts before accesses of which the compiler's own were
// not told. The kernel expects no call there: they change no register and no flag. What is the
// thread's own stack needs no more than that. A structure's copy moves more bytes at once than its
// type is aligned to, so most of them ask for no alignment.
//
// saw: no hook can have been told. may: some hooks before this access (the `told` ones) may have
// been, but their address was computed in another way; they are asked first. sawarm.cpp has the
// assembly of AArch64.
#include "access.h"

using namespace simt;

extern __thread Index3 simt_threadIdx, simt_blockIdx, simt_blockDim, simt_gridDim;

#if defined(__x86_64__)
static_assert(offsetof(Worker, stackLo) == 0 && ownStack == 8192 &&
                  offsetof(Worker, current) == 32 && offsetof(Worker, epoch) == 64 &&
                  offsetof(Worker, told) == 280 && offsetof(Fiber, id) == 0 &&
                  sizeof(Told) * toldKept == 128,
              "the assembly below");
#endif

namespace {
constexpr uint32_t coded(size_t n, Op op) {
    return (uint32_t)(n << 1 | (op == WRITE));
}

// tell remembers what a hook was told of, for accesses that may be the ones.
void tell(Addr a, size_t n, Op op) {
    Worker *w = worker;
    if (!w || ownLocal(w, a)) return;
    Told *t = w->told + toldKept * w->current->id;
    memmove(t + 1, t, (toldKept - 1) * sizeof *t);
    t[0] = {a, coded(n, op), w->epoch};
}

bool told(Addr a, size_t n, Op op) {
    const Told *t = worker->told + toldKept * worker->current->id;
    for (unsigned i = 0; i < toldKept; i++)
        if (t[i].epoch == worker->epoch && (t[i].bytesAndOp & 1) == (op == WRITE) && a >= t[i].a &&
            a + n <= t[i].a + (t[i].bytesAndOp >> 1))
            return true;
    return false;
}

// The indices are no memory that threads share. On AArch64 their addresses are computed ahead, and
// kept where unseen.go does not follow them.
#if defined(__aarch64__)
bool index(Addr a) {
    for (const Index3 *own : {&simt_threadIdx, &simt_blockIdx, &simt_blockDim, &simt_gridDim})
        if (a - (Addr)own < sizeof *own) return true;
    return false;
}
#else
constexpr bool index(Addr) {
    return false;
}
#endif
} // namespace

#define CALLER ((Addr)__builtin_return_address(0))
#define SAW(n, OP, op)                                                                             \
    extern "C" void simt_look_##op##n(Addr a, Addr pc) {                                           \
        if (OP == WRITE || !index(a)) access<n, OP, true>(a, pc);                                  \
    }                                                                                              \
    extern "C" void simt_ask_##op##n(Addr a, Addr pc) {                                            \
        if (!told(a, n, OP) && (OP == WRITE || !index(a))) access<n, OP, true>(a, pc);             \
    }                                                                                              \
    extern "C" void simt_told_##op##n(Addr a) {                                                    \
        access<n, OP>(a, CALLER);                                                                  \
        tell(a, n, OP);                                                                            \
    }
#define SAW_BOTH(OP, op)                                                                           \
    SAW(1, OP, op)                                                                                 \
    SAW(2, OP, op)                                                                                 \
    SAW(4, OP, op)                                                                                 \
    SAW(8, OP, op)                                                                                 \
    SAW(16, OP, op)                                                                                \
    extern "C" void simt_look_##op##_aligned(Addr a, Addr pc) {                                    \
        access<16, OP>(a, pc);                                                                     \
    }                                                                                              \
    extern "C" void simt_ask_##op##_aligned(Addr a, Addr pc) {                                     \
        if (!told(a, 16, OP)) access<16, OP>(a, pc);                                               \
    }                                                                                              \
    extern "C" void simt_look_##op##_range(Addr a, Addr pc, size_t n) {                            \
        range<OP>(a, n, pc);                                                                       \
    }                                                                                              \
    extern "C" void simt_ask_##op##_range(Addr a, Addr pc, size_t n) {                             \
        if (!told(a, n, OP)) range<OP>(a, n, pc);                                                  \
    }                                                                                              \
    extern "C" void simt_told_##op##_range(Addr a, size_t n) {                                     \
        range<OP>(a, n, CALLER);                                                                   \
        tell(a, n, OP);                                                                            \
    }
SAW_BOTH(READ, read)
SAW_BOTH(WRITE, write)

#if defined(__x86_64__)
// rdi is the address, rsi the size of a range.
asm(R"(
.text
.macro saw kind name coded
.globl simt_\kind\()_\name
.type simt_\kind\()_\name,@function
simt_\kind\()_\name:
  push %rax
  lahf
  seto %al
  push %rdi
  push %rsi
  mov _ZN4simt6workerE@gottpoff(%rip),%rsi
  mov %fs:(%rsi),%rsi
  test %rsi,%rsi
  jz 1f
  sub (%rsi),%rdi
  cmp $8192,%rdi
  jb 1f
.ifc \kind,may
  add (%rsi),%rdi
  push %rdx
  mov 32(%rsi),%rdx
  movzwl (%rdx),%edx
  shl $7,%edx
  add 280(%rsi),%rdx
  cmp (%rdx),%rdi
  jne 2f
  cmpl $\coded,8(%rdx)
  jne 2f
  mov 12(%rdx),%edx
  cmp 64(%rsi),%edx
  jne 2f
  pop %rdx
  jmp 1f
2:
  pop %rdx
  lea simt_ask_\name(%rip),%rsi
.else
  lea simt_look_\name(%rip),%rsi
.endif
  call simt_look_around
1:
  pop %rsi
  pop %rdi
  add $127,%al
  sahf
  pop %rax
  ret
.size simt_\kind\()_\name,.-simt_\kind\()_\name
.endm

.type simt_look_around,@function
simt_look_around:
  push %rbp
  mov %rsp,%rbp
  push %rax
  push %rcx
  push %rdx
  push %r8
  push %r9
  push %r10
  push %r11
  sub $264,%rsp
  and $-16,%rsp
  movups %xmm0,(%rsp)
  movups %xmm1,16(%rsp)
  movups %xmm2,32(%rsp)
  movups %xmm3,48(%rsp)
  movups %xmm4,64(%rsp)
  movups %xmm5,80(%rsp)
  movups %xmm6,96(%rsp)
  movups %xmm7,112(%rsp)
  movups %xmm8,128(%rsp)
  movups %xmm9,144(%rsp)
  movups %xmm10,160(%rsp)
  movups %xmm11,176(%rsp)
  movups %xmm12,192(%rsp)
  movups %xmm13,208(%rsp)
  movups %xmm14,224(%rsp)
  movups %xmm15,240(%rsp)
  mov %rsi,%rax
  mov 16(%rbp),%rdx
  mov 24(%rbp),%rdi
  mov 40(%rbp),%rsi
  call *%rax
  movups (%rsp),%xmm0
  movups 16(%rsp),%xmm1
  movups 32(%rsp),%xmm2
  movups 48(%rsp),%xmm3
  movups 64(%rsp),%xmm4
  movups 80(%rsp),%xmm5
  movups 96(%rsp),%xmm6
  movups 112(%rsp),%xmm7
  movups 128(%rsp),%xmm8
  movups 144(%rsp),%xmm9
  movups 160(%rsp),%xmm10
  movups 176(%rsp),%xmm11
  movups 192(%rsp),%xmm12
  movups 208(%rsp),%xmm13
  movups 224(%rsp),%xmm14
  movups 240(%rsp),%xmm15
  lea -56(%rbp),%rsp
  pop %r11
  pop %r10
  pop %r9
  pop %r8
  pop %rdx
  pop %rcx
  pop %rax
  pop %rbp
  ret
.size simt_look_around,.-simt_look_around

saw saw read1 2
saw saw read2 4
saw saw read4 8
saw saw read8 16
saw saw read16 32
saw saw read_aligned 32
saw saw read_range 0
saw saw write1 3
saw saw write2 5
saw saw write4 9
saw saw write8 17
saw saw write16 33
saw saw write_aligned 33
saw saw write_range 1
saw may read1 2
saw may read2 4
saw may read4 8
saw may read8 16
saw may read16 32
saw may read_aligned 32
saw may read_range 0
saw may write1 3
saw may write2 5
saw may write4 9
saw may write8 17
saw may write16 33
saw may write_aligned 33
saw may write_range 1
)");
#endif
