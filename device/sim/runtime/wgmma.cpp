// wgmma.cpp - products of warpgroups. The 128 threads meet, the last one computes for all.
#include <cstdarg>

#include "collective.h"
#include "wgmma.h"

namespace simt {

namespace {
[[noreturn]] void refuseDifferent(Worker *w, int line) {
    refuseHopper(w, "bad descriptor", line,
                 "wgmma: the threads of a warpgroup bring different descriptors, or differ in "
                 "whether to add: all 128 have to bring the same");
}

// work is done once for all: the product, and its checks.
void work(Worker *w, WarpGroup &g, const Form &f, unsigned firstThread, Addr pc, int line) {
    const Brought &any = g.brought[0];
    for (const Brought &b : g.brought)
        if (b.b != any.b || (!f.fromRegisters && b.a != any.a) || b.adds != any.adds)
            refuseDifferent(w, line);
    if (w->checks & SYNC)
        for (unsigned warp = 0; warp < 4; warp++)
            if (!g.fenced[warp]) {
                reportHopper(w, "synccheck", "no wgmma.fence", line, 0,
                             "wgmma.mma_async without a wgmma.fence before the first one: what "
                             "was written to its registers may not be there yet");
                g.fenced[0] = g.fenced[1] = g.fenced[2] = g.fenced[3] = true;
            }
    Product p = {{}, tileOf(w, any.b, f.columns, f.transposeB, line), !f.fromRegisters, pc, line};
    static thread_local uint8_t a[64 * 32], b[256 * 32];
    if (p.aInShared) {
        p.a = tileOf(w, any.a, 64, f.transposeA, line);
        gather(p.a, a);
    } else {
        uint32_t *rows = (uint32_t *)a; // of 8 words
        for (unsigned t = 0; t < 128; t++)
            for (unsigned i = 0; i < 4; i++)
                rows[(t / 32 * 16 + t % 32 / 4 + 8 * (i % 2)) * 8 + t % 4 + 4 * (i / 2)] =
                    g.brought[t].words[i];
    }
    gather(p.b, b);
    readTiles(w, p, g.products.size(), true);
    if (w->checks & TRAFFIC)
        countBulk(w, p.b.start, 32 * (f.columns + (p.aInShared ? 64 : 0)), READ, true, pc);
    Sums &s = sumsOf(w, g, f, firstThread, line);
    multiply(f, a, b, s.values.data());
    if (s.type == SumF16)
        for (float &v : s.values) v = fromHalfBits(toHalfBits(v));
    s.last = g.products.size();
    s.pc = pc, s.line = line;
    g.products.push_back(p);
    w->products += 2ull * 64 * f.columns * f.depth();
    w->multiplied += 4; // warps
    w->groups++, w->groupSteps += 4 * f.columns / 8;
}

// wait ends all groups of a warp but the last ones.
void waitFor(Worker *w, uint64_t groupsLeft) {
    Fiber *f = w->current;
    WarpGroup &g = groupOf(w, f);
    unsigned warp = f->warp % 4, first = f->warp / 4 * 128;
    auto &groups = g.groups[warp];
    size_t done = groups.size() > groupsLeft ? groups[groups.size() - 1 - groupsLeft] : 0;
    for (size_t &i = g.done; i < done; i++) readTiles(w, g.products[i], i, false);
    knowProducts(w, done);
    fill(w, g, first, warp, done);
    meetInWarp(w, f->warp);
}

void doFence(Exchange &) {
    Fiber *f = worker->current;
    groupOf(worker, f).fenced[f->warp % 4] = true;
    meetInWarp(worker, f->warp);
}
void doCommit(Exchange &) {
    Fiber *f = worker->current;
    WarpGroup &g = groupOf(worker, f);
    g.groups[f->warp % 4].push_back(g.products.size());
}
void doWait(Exchange &x) {
    waitFor(worker, x.row[worker->current->lane]);
}
const Instruction fences = {"wgmma.fence", doFence}, commits = {"wgmma.commit_group", doCommit},
                  waits = {"wgmma.wait_group", doWait};

// arrive makes a thread wait for the 127 others at the same instruction.
void arrive(Worker *w, WarpGroup &g, unsigned code, Addr pc, int line) {
    Fiber *f = w->current;
    unsigned first = f->warp / 4 * 128;
    for (unsigned warp = first / 32; warp < first / 32 + 4; warp++)
        if (UNLIKELY(warp * 32 >= (unsigned)w->threads || w->warps[warp].alive != ~0u))
            refuseHopper(
                w, "absent lane", line,
                "wgmma needs all 128 threads of a warpgroup: some of threads " +
                    std::to_string(first) + " to " + std::to_string(first + 127) +
                    (warp * 32 >= (unsigned)w->threads ? " do not exist" : " have returned"));
    if (!g.there++) {
        g.code = code, g.line = line, g.first = f->id;
    } else if (g.code != code || g.line != line) {
        refuseHopper(w, "divergent warp", line,
                     "wgmma needs all 128 threads of a warpgroup at one place: " + threadName(*f) +
                         " is at line " + std::to_string(line) + ", " +
                         threadName(w->fibers[g.first]) + " waits in line " +
                         std::to_string(g.line));
    }
    if (g.there < 128) {
        f->wait = Wait::Group;
        f->line = line;
        return reschedule(w);
    }
    g.there = 0;
    work(w, g, Form(code), first, pc, line);
    for (unsigned t = first; t < first + 128; t++) {
        if (t == f->id) continue;
        w->fibers[t].wait = Wait::None;
        push(w, (uint16_t)t);
    }
}

// bring is what one thread has for a product.
void bring(const Brought &b, unsigned code, Addr pc, int line) {
    Worker *w = worker;
    Fiber *f = w->current;
    for (unsigned r = 0; r < Form(code).registers(); r++)
        if (UNLIKELY((Addr)b.sums[r] - (Addr)f->stack > stackSize - sizeof(uint32_t)))
            refuseHopper(w, "bad sums", line, "wgmma: its sums have to be local variables");
    WarpGroup &g = groupOf(w, f);
    g.brought[f->id % 128] = b;
    arrive(w, g, code, pc, line);
}
} // namespace

WarpGroup &groupOf(Worker *w, const Fiber *f) {
    auto &g = hopperOf(w).groups[f->warp / 4];
    if (!g) g = std::make_shared<WarpGroup>();
    return *g;
}

} // namespace simt

using namespace simt;

extern "C" {

void simt_wgmma(unsigned code, unsigned long long a, unsigned long long b, unsigned a0, unsigned a1,
                unsigned a2, unsigned a3, int adds, int line, ...) {
    uint32_t *sums[128];
    va_list list;
    va_start(list, line);
    for (unsigned r = 0; r < Form(code).registers(); r++) sums[r] = va_arg(list, uint32_t *);
    va_end(list);
    bring({a, b, {a0, a1, a2, a3}, adds != 0, sums}, code, (Addr)__builtin_return_address(0), line);
}

void simt_wgmma_fence(int line) {
    aligned(worker, fences, line);
}
void simt_wgmma_commit(int line) {
    aligned(worker, commits, line);
}
void simt_wgmma_wait(unsigned long long groupsLeft, int line) {
    Worker *w = worker;
    w->exchanges[w->current->warp].row[w->current->lane] = groupsLeft;
    aligned(w, waits, line);
}
}
