// wgmmatiles.cpp - matrices in shared memory as wgmma's descriptors describe them.
#include <algorithm>
#include <cstring>

#include "wgmma.h"

namespace simt {

// The layouts are the PTX ISA's. As it is, a matrix has groups of eight rows `stride` apart;
// without a swizzle each is two blocks of 8 x 16 bytes, `leading` apart, else rows are as long as
// the swizzle. Transposed, eight rows of the depth lie together, each as long as the swizzle, then
// come the next columns (`leading`) and the next eight rows (`stride`); without a swizzle, the
// other way round.
Addr Tile::chunk(unsigned i) const {
    if (!transposed) {
        unsigned row = i / 2, half = i % 2;
        if (!swizzle) return start + row / 8 * stride + row % 8 * 16 + half * leading;
        return swizzled(start + row / 8 * stride + row % 8 * swizzle + half * 16, swizzle);
    }
    unsigned depth = i % 16, columns = i / 16; // 16 numbers deep, columns in chunks of 8
    if (!swizzle) return start + columns * stride + depth % 8 * 16 + depth / 8 * leading;
    unsigned perLine = swizzle / 16;
    return swizzled(start + columns / perLine * leading + columns % perLine * 16 +
                        depth % 8 * swizzle + depth / 8 * stride,
                    swizzle);
}

Tile tileOf(Worker *w, uint64_t d, unsigned rows, bool transposed, int line) {
    static const unsigned swizzles[] = {0, 128, 64, 32};
    Tile t;
    t.start = windowOf(w) + ((d & 0x3fff) << 4);
    t.leading = (d >> 16 & 0x3fff) << 4;
    t.stride = (d >> 32 & 0x3fff) << 4;
    t.swizzle = swizzles[d >> 62];
    t.transposed = transposed;
    t.rows = rows;
    if (d >> 49 & 7)
        refuseHopper(w, "bad descriptor", line,
                     "wgmma: the simulator knows no base offset in a descriptor: let swizzled "
                     "tiles begin at multiples of 1024 bytes");
    for (unsigned i = 0; i < t.chunks(); i++)
        if (!w->shared->holds(t.chunk(i)))
            refuseHopper(w, "bad descriptor", line,
                         "wgmma: the matrix that a descriptor describes goes beyond shared memory: "
                         "it begins " +
                             std::to_string((d & 0x3fff) << 4) + " bytes in, with " +
                             std::to_string(t.leading) + " and " + std::to_string(t.stride) +
                             " bytes from one part to the next");
    return t;
}

void gather(const Tile &t, uint8_t *rows) {
    if (!t.transposed) {
        for (unsigned i = 0; i < t.chunks(); i++)
            memcpy(rows + 16 * i, (const void *)t.chunk(i), 16);
        return;
    }
    uint16_t *out = (uint16_t *)rows; // [column][16]
    for (unsigned i = 0; i < t.chunks(); i++) {
        const uint16_t *from = (const uint16_t *)t.chunk(i);
        for (unsigned c = 0; c < 8; c++) out[(i / 16 * 8 + c) * 16 + i % 16] = from[c];
    }
}

namespace {
// A tile that was copied in with another swizzle holds its numbers elsewhere.
void checkSwizzle(Worker *w, const Product &p, const Tile &t, Addr a) {
    if (!(w->checks & RACE)) return;
    uint8_t known = w->hopper->swizzles[chunkOf(w, a)];
    const Access &write = w->shared->cells[(a - w->shared->lo) >> 2].write;
    if (!known || known == 1 + t.swizzle / 32 || write.thread() < firstEngine(w) ||
        write.epoch < w->blockEpoch)
        return;
    Addr other = w->codeBase + write.pc;
    if (seenBefore(w, "wrong swizzle", p.pc, other)) return;
    Finding f = accessFinding("memcheck", "wrong swizzle", p.pc, READ, 16, describe(w, a));
    f.otherPc = other;
    f.otherOp = WRITE;
    f.otherThread = 0;
    f.otherBlock = w->blockIndex;
    f.text = "wgmma: the descriptor says a swizzle of " + std::to_string(t.swizzle) +
             " bytes, the tile was copied in with one of " + std::to_string(32 * (known - 1));
    report(w, f);
}

unsigned engineOf(const Worker *w) {
    return firstEngine(w) + barrierClocks + w->current->warp / 4;
}

Clock clockOf(Worker *w, size_t products) {
    if (products >= lastClock) overfull(w, Table::Clocks);
    return (Clock)std::min<size_t>(products, lastClock);
}

// The four words of a chunk as a warp's first lane finds them. It judges the read, but is not kept
// as the reader: that is the product.
class Reader {
public:
    Reader(Worker *worker, Addr a, const Access &product)
        : w(worker), cells(w->shared->cells + ((a - w->shared->lo) >> 2)), now(product) {
        for (int i = 0; i < 4; i++) former[i] = {{}, cells[i].read1, cells[i].read2};
    }
    ~Reader() {
        for (int i = 0; i < 4; i++) {
            Cell &c = cells[i];
            c.read1 = former[i].read1, c.read2 = former[i].read2;
            bool others = c.read1.epoch == now.epoch && c.read1.thread() != now.thread();
            (others ? c.read2 : c.read1) = now;
        }
    }

private:
    Worker *w;
    Cell *cells, former[4];
    Access now;
};

// It has read until some warp has waited for it: who writes after this has to know.
void readChunk(Worker *w, const Product &p, const Tile &t, Addr a, bool begins) {
    if (!begins) return recordRace(w, w->shared, a, 16, READ, p.pc);
    checkUncounted(a, 16, READ, p.pc);
    checkHandedOver(w, a, 16, p.pc, "wgmma");
    checkSwizzle(w, p, t, a);
}

void readChunks(Worker *w, const Product &p, const Tile &t, unsigned from, unsigned to, Clock clock,
                bool begins) {
    if (!(w->checks & RACE)) {
        for (unsigned i = from; i < to && begins; i++) readChunk(w, p, t, t.chunk(i), true);
        return;
    }
    const Access product = {w->epoch, (uint32_t)(p.pc - w->codeBase),
                            (uint16_t)(engineOf(w) | 15 << Access::maskShift), clock};
    for (unsigned i = from; i < to; i++) {
        Addr a = t.chunk(i);
        Reader reader(w, a, product);
        readChunk(w, p, t, a, begins);
    }
}
} // namespace

void readTiles(Worker *w, const Product &p, size_t number, bool begins) {
    if (!(w->checks & (MEM | RACE | INIT))) return;
    Fiber *me = w->current;
    const Clock clock = std::min<Clock>(clockOf(w, number), lastClock - 1);
    const unsigned quarter = p.b.chunks() / 4;
    for (unsigned warp = 0; warp < 4; warp++) { // its first lane stands for a warp
        w->current = &w->fibers[(me->warp / 4 * 4 + warp) * 32];
        if (p.aInShared) readChunks(w, p, p.a, 32 * warp, 32 * warp + 32, clock, begins);
        readChunks(w, p, p.b, quarter * warp, warp == 3 ? p.b.chunks() : quarter * (warp + 1),
                   clock, begins);
    }
    w->current = me;
}

void knowProducts(Worker *w, size_t done) {
    if (!(w->checks & RACE)) return;
    startOrder(w);
    Clock &known = w->order[w->current->id * orderWidth(w) + engineOf(w)];
    known = std::max(known, clockOf(w, done));
}

} // namespace simt
