// findings.cpp - what the checks found: repeats folded, the first kept, written
// as JSON for the Go side, which knows source lines and words.
#include "flags.h"
#include "seal.h"
#include "tables.h"

#include <algorithm>
#include <cstdio>

namespace simt {

namespace {
struct Kept {
    Finding f;
    std::string kernel;
    int module;
    Addr base;
    Index3 thread, block, otherThread, otherBlock, grid;
    bool inKernel;
};
typedef FindingKey Key;
std::map<Key, Kept> kept;
size_t keptNotes; // of these
Finding stopping; // the last that stopped a kernel
constexpr size_t maxKept = 4096, maxRepeats = 1 << 22;

Key keyOf(const Finding &f) {
    return Key(f.check, f.kind, f.pc, f.otherPc, f.line, f.otherLine);
}

Index3 split(uint32_t linear, Index3 size) {
    return {linear % size.x, linear / size.x % size.y, linear / (size.x * size.y)};
}

} // namespace

std::string quote(const std::string &s) {
    std::string out = "\"";
    for (unsigned char c : s) {
        char code[8];
        if (c == '"' || c == '\\') {
            out += '\\';
            out += (char)c;
        } else if (c < 0x20) {
            snprintf(code, sizeof code, "\\u%04x", c);
            out += code;
        } else {
            out += (char)c;
        }
    }
    return out + "\"";
}

namespace {
std::string triple(Index3 i) {
    char text[48];
    snprintf(text, sizeof text, "[%u,%u,%u]", i.x, i.y, i.z);
    return text;
}

const char *opName(Op op) {
    return op == READ ? "read" : op == WRITE ? "write" : "atomic";
}
} // namespace

namespace {
Again &placeOf(Worker *w, Addr pc, Addr otherPc) {
    constexpr size_t places = sizeof w->again / sizeof w->again[0];
    return w->again[(pc * 31 + otherPc) % places];
}

uint64_t &countOf(Worker *w, const Again &a) {
    return a.earlier ? w->repeats[a.index].count : w->found[a.index].count;
}

// noteElsewhere tells a race on one element from one on many.
void noteElsewhere(Finding &f, uint32_t block, Addr at) {
    if (f.block == block && f.at != at) f.elsewhere = true;
}

// entry finds the running block's count of a finding, or makes one.
Again entry(Worker *w, Finding &&f) {
    auto [it, fresh] = w->foundBy.try_emplace(keyOf(f), w->found.size());
    uint32_t first = (uint32_t)it->second, block = f.block;
    bool oneWarp = f.oneWarp;
    if (fresh) {
        w->found.push_back(std::move(f));
        w->found.back().count = 0;
        sealFinding();
    }
    w->found[first].fatal |= f.fatal;
    w->found[first].oneWarp &= oneWarp;
    if (!fresh) noteElsewhere(w->found[first], block, f.at);
    if (w->found[first].block == block) return {w->blockEpoch, first, false};
    for (size_t i = w->repeats.size(); i-- && w->repeats[i].block == block;)
        if (w->repeats[i].finding == first) return {w->blockEpoch, (uint32_t)i, true};
    w->repeats.push_back({block, first, 0});
    return {w->blockEpoch, (uint32_t)w->repeats.size() - 1, true};
}
} // namespace

const Finding &stoppedBy() {
    return stopping;
}

size_t keptFindings() {
    return kept.size();
}

// seenBefore counts what the running block has reported recently, so that it need
// not be described again.
bool seenBefore(Worker *w, const char *kind, Addr pc, Addr otherPc, Addr at, bool oneWarp) {
    Again &a = placeOf(w, pc, otherPc);
    if (a.blockEpoch != w->blockEpoch) return false;
    Finding &f = w->found[a.earlier ? w->repeats[a.index].finding : a.index];
    if (f.pc != pc || f.otherPc != otherPc || f.kind != kind) return false;
    if (at) noteElsewhere(f, w->blockIndex, at);
    f.oneWarp &= oneWarp;
    countOf(w, a)++;
    return true;
}

// report folds repeats: a worker keeps the first that it meets, and counts by block
// how often it recurs.
void report(Worker *w, Finding f) {
    if (!w) {
        kept.emplace(keyOf(f), Kept{std::move(f), "", 0, 0, {}, {}, {}, {}, false});
        return;
    }
    bool full = w->found.size() >= maxKept && !w->foundBy.count(keyOf(f));
    if (full || w->repeats.size() >= maxRepeats)
        return overfull(w, full ? Table::Found : Table::Repeats);
    if (f.thread < 0) f.thread = w->current ? w->current->id : 0;
    f.block = w->blockIndex;
    Again &place = placeOf(w, f.pc, f.otherPc);
    place = entry(w, std::move(f));
    countOf(w, place)++;
}

// endFindings puts the workers' findings together in the order of their blocks.
// Nothing is reported of blocks after one that stopped the kernel, because it is
// chance whether they ran.
void endFindings(Module *m, const KernelEntry *k, const LaunchShape &s, uint32_t lastBlock) {
    std::vector<Finding> all;
    for (Worker *w : workers) {
        for (const Repeat &r : w->repeats)
            if (r.block <= lastBlock) w->found[r.finding].count += r.count;
        for (auto &f : w->found)
            if (f.block <= lastBlock) all.push_back(std::move(f));
        w->found.clear();
        w->foundBy.clear();
        w->repeats.clear();
    }
    noteRaces(all);
    std::stable_sort(all.begin(), all.end(), [](const Finding &a, const Finding &b) {
        return std::tie(a.block, a.thread, a.place.offset) <
               std::tie(b.block, b.thread, b.place.offset);
    });
    for (auto &f : all) {
        if (f.fatal) stopping = f;
        auto it = kept.find(keyOf(f));
        if (it != kept.end()) {
            it->second.f.count += f.count;
            it->second.f.fatal |= f.fatal;
            it->second.f.oneWarp &= f.oneWarp;
            continue;
        }
        // Notes are worth nothing: they go without a word, and take no finding's place.
        bool note = f.check == "note";
        if ((note ? keptNotes : kept.size() - keptNotes) >= maxKept) {
            if (!note) overfull(workers[0], Table::Kept);
            continue;
        }
        keptNotes += note;
        Kept x{};
        x.inKernel = true;
        x.kernel = k->name;
        x.module = m->id;
        x.base = m->base;
        x.thread = split((uint32_t)f.thread, s.block);
        x.block = split(f.block, s.grid);
        x.grid = s.grid;
        if (f.otherThread >= 0) {
            x.otherThread = split((uint32_t)f.otherThread, s.block);
            x.otherBlock = split(f.otherBlock, s.grid);
        }
        Key key = keyOf(f);
        x.f = std::move(f);
        kept.emplace(key, std::move(x));
    }
    endTables();
}

std::string findingsJson() {
    std::string out = "[";
    for (auto &[key, k] : kept) {
        const Finding &f = k.f;
        if (out.size() > 1) out += ",\n";
        out += "{\"check\":" + quote(f.check) + ",\"kind\":" + quote(f.kind);
        out +=
            ",\"count\":" + std::to_string(f.count) + ",\"fatal\":" + (f.fatal ? "true" : "false");
        if (k.inKernel) {
            out += ",\"kernel\":" + quote(k.kernel) + ",\"module\":" + std::to_string(k.module);
            out += ",\"thread\":" + triple(k.thread) + ",\"block\":" + triple(k.block);
            out += ",\"grid\":" + triple(k.grid);
            // A return address points after its call: one byte earlier is inside it.
            if (f.pc) out += ",\"pc\":" + std::to_string(f.pc - k.base - 1);
            if (f.otherPc) out += ",\"otherPc\":" + std::to_string(f.otherPc - k.base - 1);
        }
        if (f.line) out += ",\"line\":" + std::to_string(f.line);
        if (f.column) out += ",\"column\":" + std::to_string(f.column);
        if (f.otherLine) out += ",\"otherLine\":" + std::to_string(f.otherLine);
        if (f.bytes) {
            out += ",\"op\":\"" + std::string(opName(f.op)) +
                   "\",\"bytes\":" + std::to_string(f.bytes);
            out += ",\"space\":" + quote(f.place.space) + ",\"name\":" + quote(f.place.name);
            out += ",\"owner\":" + quote(f.place.owner);
            out += ",\"offset\":" + std::to_string(f.place.offset);
            out += ",\"size\":" + std::to_string(f.place.size) + ",\"note\":" + quote(f.place.note);
            std::string passed;
            for (int i : f.place.passed) passed += (passed.empty() ? "" : ",") + std::to_string(i);
            out += ",\"passed\":[" + passed + "]";
        }
        if (f.place.dynamic) out += ",\"dynamic\":true";
        if (f.elsewhere) out += ",\"elsewhere\":true";
        if (f.readFirst) out += ",\"readFirst\":true";
        if (f.oneWarp) out += ",\"oneWarp\":true";
        if (f.otherThread >= 0) {
            out += ",\"otherOp\":\"" + std::string(opName(f.otherOp)) + "\"";
            out += ",\"otherThread\":" + triple(k.otherThread);
            out += ",\"otherBlock\":" + triple(k.otherBlock);
            out += std::string(",\"blocksDiffer\":") + (f.otherBlock != f.block ? "true" : "false");
        }
        if (!f.text.empty()) out += ",\"text\":" + quote(f.text);
        out += "}";
    }
    return out + "]";
}

void resetFindings() {
    kept.clear();
    keptNotes = 0;
}

} // namespace simt
