// findings.cpp - what the checks found: repeats folded, the first kept, written
// as JSON for the host, which knows source lines and words.
#include "runtime.h"

#include <algorithm>
#include <cstdio>
#include <tuple>

namespace simt {

namespace {
struct Kept {
    Finding f;
    std::string kernel;
    int module;
    Addr base;
    Index3 thread, block, otherThread, otherBlock;
    bool inKernel;
};
typedef std::tuple<std::string, std::string, Addr, Addr, int, int> Key;
std::map<Key, Kept> kept;
constexpr size_t maxKept = 4096;

Key keyOf(const Finding &f) {
    return Key(f.check, f.kind, f.pc, f.otherPc, f.line, f.otherLine);
}

Index3 split(uint32_t linear, Index3 size) {
    return {linear % size.x, linear / size.x % size.y, linear / (size.x * size.y)};
}

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

std::string triple(Index3 i) {
    char text[48];
    snprintf(text, sizeof text, "[%u,%u,%u]", i.x, i.y, i.z);
    return text;
}

const char *opName(Op op) {
    return op == READ ? "read" : op == WRITE ? "write" : "atomic";
}
} // namespace

// report folds repeats within a block: the first is kept, the others counted.
void report(Worker *w, Finding f) {
    if (!w) {
        kept.emplace(keyOf(f), Kept{std::move(f), "", 0, 0, {}, {}, {}, {}, false});
        return;
    }
    f.thread = w->current ? w->current->id : 0;
    f.block = w->blockIndex;
    Key key = keyOf(f);
    for (size_t i = w->foundBefore; i < w->found.size(); i++)
        if (keyOf(w->found[i]) == key) {
            w->found[i].count++;
            w->found[i].fatal |= f.fatal;
            return;
        }
    if (w->found.size() < maxKept) w->found.push_back(std::move(f));
}

// endFindings puts the workers' findings together in the order of their blocks.
// Of blocks behind one that stopped the kernel nothing is told: whether they ran
// is chance.
void endFindings(Module *m, const KernelEntry *k, const LaunchShape &s, uint32_t lastBlock) {
    std::vector<Finding> all;
    for (Worker *w : workers) {
        for (auto &f : w->found)
            if (f.block <= lastBlock) all.push_back(std::move(f));
        w->found.clear();
    }
    std::stable_sort(all.begin(), all.end(), [](const Finding &a, const Finding &b) {
        return std::tie(a.block, a.thread, a.place.offset) <
               std::tie(b.block, b.thread, b.place.offset);
    });
    for (auto &f : all) {
        auto it = kept.find(keyOf(f));
        if (it != kept.end()) {
            it->second.f.count += f.count;
            it->second.f.fatal |= f.fatal;
            continue;
        }
        if (kept.size() >= maxKept) break;
        Kept x{};
        x.inKernel = true;
        x.kernel = k->name;
        x.module = m->id;
        x.base = m->base;
        x.thread = split((uint32_t)f.thread, s.block);
        x.block = split(f.block, s.grid);
        if (f.otherThread >= 0) {
            x.otherThread = split((uint32_t)f.otherThread, s.block);
            x.otherBlock = split(f.otherBlock, s.grid);
        }
        Key key = keyOf(f);
        x.f = std::move(f);
        kept.emplace(key, std::move(x));
    }
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
            // A return address points behind its call: one byte back lies inside it.
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
        }
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
}

} // namespace simt
