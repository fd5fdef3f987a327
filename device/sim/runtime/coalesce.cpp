// coalesce.cpp - what a warp's request costs: sectors of device memory, passes over
// the banks of shared memory.
#include "traffic.h"

#include <algorithm>
#include <cstdlib>

namespace simt {

namespace {
// A model of what reaches device memory: the L2 cache holds everything that one
// launch touches, and nothing of the launch before. So a sector is fetched once if
// it is read and sent back once if it is written, no matter how often.
enum Touch : uint8_t { Fetched = 1, SentBack = 2 };
uint8_t *touched; // by sector of device memory; blocks of all workers share it
} // namespace

Addresses expand(const Request &r, const Trace &t) {
    Addresses out;
    if (r.irregular)
        out = t.irregular[r.irregular - 1];
    else
        for (unsigned lane = 0; lane < 32; lane++) out.at[lane] = r.expected(lane);
    out.mask = r.mask;
    return out;
}

namespace {
// countDistinct sorts what the caller collected, unless it is in order already.
unsigned countDistinct(Addr *list, unsigned count) {
    if (!std::is_sorted(list, list + count)) std::sort(list, list + count);
    return (unsigned)(std::unique(list, list + count) - list);
}

// markVariable is for memory that is no allocation's: the module's variables.
void markVariable(Traffic *t, Addr sector, Op op) {
    const Module *m = worker->module;
    if (op == READ || !m->data.holds(sector * sectorBytes + sectorBytes - 1)) return;
    uint8_t *written = m->written + (sector - m->data.lo / sectorBytes);
    t->variables += !__atomic_exchange_n(written, 1, __ATOMIC_RELAXED);
}

// isKept keeps a sector in the model of the L1 cache, and tells whether it was there.
bool isKept(Traffic *t, Addr sector) {
    auto at = [&](uint64_t time) -> std::pair<uint64_t *, uint64_t> {
        uint64_t hash = ((sector << 20 ^ t->blocks << 50) + time) * 0x9E3779B97F4A7C15ull;
        return {&t->kept[hash >> 44], hash};
    };
    uint64_t time = t->when / keptRequests + 1;
    auto [now, hash] = at(time);
    if (*now == hash) return true;
    *now = hash;
    auto [before, old] = at(time - 1);
    return *before == old;
}

void mark(Traffic *t, Addr sector, Op op) {
    if (t->kept && op == READ) t->missed += !isKept(t, sector);
    if (sector - arena.lo / sectorBytes >= (arena.hi - arena.lo) / sectorBytes)
        return markVariable(t, sector, op);
    uint32_t index = (uint32_t)(sector - arena.lo / sectorBytes);
    uint8_t wanted = op == READ ? Fetched : op == WRITE ? SentBack : Fetched | SentBack;
    if ((__atomic_load_n(&touched[index], __ATOMIC_RELAXED) & wanted) == wanted) return;
    uint8_t before = __atomic_fetch_or(&touched[index], wanted, __ATOMIC_RELAXED);
    uint8_t fresh = wanted & (uint8_t)~before;
    t->fetched += (fresh & Fetched) != 0;
    t->sentBack += (fresh & SentBack) != 0;
    if (!before) t->marked.push_back(index);
}

// Sectors from first to last.
struct Run {
    Addr first, last;
};

// runOf tells whether half a warp's addresses leave no sector out between their
// first and last: neighbouring lanes at most one sector apart.
bool runOf(const Request &r, unsigned half, unsigned n, Run *run) {
    uint32_t mask = r.mask >> (16 * half) & 0xFFFF;
    unsigned first = (unsigned)__builtin_ctz(mask), lanes = mask >> first;
    int step = r.step[half];
    if ((lanes & (lanes + 1)) || step > (int)sectorBytes || step < -(int)sectorBytes) return false;
    unsigned last = 31 - (unsigned)__builtin_clz(mask);
    Addr a = r.expected(16 * half + first), b = r.expected(16 * half + last);
    *run = {std::min(a, b) / sectorBytes, (std::max(a, b) + n - 1) / sectorBytes};
    return true;
}

// runsOf finds the sectors of a regular request without looking at each lane. It
// returns how many runs they make, or 0 if each lane must be looked at after all.
int runsOf(const Request &r, unsigned n, Run *runs) {
    if (r.irregular) return 0;
    int count = 0;
    for (unsigned half = 0; half < 2; half++)
        if (r.mask >> (16 * half) & 0xFFFF)
            if (!runOf(r, half, n, &runs[count++])) return 0;
    if (count == 2 && runs[0].first <= runs[1].last && runs[1].first <= runs[0].last) {
        runs[0] = {std::min(runs[0].first, runs[1].first), std::max(runs[0].last, runs[1].last)};
        return 1;
    }
    return count;
}

void countSectors(Traffic *t, const Trace &trace, const Request &r, Site &s) {
    Run runs[2];
    if (int count = runsOf(r, s.size, runs)) {
        for (int i = 0; i < count; i++)
            for (Addr at = runs[i].first; at <= runs[i].last; at++) {
                s.sectors++;
                mark(t, at, s.op);
            }
        return;
    }
    Addresses lanes = expand(r, trace);
    Addr list[32 * 2];
    unsigned count = 0;
    for (uint32_t rest = r.mask; rest; rest &= rest - 1) {
        Addr at = lanes.at[__builtin_ctz(rest)];
        for (Addr x = at / sectorBytes; x <= (at + s.size - 1) / sectorBytes; x++)
            if (!count || list[count - 1] != x) list[count++] = x;
    }
    count = countDistinct(list, count);
    s.sectors += count;
    for (unsigned i = 0; i < count; i++) mark(t, list[i], s.op);
}

// onePieceABank tells whether lanes from `first` on ask no bank for two different words; then one
// pass serves them all. Wide accesses take several banks together: pieces of n bytes.
bool onePieceABank(const Addresses &r, unsigned first, unsigned lanes, unsigned n) {
    unsigned shift = n == 16 ? 4 : n == 8 ? 3 : 2, banks = 128u >> shift;
    Addr piece[32];
    uint32_t taken = 0;
    for (uint32_t rest = r.mask >> first << first; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (lane >= first + lanes) break;
        Addr at = r.at[lane] >> shift;
        unsigned bank = at % banks;
        if (taken >> bank & 1) {
            if (piece[bank] != at) return false;
            continue;
        }
        taken |= 1u << bank;
        piece[bank] = at;
    }
    return true;
}

// passesOfSome counts the passes that 32 banks of 4 bytes need for some lanes: as many as the
// fullest bank has different words.
unsigned passesOfSome(const Addresses &r, unsigned first, unsigned lanes, unsigned n) {
    Addr words[64];
    unsigned count = 0;
    for (unsigned lane = first; lane < first + lanes; lane++)
        if (r.mask >> lane & 1)
            for (unsigned b = 0; b < (n < 4 ? 1 : n / 4); b++) words[count++] = r.at[lane] / 4 + b;
    count = countDistinct(words, count);
    unsigned perBank[32] = {}, most = 0;
    for (unsigned i = 0; i < count; i++) most = std::max(most, ++perBank[words[i] % 32]);
    return most;
}

// wavefrontsOf counts the passes of a request. Wide accesses go by halves or quarters of a warp.
unsigned wavefrontsOf(const Addresses &r, unsigned n) {
    unsigned group = n >= 16 ? 8 : n == 8 ? 16 : 32;
    unsigned total = 0;
    for (unsigned first = 0; first < 32; first += group) {
        uint32_t there = r.mask >> first & (uint32_t)((1ull << group) - 1);
        if (there)
            total += onePieceABank(r, first, group, n) ? 1 : passesOfSome(r, first, group, n);
    }
    return total;
}

} // namespace

// passesOf remembers an instruction's last answer: most of its requests have the same
// shape, and where in the banks they begin does not matter.
unsigned passesOf(const Trace &trace, const Request &r, Site &s) {
    if (r.irregular) return wavefrontsOf(expand(r, trace), s.size);
    bool both = (r.mask & 0xFFFF) && r.mask >> 16;
    Addr base = r.mask & 0xFFFF ? r.base[0] : r.base[1];
    Shape shape = {r.mask,
                   {r.step[0], r.step[1]},
                   (uint32_t)(base & 3),
                   both ? (int64_t)(r.base[1] - r.base[0]) : 0};
    if (!(shape == s.lastShape)) {
        s.lastShape = shape;
        s.lastPasses = wavefrontsOf(expand(r, trace), s.size);
    }
    return s.lastPasses;
}

void initTraffic() {
    touched = (uint8_t *)reserve((arena.hi - arena.lo) / sectorBytes + 1);
}

void countRequest(Traffic *t, const Trace &trace, const Request &r) {
    Site &s = t->sites[r.site];
    s.requests++;
    uint64_t bytes = s.size * (uint64_t)(r.mask == ~0u ? 32 : __builtin_popcount(r.mask));
    s.bytes += bytes;
    if (s.shared) {
        s.wavefronts += passesOf(trace, r, s);
        return;
    }
    if (s.op == READ) t->read += bytes;
    countSectors(t, trace, r, s);
}

void countRange(Traffic *t, Site &s, Addr a, uint64_t bytes) {
    s.requests++;
    s.bytes += bytes;
    if (s.shared) {
        s.wavefronts += (bytes + 127) / 128; // all banks at once
        return;
    }
    if (s.op == READ) t->read += bytes;
    for (Addr at = a / sectorBytes; at <= (a + bytes - 1) / sectorBytes; at++) {
        s.sectors++;
        mark(t, at, s.op);
    }
}

void forgetSectors(Traffic *t) {
    for (uint32_t index : t->marked) touched[index] = 0;
    t->marked.clear();
    t->fetched = t->sentBack = t->missed = t->variables = 0;
}

} // namespace simt
