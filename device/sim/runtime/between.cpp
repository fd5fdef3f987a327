// between.cpp - races between blocks. Nothing orders blocks, so it does not
// matter when each touched a word: if two different blocks touch it and one of
// them writes, that is a race. For each word and kind of access, every worker
// keeps the first two of its blocks that touched it. It runs its blocks in rising
// order, so these are its two lowest. The lowest of all workers are the lowest of
// the launch, no matter which worker ran which block when.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cluster.h"
#include "races.h"
#include "releases.h"
#include "tables.h"

namespace simt {

// A stamp is firstStamp + the block's index.
uint32_t firstStamp = 1;

namespace {
uint32_t nextStamp = 1;

uint32_t blockOf(const Seen &s) {
    return s.stamp - firstStamp;
}

// All workers' entries of one kind, the lowest blocks first.
struct Merged {
    Seen first[2] = {};
    void add(const Seen &s) {
        if (s.stamp < firstStamp) return;
        Seen entering = s;
        for (Seen &slot : first) {
            if (slot.stamp == entering.stamp) return;
            if (slot.stamp < firstStamp || entering.stamp < slot.stamp) std::swap(slot, entering);
            if (entering.stamp < firstStamp) return;
        }
    }
    // The lowest block's that is not the other access's own and meets it.
    const Seen *against(const Seen &x) const {
        for (const Seen &s : first)
            if (s.stamp >= firstStamp && s.stamp != x.stamp && (s.mask & x.mask)) return &s;
        return nullptr;
    }
};

bool handedOver(const Seen &from, Op op, const Seen &to) {
    return relies(blockOf(to), to, blockOf(from), from, op == ATOMIC);
}

// meetInCluster tells whether a barrier of their cluster lies between two accesses: one thread had
// left the barrier to which the other was yet to come. Where mbarriers say who is first, or after
// many barriers, it is not known any more: they count as ordered, and the report says so.
bool meetInCluster(const Seen &a, const Seen &b) {
    if (!clustered() || clusterOf(blockOf(a)) != clusterOf(blockOf(b))) return false;
    unsigned first = std::min(a.phase(), b.phase()), second = std::max(a.phase(), b.phase());
    if (second == lastPhase) overfull(workers[0], Table::Mbarriers);
    return second == lastPhase || second / 2 > (first + 1) / 2;
}

struct Race {
    Addr at;
    Seen now, other;
    Op op, otherOp;
    uint64_t count = 0;
    bool elsewhere = false, readFirst = false; // as in Finding
};

class Judge {
public:
    Judge(Module *m, uint32_t lastBlock) : module(m), last(lastBlock) {}

    void judge(Addr at, const std::vector<Between *> &all) {
        Merged write, read, atomic;
        for (Between *b : all) {
            for (const Seen &s : b->write) write.add(s);
            for (const Seen &s : b->read) read.add(s);
            for (const Seen &s : b->atomic) atomic.add(s);
        }
        // The second block's accesses matter where the first one's are all handed over.
        for (const Seen &w : write.first) {
            if (w.stamp < firstStamp) break;
            const Seen *second = write.against(w);
            // Equal values do no harm. But if the word is read as well, they may be
            // equal by chance: the values depend on the race itself.
            bool harmless = second && second->value == w.value && read.first[0].stamp < firstStamp;
            bool found = second && !harmless &&
                         race(at, *second, WRITE, w, WRITE, reads(read, w) || reads(read, *second));
            if (const Seen *r = read.against(w)) found |= race(at, *r, READ, w, WRITE);
            if (const Seen *a = atomic.against(w)) found |= race(at, *a, ATOMIC, w, WRITE);
            if (found) break;
        }
        for (const Seen &a : atomic.first) {
            const Seen *r = a.stamp < firstStamp ? nullptr : read.against(a);
            if (r && race(at, *r, READ, a, ATOMIC)) break;
        }
    }

    void tell() const {
        for (auto &[pcs, race] : races) workers[0]->found.push_back(finding(race));
    }

private:
    // reads tells whether the thread that wrote has read there before, between the same barriers.
    static bool reads(const Merged &read, const Seen &write) {
        return std::any_of(std::begin(read.first), std::end(read.first), [&](const Seen &r) {
            return r.stamp == write.stamp && r.thread == write.thread &&
                   r.interval == write.interval;
        });
    }

    // race tells whether there is one.
    bool race(Addr at, const Seen &now, Op op, const Seen &other, Op otherOp,
              bool readFirst = false) {
        if (blockOf(now) > last || blockOf(other) > last || handedOver(now, op, other) ||
            handedOver(other, otherOp, now) || meetInCluster(now, other))
            return false;
        auto [it, fresh] = races.try_emplace({now.pc, other.pc}, Race{at, now, other, op, otherOp});
        Race &r = it->second;
        uint64_t count = r.count + 1;
        bool elsewhere = r.elsewhere || r.at != at;
        if (std::tie(now.stamp, now.thread, at) < std::tie(r.now.stamp, r.now.thread, r.at))
            r = Race{at, now, other, op, otherOp};
        r.count = count;
        r.elsewhere = elsewhere;
        r.readFirst |= readFirst;
        return true;
    }

    Finding finding(const Race &r) const {
        Finding f;
        f.check = "racecheck";
        f.kind = "race";
        f.pc = module->base + r.now.pc;
        f.op = r.op;
        f.bytes = 4;
        f.place = describe(workers[0], r.at);
        f.thread = r.now.thread;
        f.block = blockOf(r.now);
        f.otherPc = module->base + r.other.pc;
        f.otherOp = r.otherOp;
        f.otherThread = r.other.thread;
        f.otherBlock = blockOf(r.other);
        f.count = r.count;
        f.elsewhere = r.elsewhere;
        f.readFirst = r.readFirst;
        if (lacksFence(blockOf(r.now), r.now, f.otherBlock, r.other) ||
            lacksFence(f.otherBlock, r.other, f.block, r.now))
            f.text = "no fence behind"; // explain_race.go
        else if (comesAfter(blockOf(r.now), r.now, f.otherBlock) ||
                 comesAfter(f.otherBlock, r.other, f.block))
            f.text = "not handed over";
        return f;
    }

    // The first of each pair of instructions, and how many words have it.
    std::map<std::pair<uint32_t, uint32_t>, Race> races;
    Module *module;
    uint32_t last;
};

// judgePages goes through what the workers touched of one region.
void judgePages(Judge &judge, const std::vector<Region *> &regions) {
    std::vector<uint32_t> pages;
    for (Region *r : regions) pages.insert(pages.end(), r->pages.begin(), r->pages.end());
    std::sort(pages.begin(), pages.end());
    pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
    std::vector<Between *> all;
    for (uint32_t page : pages) {
        size_t words = (size_t)1 << (pageShift - 2), from = page * words;
        for (size_t i = from; i < from + words; i++) {
            all.clear();
            for (Region *r : regions)
                if (r->touched[page]) all.push_back(&r->between[i]);
            judge.judge(regions[0]->lo + i * 4, all);
        }
    }
    for (Region *r : regions) {
        for (uint32_t page : r->pages) r->touched[page] = 0;
        r->pages.clear();
    }
}
} // namespace

void startBetween(uint32_t blocks) {
    if (nextStamp > ~0u - blocks - 1) { // once in four thousand million blocks
        fprintf(stderr, "simulator: too many blocks for one process\n");
        _Exit(3);
    }
    firstStamp = nextStamp;
    nextStamp += blocks;
    startReleases(blocks);
}

uint32_t stampOf(uint32_t block) {
    return firstStamp + block;
}

void endBetween(Module *m, uint32_t lastBlock) {
    Judge judge(m, lastBlock);
    std::vector<Region *> arenas, data;
    for (Worker *w : workers) {
        if (w->arena.between) arenas.push_back(&w->arena);
        auto it = w->dataOf.find(m->id);
        if (it != w->dataOf.end() && it->second.between) data.push_back(&it->second);
    }
    if (!arenas.empty()) judgePages(judge, arenas);
    if (!data.empty()) judgePages(judge, data);
    judge.tell();
}

} // namespace simt
