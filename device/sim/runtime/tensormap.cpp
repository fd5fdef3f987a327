// tensormap.cpp - a tensor's boxes, to and from shared memory. What lies outside of the tensor
// arrives as zeros, and is not sent.
#include "tensormap.h"

#include <cstring>

#include "bulk.h"

using namespace simt;

namespace {
// A parameter is on the thread's stack, where AArch64's compilers align a copy to 16 bytes at most.
#if defined(__aarch64__)
constexpr Addr parameterAlignment = 16;
#else
constexpr Addr parameterAlignment = 64;
#endif

// possible tells whether Go can have written it: kernels may have made one, or written over it.
bool possible(const TensorMap &m) {
    if (m.mark != TensorMap::right || m.rank < 1 || m.rank > 5) return false;
    uint64_t bytes = m.element;
    for (int d = 0; d < m.rank; d++) {
        if (m.box[d] < 1 || m.box[d] > 256 || !m.sizes[d]) return false;
        bytes *= m.box[d];
    }
    bool element = m.element == 1 || m.element == 2 || m.element == 4;
    bool swizzle = !m.swizzle || m.swizzle == 32 || m.swizzle == 64 || m.swizzle == 128;
    return element && swizzle && m.box[0] * m.element % 16 == 0 && bytes <= 227 << 10;
}

// mapAt is the map at an address. It is copied, for the kernel may change it.
TensorMap mapAt(Worker *w, const void *p, int rank, int line) {
    Addr a = (Addr)p;
    bool parameter = a - (Addr)w->current->stack <= stackSize - sizeof(TensorMap);
    auto in = [&](const Region &r) { return r.holds(a) && r.holds(a + sizeof(TensorMap) - 1); };
    bool readable = parameter || in(arena) || in(w->module->data);
    TensorMap m;
    if (readable) memcpy((void *)&m, p, sizeof m);
    if (!readable || a % (parameter ? parameterAlignment : 64) || !possible(m))
        refuseHopper(w, "no tensor map", line,
                     "cp.async.bulk.tensor: the map is not one: pass a device.TensorMap for a "
                     "parameter 'const __grid_constant__ CUtensorMap', and its address here");
    if (m.rank != rank)
        refuseHopper(w, "no tensor map", line,
                     "cp.async.bulk.tensor." + std::to_string(rank) + "d: the map has " +
                         std::to_string(m.rank) + " dimensions");
    return m;
}

// An H200's copy engine stops with an illegal instruction at rows that do not begin at a multiple
// of 16 bytes, and at a box to be stored that begins before the tensor.
void checkStart(Worker *w, const TensorMap &m, const int *at, bool loads, int line) {
    int64_t begin = (int64_t)at[0] * m.element;
    if (begin % 16)
        refuseHopper(w, "bad bulk copy", line,
                     "cp.async.bulk.tensor: the box begins " + std::to_string(begin) +
                         " bytes into its rows (coordinate " + std::to_string(at[0]) +
                         "): that has to be a multiple of 16");
    for (int d = 0; d < m.rank && !loads; d++)
        if (at[d] < 0)
            refuseHopper(w, "bad bulk copy", line,
                         "cp.async.bulk.tensor: a box that is stored may end outside of the "
                         "tensor, but not begin before it: coordinate " +
                             std::to_string(d) + " is " + std::to_string(at[d]));
}

// row adds a row of the box: what of it is in the tensor, and zeros for the rest.
void row(BulkCopy &c, const TensorMap &m, const int *at, Addr inShared, bool loads, bool outside,
         Addr begin) {
    int64_t first = at[0], end = first + m.box[0], size = m.sizes[0];
    int64_t from = outside ? end : std::min(std::max<int64_t>(first, 0), end),
            to = outside ? end : std::max(std::min(end, size), from);
    auto piece = [&](int64_t low, int64_t high, bool inTensor) {
        if (low == high) return;
        Addr here = inShared + (Addr)(low - first) * m.element;
        Addr there = inTensor ? begin + (Addr)low * m.element : 0;
        uint32_t bytes = (uint32_t)(high - low) * m.element;
        if (loads)
            c.pieces.push_back({there, here, bytes});
        else if (inTensor)
            c.pieces.push_back({here, there, bytes});
    };
    piece(first, from, false);
    piece(from, to, true);
    piece(to, end, false);
}

BulkCopy boxOf(const TensorMap &m, const int *at, Addr inShared, bool loads) {
    BulkCopy c;
    c.swizzle = m.swizzle;
    unsigned rows = 1;
    for (int d = 1; d < m.rank; d++) rows *= m.box[d];
    c.bytes = (uint64_t)rows * m.box[0] * m.element;
    for (unsigned r = 0; r < rows; r++) {
        unsigned rest = r;
        bool outside = false;
        Addr begin = m.address;
        for (int d = 1; d < m.rank; d++) {
            int64_t i = at[d] + (int64_t)(rest % m.box[d]);
            rest /= m.box[d];
            outside |= i < 0 || i >= (int64_t)m.sizes[d];
            begin += (Addr)i * m.strides[d - 1];
        }
        row(c, m, at, inShared + (Addr)r * m.box[0] * m.element, loads, outside, begin);
    }
    return c;
}
} // namespace

extern "C" {

void simt_tensor_load(int rank, void *to, const void *map, int c0, int c1, int c2, int c3, int c4,
                      void *barrier, unsigned blocks, int line) {
    Worker *w = worker;
    const int at[] = {c0, c1, c2, c3, c4};
    const TensorMap m = mapAt(w, map, rank, line);
    checkStart(w, m, at, true, line);
    BulkCopy c = boxOf(m, at, (Addr)to, true);
    c.line = line;
    c.pc = (Addr)__builtin_return_address(0);
    askForAll(w, c, (Addr)to, (Addr)barrier, 128, blocks, "cp.async.bulk.tensor");
}

void simt_tensor_store(int rank, const void *map, int c0, int c1, int c2, int c3, int c4,
                       const void *from, int line) {
    Worker *w = worker;
    const int at[] = {c0, c1, c2, c3, c4};
    const TensorMap m = mapAt(w, map, rank, line);
    checkStart(w, m, at, false, line);
    BulkCopy c = boxOf(m, at, (Addr)from, false);
    c.line = line;
    c.pc = (Addr)__builtin_return_address(0);
    askForStore(w, c, (Addr)from, 128, "cp.async.bulk.tensor");
}
}
