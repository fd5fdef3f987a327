// findings.cpp - what the checks found: repeats folded, the first kept, written
// as JSON for the host, which knows source lines and words.
#include "runtime.h"

#include <cstdarg>
#include <cstdio>
#include <tuple>

extern "C" __thread simt::Index3 simt_gridDim;

namespace simt {

namespace {
struct Kept {
    Finding f;
    std::string kernel;
    int module;
    Addr base;
    Index3 thread, block, otherThread, otherBlock;
    uint64_t count;
    bool inKernel;
};
std::map<std::tuple<std::string, std::string, Addr, Addr, int, int>, Kept> kept;
constexpr size_t maxKept = 4096;

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

std::string printed;

void report(Worker *w, Finding f) {
    auto key = std::make_tuple(f.check, f.kind, f.pc, f.otherPc, f.line, f.otherLine);
    auto it = kept.find(key);
    if (it != kept.end()) {
        it->second.count++;
        it->second.f.fatal |= f.fatal;
        return;
    }
    if (kept.size() >= maxKept) return;
    Kept k{};
    k.count = 1;
    if (w && w->kernel) {
        Index3 shape = {1, 1, 1};
        const Fiber &last = w->fibers[w->threads - 1];
        shape = {last.thread.x + 1, last.thread.y + 1, last.thread.z + 1};
        k.inKernel = true;
        k.kernel = w->kernel->name;
        k.module = w->module->id;
        k.base = w->module->base;
        k.thread = w->current ? w->current->thread : Index3{0, 0, 0};
        k.block = split(w->blockIndex, simt_gridDim);
        if (f.hasOther) {
            k.otherThread = split(f.otherThread, shape);
            k.otherBlock = split(f.otherBlock, simt_gridDim);
        }
    }
    k.f = std::move(f);
    kept.emplace(key, std::move(k));
}

std::string findingsJson() {
    std::string out = "[";
    for (auto &[key, k] : kept) {
        const Finding &f = k.f;
        if (out.size() > 1) out += ",\n";
        out += "{\"check\":" + quote(f.check) + ",\"kind\":" + quote(f.kind);
        out +=
            ",\"count\":" + std::to_string(k.count) + ",\"fatal\":" + (f.fatal ? "true" : "false");
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
        if (f.hasOther) {
            out += ",\"otherOp\":\"" + std::string(opName(f.otherOp)) + "\"";
            out += ",\"otherThread\":" + triple(k.otherThread);
            out += ",\"otherBlock\":" + triple(k.otherBlock);
            out += std::string(",\"blocksDiffer\":") + (f.otherBlockDiffers ? "true" : "false");
        }
        if (!f.text.empty()) out += ",\"text\":" + quote(f.text);
        out += "}";
    }
    return out + "]";
}

void resetFindings() {
    kept.clear();
    printed.clear();
}

} // namespace simt
