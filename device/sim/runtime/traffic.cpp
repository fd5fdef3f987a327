// traffic.cpp - sums of what launches moved, and their report.
#include "samples.h"

#include <cstring>

namespace simt {

namespace {
struct Line {
    int module;
    Addr pc; // relative
    Op op;
    bool shared;
    uint64_t requests, bytes, sectors, wavefronts;
    uint64_t lanes; // accesses of single threads
};

struct Total {
    int launches = 0;
    LaunchShape shape;                // of the first
    uint64_t grids = 0;               // blocks of all launches
    uint64_t ran = 0;                 // those of them that ran
    uint64_t threads = 0, shared = 0; // of all their blocks: threads, and bytes of shared memory
    uint64_t held = 0;                // bytes of device memory in use, of all launches
    unsigned bounds[2] = {};          // the kernel's __launch_bounds__
    uint64_t missed = 0;              // sectors that were read, and not in the model of an L1 cache
    uint64_t barriers = 0, steps = 0;
    uint64_t products = 0;               // of wgmma: multiplications and additions
    uint64_t multiplied = 0;             // instructions of tensor cores, by warps
    uint64_t groups = 0, groupSteps = 0; // wgmma, and products of 16 × 8 by 32 bytes in them
    uint64_t spilled = 0;                // bytes of local memory beyond the registers
    uint64_t longest = 0;                // of each launch the longest block's steps, summed
    uint64_t mostRead = 0;               // likewise the bytes that a block read, at most
    uint64_t fetched = 0, sentBack = 0;  // sectors, by the model
    double variance = 0;                 // of the steps, where a sample of the blocks ran
    uint64_t variables = 0; // sectors of the module's variables that each launch wrote to, summed
    uint64_t heap = 0; // of each launch the most bytes of the kernels' heap in use at once, summed
    std::map<Addr, Line> lines;                             // by key
    std::map<std::pair<int, uint32_t>, uint64_t> blocks;    // basic blocks: module, offset → runs
    std::map<std::pair<int, int>, LineBarriers> barriersAt; // module, line
};

std::map<std::string, Total> totals;

// varianceOf is how far off the steps of a sample may be, squared: what another sample would give.
// Its blocks come from equal shares of the grid, one each, so neighbours are compared: that blocks
// differ from one end to the other, as those of a causal mask do, is no error.
double varianceOf(uint64_t all) {
    std::vector<std::pair<uint32_t, uint64_t>> ran;
    for (Worker *w : workers) {
        ran.insert(ran.end(), w->ofSample.begin(), w->ofSample.end());
        w->ofSample.clear();
    }
    double n = (double)ran.size(), sum = 0;
    if (ran.empty() || ran.size() >= all) return 0;
    if (ran.size() == 1) return (double)ran[0].second * (double)ran[0].second;
    std::sort(ran.begin(), ran.end());
    for (size_t i = 1; i < ran.size(); i++) {
        double apart = (double)ran[i].second - (double)ran[i - 1].second;
        sum += apart * apart;
    }
    return n * sum / (2 * (n - 1)) * (1 - n / (double)all);
}
} // namespace

// endTraffic adds up what the workers counted. Nothing is kept of a kernel that was
// stopped (k is null), because it is chance how far it got.
void endTraffic(Module *m, const KernelEntry *k, const LaunchShape &s, uint64_t ran) {
    Total *total = k ? &totals[k->name] : nullptr;
    if (total && !total->launches++) {
        total->shape = s;
        total->bounds[0] = k->bounds[0], total->bounds[1] = k->bounds[1];
    }
    if (total) {
        uint64_t blocks = (uint64_t)s.grid.x * s.grid.y * s.grid.z;
        total->grids += blocks, total->ran += ran;
        total->threads += blocks * s.block.x * s.block.y * s.block.z;
        total->shared += blocks * (staticShared(m, k) + s.dynamicBytes);
        total->held += heldBytes();
    }
    uint64_t longest = 0, mostRead = 0;
    for (Worker *w : workers) {
        Traffic *t = w->traffic;
        if (total) {
            total->barriers += w->barriers;
            total->steps += w->allSteps;
            total->spilled += w->spilled;
            total->products += w->products;
            total->multiplied += w->multiplied;
            total->groups += w->groups, total->groupSteps += w->groupSteps;
            longest = std::max(longest, w->longest);
            mostRead = std::max(mostRead, w->mostRead);
            total->fetched += t->fetched;
            total->sentBack += t->sentBack;
            total->missed += t->missed;
            total->variables += t->variables;
            for (Site &s : t->sites) {
                Line &l = total->lines[s.key];
                l.module = m->id;
                l.pc = pcOf(s.key) - m->base - 1;
                l.op = s.op;
                l.shared = s.shared;
                l.requests += s.requests;
                l.bytes += s.bytes;
                l.sectors += s.sectors;
                l.wavefronts += s.wavefronts;
                l.lanes += s.bytes / s.size;
            }
        }
        for (uint32_t offset : w->blocksSeen) {
            if (total) total->blocks[{m->id, offset}] += w->blockRuns[offset];
            w->blockRuns[offset] = 0;
        }
        w->blocksSeen.clear();
        for (auto &[line, b] : w->barriersAt) {
            if (!total) break;
            LineBarriers &sum = total->barriersAt[{m->id, line}];
            sum.met += b.met;
            sum.threads += b.threads;
        }
        w->barriersAt.clear();
        forgetSectors(t);
        if (t->sites.empty()) continue;
        t->sites.clear();
        memset(t->table, 0, sizeof t->table);
    }
    if (m->written) memset(m->written, 0, (m->data.hi - m->data.lo) / sectorBytes + 2);
    uint64_t heap = heapPeak();
    double variance = varianceOf((uint64_t)s.grid.x * s.grid.y * s.grid.z);
    if (total) total->variance += variance;
    if (total) total->longest += longest, total->mostRead += mostRead, total->heap += heap;
}

void countBlock(Worker *w) {
    w->allSteps += w->steps;
    w->longest = std::max(w->longest, w->steps);
    w->mostRead = std::max(w->mostRead, w->traffic->read);
    if (samplesBlocks()) w->ofSample.push_back({w->blockIndex, w->steps});
    w->traffic->read = 0;
    w->traffic->blocks++;
    memset(w->traffic->passed, 0, sizeof w->traffic->passed);
}

static std::string index(const Index3 &i) {
    return "[" + std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z) + "]";
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
               ",\"mostRead\":" + std::to_string(t.mostRead) +
               ",\"variables\":" + std::to_string(t.variables) +
               ",\"heap\":" + std::to_string(t.heap) + ",\"spilled\":" + std::to_string(t.spilled) +
               ",\"products\":" + std::to_string(t.products) +
               ",\"multiplied\":" + std::to_string(t.multiplied) +
               ",\"groups\":" + std::to_string(t.groups) +
               ",\"groupSteps\":" + std::to_string(t.groupSteps) +
               ",\"fetched\":" + std::to_string(t.fetched) +
               ",\"sentBack\":" + std::to_string(t.sentBack) +
               ",\"missed\":" + std::to_string(t.missed) + ",\"ran\":" + std::to_string(t.ran) +
               ",\"threads\":" + std::to_string(t.threads) +
               ",\"sharedHad\":" + std::to_string(t.shared) +
               ",\"variance\":" + std::to_string(t.variance) +
               ",\"held\":" + std::to_string(t.held) + ",\"bounds\":[" +
               std::to_string(t.bounds[0]) + "," + std::to_string(t.bounds[1]) + "],\"lines\":[";
        bool first = true;
        for (auto &[pc, l] : t.lines) {
            if (!first) out += ",";
            first = false;
            out += "{\"module\":" + std::to_string(l.module) + ",\"pc\":" + std::to_string(l.pc) +
                   ",\"op\":\"" + opNames[l.op] + "\",\"shared\":" + (l.shared ? "true" : "false") +
                   ",\"requests\":" + std::to_string(l.requests) +
                   ",\"bytes\":" + std::to_string(l.bytes) +
                   ",\"sectors\":" + std::to_string(l.sectors) +
                   ",\"wavefronts\":" + std::to_string(l.wavefronts) +
                   ",\"lanes\":" + std::to_string(l.lanes) + "}";
        }
        out += "],\"blocks\":[";
        first = true;
        for (auto &[block, runs] : t.blocks) {
            if (!first) out += ",";
            first = false;
            out += "[" + std::to_string(block.first) + "," + std::to_string(block.second) + "," +
                   std::to_string(runs) + "]";
        }
        out += "],\"barriersAt\":[";
        first = true;
        for (auto &[at, b] : t.barriersAt) {
            if (!first) out += ",";
            first = false;
            out += "[" + std::to_string(at.first) + "," + std::to_string(at.second) + "," +
                   std::to_string(b.met) + "," + std::to_string(b.threads) + "]";
        }
        out += "],\"grids\":" + std::to_string(t.grids) + ",\"grid\":" + index(t.shape.grid) +
               ",\"block\":" + index(t.shape.block) + samplesJson(name) + "}";
    }
    return out + "]";
}

void resetTraffic() {
    totals.clear();
}

} // namespace simt
