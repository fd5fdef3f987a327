// traffic.cpp - counts bytes and memory transactions. The lanes of a warp run
// one after another here, so their accesses are put together again: the n-th
// time since the last barrier that the lanes of a warp pass one instruction is
// one request of that warp. The first lane writes a trace of its requests, and
// the others, which mostly do the same, walk along it.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "runtime.h"

namespace simt {

namespace {
constexpr unsigned maxSites = 4096, tableSize = 4 * maxSites, sectorBytes = 32;
// Requests a lane may have open: a long loop without a barrier must not fill the
// host's memory.
constexpr uint32_t maxOpen = 2048;

// The addresses of one warp at one passing of an instruction. Nearly always
// each half of the warp walks in equal steps, which takes 24 bytes instead of
// 256; the rest is kept in full in `irregular`.
struct Request {
    Addr pc;
    uint32_t site;
    uint32_t mask;      // lanes that have come by
    uint32_t irregular; // index + 1, or 0
    int32_t step[2];
    Addr base[2]; // of lanes 0 and 16, by extrapolation
};

struct Addresses {
    uint32_t mask;
    Addr at[32];
};

// What one warp has open, in the order of its first lane.
struct Trace {
    std::vector<Request> requests;
    std::vector<std::vector<uint32_t>> positions; // by site: its requests in the trace
    std::vector<Addresses> irregular;
};

struct Site {
    Addr pc;
    unsigned size;
    Op op;
    bool shared;
    uint64_t requests, bytes, sectors, wavefronts;
};

// A model of what reaches device memory: the L2 cache holds all that one launch
// touches, and nothing of the launch before. So each sector is fetched once if
// it is read and sent back once if it is written, however often.
enum Touch : uint8_t { Fetched = 1, SentBack = 2 };
uint8_t *touched; // by sector of device memory; blocks of all workers share it

struct Line {
    int module;
    Addr pc; // relative
    Op op;
    bool shared;
    uint64_t requests, bytes, sectors, wavefronts;
};

struct Total {
    int launches = 0;
    uint64_t barriers = 0, steps = 0;
    uint64_t longest = 0;               // of each launch the longest block's steps, summed
    uint64_t fetched = 0, sentBack = 0; // sectors, by the model
    std::map<Addr, Line> lines;
    std::map<std::pair<int, uint32_t>, uint64_t> blocks; // basic blocks: module, offset → runs
};

struct Slot {
    Addr pc;
    uint32_t site;
};

std::map<std::string, Total> totals;
} // namespace

// What one worker has counted in the running launch.
struct Traffic {
    std::vector<Site> sites;
    Trace warps[32];
    uint64_t fetched = 0, sentBack = 0;
    std::vector<uint32_t> marked; // sectors to forget when the launch is over
    Slot table[tableSize];
};

namespace {
uint32_t siteOf(Traffic *t, Addr pc, unsigned n, Op op, bool shared) {
    uint32_t h = (uint32_t)((pc * 0x9E3779B97F4A7C15ull) >> 48) % tableSize;
    for (; t->table[h].pc; h = (h + 1) % tableSize)
        if (t->table[h].pc == pc) return t->table[h].site;
    if (t->sites.size() == maxSites) return maxSites;
    t->table[h] = {pc, (uint32_t)t->sites.size()};
    t->sites.push_back(Site{});
    Site &s = t->sites.back();
    s.pc = pc;
    s.size = n;
    s.op = op;
    s.shared = shared;
    return t->table[h].site;
}

Addr expected(const Request &r, unsigned lane) {
    return r.base[lane / 16] + (Addr)((int64_t)r.step[lane / 16] * (lane % 16));
}

// add notes one lane's address. The first lane of a half sets the base, the
// second the step; one that does not fit makes the request irregular.
void add(Request &r, std::vector<Addresses> &full, unsigned lane, Addr a) {
    unsigned half = lane / 16;
    uint32_t seen = r.mask >> (16 * half) & 0xFFFF;
    if (r.irregular) {
        full[r.irregular - 1].at[lane] = a;
    } else if (!seen) {
        r.base[half] = a; // right only for step 0, until there is a step
        r.step[half] = 0;
    } else if (!(seen & (seen - 1)) && expected(r, lane) != a) {
        unsigned first = (unsigned)__builtin_ctz(seen);
        int64_t apart = (int64_t)(a - r.base[half]), lanes = (int64_t)(lane % 16) - first;
        int64_t step = lanes ? apart / lanes : 0;
        if (lanes && step * lanes == apart && step == (int32_t)step) {
            r.step[half] = (int32_t)step;
            r.base[half] -= (Addr)(step * first);
        }
    }
    if (!r.irregular && seen && expected(r, lane) != a) {
        full.emplace_back();
        r.irregular = (uint32_t)full.size();
        for (uint32_t rest = r.mask; rest; rest &= rest - 1) {
            unsigned l = (unsigned)__builtin_ctz(rest);
            full.back().at[l] = expected(r, l);
        }
        full.back().at[lane] = a;
    }
    r.mask |= 1u << lane;
}

Addresses expand(const Request &r, const std::vector<Addresses> &full) {
    Addresses out;
    if (r.irregular)
        out = full[r.irregular - 1];
    else
        for (unsigned lane = 0; lane < 32; lane++) out.at[lane] = expected(r, lane);
    out.mask = r.mask;
    return out;
}

// Most requests are of two shapes, which need no sorting: all lanes at one
// address, or each lane right behind the one before.
bool uniform(const Addresses &r) {
    if (r.mask != ~0u) return false;
    Addr differ = 0;
    for (int lane = 0; lane < 32; lane++) differ |= r.at[lane] ^ r.at[0];
    return differ == 0;
}

bool contiguous(const Addresses &r, unsigned n) {
    if (r.mask != ~0u) return false;
    Addr differ = 0;
    for (unsigned lane = 0; lane < 32; lane++) differ |= r.at[lane] ^ (r.at[0] + lane * n);
    return differ == 0;
}

// countDistinct sorts what the caller collected, unless it is in order already.
unsigned countDistinct(Addr *list, unsigned count) {
    if (!std::is_sorted(list, list + count)) std::sort(list, list + count);
    return (unsigned)(std::unique(list, list + count) - list);
}

// visitSectors calls visit for each 32-byte sector that a warp's request touches.
template <class F> void visitSectors(const Addresses &r, unsigned n, F visit) {
    if (uniform(r) || contiguous(r, n)) {
        Addr last = std::max(r.at[0], r.at[31]) + n - 1;
        for (Addr s = r.at[0] / sectorBytes; s <= last / sectorBytes; s++) visit(s);
        return;
    }
    Addr list[32 * 2];
    unsigned count = 0;
    for (uint32_t rest = r.mask; rest; rest &= rest - 1) {
        Addr at = r.at[__builtin_ctz(rest)];
        for (Addr s = at / sectorBytes; s <= (at + n - 1) / sectorBytes; s++)
            if (!count || list[count - 1] != s) list[count++] = s;
    }
    count = countDistinct(list, count);
    for (unsigned i = 0; i < count; i++) visit(list[i]);
}

// oneWordABank tells whether no bank is asked for two different words; then one
// pass serves all lanes.
bool oneWordABank(const Addresses &r) {
    Addr word[32];
    uint32_t taken = 0;
    for (uint32_t rest = r.mask; rest; rest &= rest - 1) {
        Addr at = r.at[__builtin_ctz(rest)] / 4;
        unsigned bank = at % 32;
        if (taken >> bank & 1) {
            if (word[bank] != at) return false;
            continue;
        }
        taken |= 1u << bank;
        word[bank] = at;
    }
    return true;
}

// wavefrontsOf counts the passes that 32 banks of 4 bytes need: as many as
// the fullest bank has different words. Wide accesses go by halves or quarters
// of a warp.
unsigned wavefrontsOf(const Addresses &r, unsigned n) {
    unsigned group = n >= 16 ? 8 : n == 8 ? 16 : 32;
    if (uniform(r) || contiguous(r, n)) return 32 / group;
    if (n <= 4 && oneWordABank(r)) return 1;
    unsigned total = 0;
    for (unsigned from = 0; from < 32; from += group) {
        Addr words[64];
        unsigned count = 0;
        for (unsigned lane = from; lane < from + group; lane++)
            if (r.mask >> lane & 1)
                for (unsigned b = 0; b < (n < 4 ? 1 : n / 4); b++)
                    words[count++] = r.at[lane] / 4 + b;
        if (!count) continue;
        count = countDistinct(words, count);
        unsigned perBank[32] = {}, most = 0;
        for (unsigned i = 0; i < count; i++) most = std::max(most, ++perBank[words[i] % 32]);
        total += most;
    }
    return total;
}

void mark(Traffic *t, Addr sector, Op op) {
    if (sector - arena.lo / sectorBytes >= (arena.hi - arena.lo) / sectorBytes) return;
    uint32_t index = (uint32_t)(sector - arena.lo / sectorBytes);
    uint8_t wanted = op == READ ? Fetched : op == WRITE ? SentBack : Fetched | SentBack;
    if ((__atomic_load_n(&touched[index], __ATOMIC_RELAXED) & wanted) == wanted) return;
    uint8_t before = __atomic_fetch_or(&touched[index], wanted, __ATOMIC_RELAXED);
    uint8_t fresh = wanted & (uint8_t)~before;
    t->fetched += (fresh & Fetched) != 0;
    t->sentBack += (fresh & SentBack) != 0;
    if (!before) t->marked.push_back(index);
}

// find looks for a lane's request where it is not the next of the trace: the
// lane took another way. It counts its passings of each instruction so far, and
// takes the request of the next one.
Request *find(Traffic *traffic, Trace &t, Fiber *f, uint32_t site, Addr pc) {
    for (; f->counted < f->cursor; f->counted++) {
        const Request &r = t.requests[f->counted];
        if (r.mask >> f->lane & 1) f->occurrence[r.site]++;
    }
    if (t.positions.size() < traffic->sites.size()) t.positions.resize(traffic->sites.size());
    auto &positions = t.positions[site];
    uint32_t nth = f->occurrence[site]++;
    if (nth == positions.size()) {
        positions.push_back((uint32_t)t.requests.size());
        t.requests.push_back(Request{pc, site, 0, 0, {}, {}});
    }
    f->cursor = f->counted = positions[nth] + 1;
    return &t.requests[positions[nth]];
}
} // namespace

void initTraffic() {
    touched = (uint8_t *)reserve((arena.hi - arena.lo) / sectorBytes + 1);
}

Traffic *newTraffic() {
    return new Traffic();
}

void recordTraffic(Worker *w, Addr a, unsigned n, Op op, bool shared, Addr pc) {
    Traffic *traffic = w->traffic;
    Fiber *f = w->current;
    Trace &t = traffic->warps[f->warp];
    Request *r = t.requests.data() + f->cursor;
    if (f->cursor < t.requests.size() && r->pc == pc && !(r->mask >> f->lane & 1)) {
        f->cursor++;
    } else {
        uint32_t site = siteOf(traffic, pc, n, op, shared);
        if (site == maxSites) return;
        r = find(traffic, t, f, site, pc);
    }
    add(*r, t.irregular, f->lane, a);
    if (++f->open == maxOpen) f->full = true;
}

// makeRoom waits until the other lanes of the warp have come as far (or wait
// for something else), and counts what is open.
void makeRoom(Worker *w) {
    yieldThread(w);
    if (w->current->full) flushWarp(w, w->current->warp);
}

void flushWarp(Worker *w, int warp) {
    Traffic *traffic = w->traffic;
    Trace &t = traffic->warps[warp];
    for (const Request &r : t.requests) {
        Site &s = traffic->sites[r.site];
        s.requests++;
        s.bytes += s.size * (uint64_t)__builtin_popcount(r.mask);
        Addresses lanes = expand(r, t.irregular);
        if (s.shared)
            s.wavefronts += wavefrontsOf(lanes, s.size);
        else
            visitSectors(lanes, s.size, [&](Addr sector) {
                s.sectors++;
                mark(traffic, sector, s.op);
            });
    }
    t.requests.clear();
    t.irregular.clear();
    for (auto &p : t.positions) p.clear();
    Fiber *first = w->fibers + warp * 32;
    for (uint32_t lane = 0; lane < w->warps[warp].lanes; lane++) {
        memset(first[lane].occurrence, 0, traffic->sites.size() * sizeof(uint32_t));
        first[lane].cursor = first[lane].counted = first[lane].open = 0;
        first[lane].full = false;
    }
}

void flushOpen(Worker *w) {
    for (int i = 0; i * 32 < w->threads; i++) flushWarp(w, i);
}

// endTraffic adds up what the workers counted. Of a kernel that was stopped
// nothing is kept (k is null): how far it came is chance.
void endTraffic(Module *m, const KernelEntry *k) {
    Total *total = k ? &totals[k->name] : nullptr;
    if (total) total->launches++;
    uint64_t longest = 0;
    for (Worker *w : workers) {
        Traffic *t = w->traffic;
        if (total) {
            total->barriers += w->barriers;
            total->steps += w->allSteps;
            longest = std::max(longest, w->longest);
            total->fetched += t->fetched;
            total->sentBack += t->sentBack;
            for (Site &s : t->sites) {
                Line &l = total->lines[s.pc];
                l.module = m->id;
                l.pc = s.pc - m->base - 1;
                l.op = s.op;
                l.shared = s.shared;
                l.requests += s.requests;
                l.bytes += s.bytes;
                l.sectors += s.sectors;
                l.wavefronts += s.wavefronts;
            }
        }
        for (uint32_t offset : w->blocksSeen) {
            if (total) total->blocks[{m->id, offset}] += w->blockRuns[offset];
            w->blockRuns[offset] = 0;
        }
        w->blocksSeen.clear();
        for (uint32_t index : t->marked) touched[index] = 0;
        t->marked.clear();
        t->fetched = t->sentBack = 0;
        if (t->sites.empty()) continue;
        t->sites.clear();
        memset(t->table, 0, sizeof t->table);
    }
    if (total) total->longest += longest;
}

std::string trafficJson() {
    static const char *opNames[] = {"read", "write", "atomic"};
    std::string out = "[";
    for (auto &[name, t] : totals) {
        if (out.size() > 1) out += ",\n";
        out += "{\"kernel\":\"" + name + "\",\"launches\":" + std::to_string(t.launches) +
               ",\"barriers\":" + std::to_string(t.barriers) +
               ",\"steps\":" + std::to_string(t.steps) +
               ",\"longestBlock\":" + std::to_string(t.longest) +
               ",\"fetched\":" + std::to_string(t.fetched) +
               ",\"sentBack\":" + std::to_string(t.sentBack) + ",\"lines\":[";
        bool first = true;
        for (auto &[pc, l] : t.lines) {
            if (!first) out += ",";
            first = false;
            out += "{\"module\":" + std::to_string(l.module) + ",\"pc\":" + std::to_string(l.pc) +
                   ",\"op\":\"" + opNames[l.op] + "\",\"shared\":" + (l.shared ? "true" : "false") +
                   ",\"requests\":" + std::to_string(l.requests) +
                   ",\"bytes\":" + std::to_string(l.bytes) +
                   ",\"sectors\":" + std::to_string(l.sectors) +
                   ",\"wavefronts\":" + std::to_string(l.wavefronts) + "}";
        }
        out += "],\"blocks\":[";
        first = true;
        for (auto &[block, runs] : t.blocks) {
            if (!first) out += ",";
            first = false;
            out += "[" + std::to_string(block.first) + "," + std::to_string(block.second) + "," +
                   std::to_string(runs) + "]";
        }
        out += "]}";
    }
    return out + "]";
}

void resetTraffic() {
    totals.clear();
}

} // namespace simt
