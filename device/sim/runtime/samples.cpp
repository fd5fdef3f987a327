// samples.cpp - the worst request of each instruction on shared memory, and how often each part
// of each array in device memory was read and written.
#include "samples.h"

#include <algorithm>

namespace simt {

namespace {
// A request of a warp for shared memory, by offsets into the array that its first lane asks.
struct Request32 {
    int module;
    Addr pc; // relative
    Op op;
    unsigned size, passes;
    uint32_t block, warp, mask;
    int64_t at[32];
    Place place;

    bool worseThan(const Request32 &o) const {
        return passes != o.passes ? passes > o.passes : block < o.block;
    }
};

// A part of an array: how often warps read and wrote its words, a word that several lanes of one
// request ask counting once; and how many blocks did.
struct Spot {
    uint64_t read = 0, written = 0;
    uint32_t readers = 0, writers = 0;
    uint32_t lastReader = 0, lastWriter = 0; // block + 1
};
constexpr uint64_t mostSpots = 1 << 14; // of an array
constexpr size_t mostArrays = 24;       // of a kernel
constexpr size_t mostBanked = 256;      // instructions of a kernel

unsigned shiftFor(uint64_t bytes) { // a spot has 1 << shift bytes, a word at least
    unsigned shift = 2;
    while ((bytes + (1ull << shift) - 1) >> shift > mostSpots) shift++;
    return shift;
}

struct Picture {
    uint64_t bytes = 0;
    std::vector<Spot> cells;
};

struct Scene {                        // of one kernel
    std::map<Addr, Request32> banked; // by instruction
    std::map<std::pair<Addr, std::string>, Picture> arrays;
    bool more = false; // there are arrays that are not kept
    std::string timeline;
};

bool asked;
std::map<std::string, Scene> scenes;
std::vector<Array> arrays; // of the running launch
} // namespace

struct Samples {
    std::map<uint32_t, Request32> banked; // by site
    std::vector<std::vector<Spot>> cells; // by array; empty until it is touched
    size_t last = 0;                      // the array that was touched last
};

void askForSamples() {
    asked = true;
}

bool samplesAsked() {
    return asked;
}

void startSamples(const KernelEntry *k, uint32_t blocks) {
    arrays = liveArrays();
    forgetTimeline();
    bool first = scenes[k->name].timeline.empty();
    for (Worker *w : workers) {
        delete w->samples;
        w->samples = new Samples();
        w->samples->cells.resize(arrays.size());
        w->drawn = first ? blocks / 2 : noBlock; // whose timeline is kept
    }
}

// arrayAt finds the array that an address is in, or returns how many there are.
static size_t arrayAt(Samples &s, Addr a) {
    auto in = [&](size_t i) { return a - arrays[i].lo < arrays[i].bytes; };
    if (s.last < arrays.size() && in(s.last)) return s.last;
    auto after = std::upper_bound(arrays.begin(), arrays.end(), a,
                                  [](Addr at, const Array &x) { return at < x.lo; });
    size_t i = (size_t)(after - arrays.begin());
    if (i == 0 || !in(i - 1)) return arrays.size();
    return s.last = i - 1;
}

// touchWords counts words from a on as read or written by the running block.
static void touchWords(Worker *w, Addr a, uint64_t words, Op op) {
    Samples &s = *w->samples;
    size_t i = arrayAt(s, a);
    if (i == arrays.size()) return;
    unsigned shift = shiftFor(arrays[i].bytes);
    auto &cells = s.cells[i];
    if (cells.empty()) cells.resize((arrays[i].bytes + (1ull << shift) - 1) >> shift);
    uint32_t block = w->blockIndex + 1;
    for (uint64_t at = a - arrays[i].lo; words-- && at >> shift < cells.size(); at += 4) {
        Spot &c = cells[at >> shift];
        if (op != WRITE) {
            c.read++;
            c.readers += c.lastReader != block;
            c.lastReader = block;
        }
        if (op != READ) {
            c.written++;
            c.writers += c.lastWriter != block;
            c.lastWriter = block;
        }
    }
}

static void sampleBanks(Worker *w, int warp, const Trace &t, const Request &r, Site &site) {
    Request32 now = {};
    now.passes = passesOf(t, r, site);
    now.block = w->blockIndex;
    auto &banked = w->samples->banked;
    auto known = banked.find(r.site);
    if (known == banked.end() ? banked.size() == mostBanked : !now.worseThan(known->second)) return;
    now.op = site.op;
    now.size = site.size;
    now.warp = (uint32_t)warp;
    now.mask = r.mask;
    Addresses lanes = expand(r, t);
    Addr first = lanes.at[__builtin_ctz(r.mask)];
    now.place = describe(w, first);
    for (uint32_t rest = r.mask; rest; rest &= rest - 1) {
        int lane = __builtin_ctz(rest);
        now.at[lane] = now.place.offset + (int64_t)(lanes.at[lane] - first);
    }
    banked[r.site] = now;
}

void sampleRequest(Worker *w, int warp, const Trace &t, const Request &r) {
    Site &site = w->traffic->sites[r.site];
    if (w->timeline) noteLanes(w, warp, r);
    if (site.shared) return sampleBanks(w, warp, t, r, site);
    Addresses lanes = expand(r, t);
    Addr before = 0; // lanes beside each other that ask the same words count once
    for (uint32_t rest = r.mask; rest; rest &= rest - 1) {
        Addr a = lanes.at[__builtin_ctz(rest)] & ~(Addr)3;
        if (a != before) touchWords(w, a, std::max(1u, site.size / 4), site.op);
        before = a;
    }
}

void sampleRange(Worker *w, Addr a, uint64_t bytes, Op op) {
    touchWords(w, a & ~(Addr)3, (bytes + 3) / 4, op);
}

static void add(Picture &p, const Array &a, const std::vector<Spot> &cells) {
    p.bytes = a.bytes;
    p.cells.resize(cells.size());
    for (size_t i = 0; i < cells.size(); i++) {
        p.cells[i].read += cells[i].read;
        p.cells[i].written += cells[i].written;
        p.cells[i].readers += cells[i].readers;
        p.cells[i].writers += cells[i].writers;
    }
}

void endSamples(Module *m, const KernelEntry *k) {
    for (Worker *w : workers) {
        for (auto &[site, r] : w->samples->banked) {
            if (!k) break;
            Addr pc = pcOf(w->traffic->sites[site].key);
            auto &banked = scenes[k->name].banked;
            auto known = banked.find(pc);
            if (known == banked.end() ? banked.size() == mostBanked : !r.worseThan(known->second))
                continue;
            r.module = m->id;
            r.pc = pc - m->base - 1;
            banked[pc] = r;
        }
        for (size_t i = 0; k && i < arrays.size(); i++) {
            if (w->samples->cells[i].empty()) continue;
            auto &kept = scenes[k->name].arrays;
            std::pair<Addr, std::string> key = {arrays[i].lo, arrays[i].name};
            // An array of another size is another one, with the address of one that was freed.
            auto known = kept.find(key);
            bool other = known != kept.end() && known->second.bytes != arrays[i].bytes;
            if (other || (known == kept.end() && kept.size() == mostArrays))
                scenes[k->name].more = true;
            else
                add(kept[key], arrays[i], w->samples->cells[i]);
        }
        delete w->samples;
        w->samples = nullptr;
        w->drawn = noBlock;
    }
    if (k && scenes[k->name].timeline.empty()) scenes[k->name].timeline = timelineJson(m);
}

static std::string bankedJson(const Scene &s) {
    static const char *const opNames[] = {"read", "write", "atomic"};
    std::string out = "[";
    for (auto &[pc, r] : s.banked) {
        if (out.size() > 1) out += ",";
        out += "{\"module\":" + std::to_string(r.module) + ",\"pc\":" + std::to_string(r.pc) +
               ",\"op\":\"" + opNames[r.op] + "\",\"bytes\":" + std::to_string(r.size) +
               ",\"passes\":" + std::to_string(r.passes) + ",\"block\":" + std::to_string(r.block) +
               ",\"warp\":" + std::to_string(r.warp) + ",\"mask\":" + std::to_string(r.mask) +
               ",\"name\":" + quote(r.place.name) + ",\"owner\":" + quote(r.place.owner) +
               ",\"size\":" + std::to_string(r.place.size) + ",\"at\":[";
        for (int lane = 0; lane < 32; lane++)
            out += (lane ? "," : "") + std::to_string(r.mask >> lane & 1 ? r.at[lane] : -1);
        out += "]}";
    }
    return out + "]";
}

// Cells that are alike and beside each other are one entry: how many, then what they are.
static std::string arraysJson(const Scene &s) {
    std::string out = "[";
    for (auto &[key, p] : s.arrays) {
        if (out.size() > 1) out += ",";
        out += "{\"name\":" + quote(key.second) + ",\"bytes\":" + std::to_string(p.bytes) +
               ",\"cell\":" + std::to_string(1u << shiftFor(p.bytes)) + ",\"runs\":[";
        for (size_t i = 0, j; i < p.cells.size(); i = j) {
            const Spot &c = p.cells[i];
            auto alike = [&](const Spot &o) {
                return c.read == o.read && c.written == o.written && c.readers == o.readers &&
                       c.writers == o.writers;
            };
            for (j = i + 1; j < p.cells.size() && alike(p.cells[j]);) j++;
            out += (i ? ",[" : "[") + std::to_string(j - i) + "," + std::to_string(c.read) + "," +
                   std::to_string(c.written) + "," + std::to_string(c.readers) + "," +
                   std::to_string(c.writers) + "]";
        }
        out += "]}";
    }
    return out + "]";
}

std::string samplesJson(const std::string &kernel) {
    auto it = scenes.find(kernel);
    if (it == scenes.end()) return "";
    const Scene &s = it->second;
    return ",\"banked\":" + bankedJson(s) + ",\"arrays\":" + arraysJson(s) +
           (s.more ? ",\"moreArrays\":true" : "") +
           (s.timeline.empty() ? "" : ",\"timeline\":" + s.timeline);
}

void resetSamples() {
    scenes.clear();
}

} // namespace simt
