// prints.cpp - what kernels print: kept with its thread, put in the order of the
// blocks, and bounded. A worker takes blocks in rising order. So if each worker
// keeps the first bytes of its blocks, the first bytes of all are among them, no
// matter which worker ran which block.
#include <algorithm>
#include <map>
#include <tuple>

#include "message.h"
#include "prints.h"
#include "runtime.h"

namespace simt {
namespace {
size_t most = 64 << 10; // bytes that wait to be taken

struct Kept {
    Index3 block, thread;
    std::string kernel, text;
};
std::vector<Kept> kept; // what has not been taken yet
size_t keptBytes;
bool cutOff;
ShowOnly only;

// A text's share of the bound; the rest is what it takes to keep it.
size_t cost(const std::string &text) {
    return text.size() + 32;
}

bool same(Index3 a, Index3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

Index3 split(uint32_t linear, Index3 size) {
    return {linear % size.x, linear / size.x % size.y, linear / (size.x * size.y)};
}

// byLanes orders one block's prints as a GPU's do: what a warp prints between two meetings
// comes lane by lane, each lane's first print, then each one's second. Threads run here one by
// one, and whoever comes last to a meeting goes on first.
void byLanes(std::vector<Print>::iterator first, std::vector<Print>::iterator last) {
    struct Place {
        size_t group, nth; // where the warp's first print of this stretch stood
        Print *print;
    };
    std::map<std::tuple<uint16_t, uint64_t, uint32_t>, size_t> groups;
    std::map<std::pair<uint16_t, size_t>, size_t> printed; // by a thread in its group
    std::vector<Place> places;
    for (auto p = first; p != last; ++p) {
        auto key = std::make_tuple((uint16_t)(p->thread / 32), p->barriers, p->met);
        size_t group = groups.emplace(key, places.size()).first->second;
        places.push_back({group, printed[{p->thread, group}]++, &*p});
    }
    std::stable_sort(places.begin(), places.end(), [](const Place &a, const Place &b) {
        return std::tie(a.group, a.nth, a.print->thread) <
               std::tie(b.group, b.nth, b.print->thread);
    });
    std::vector<Print> sorted;
    for (auto &p : places) sorted.push_back(std::move(*p.print));
    std::move(sorted.begin(), sorted.end(), first);
}
} // namespace

void keepPrints(size_t bytes) {
    most = bytes;
}

void showOnly(const ShowOnly &s) {
    only = s;
}

void print(Worker *w, Index3 block, const char *text) {
    if (only.byThread && !same(only.thread, w->current->thread)) return;
    if (only.byBlock && !same(only.block, block)) return;
    Print p{w->blockIndex, w->current->id, w->barriers, w->current->met, text};
    if (w->printedBytes + cost(p.text) > most) {
        w->unprinted = std::min(w->unprinted, w->blockIndex);
        w->printedBytes = most; // a shorter text later must not slip in
        return;
    }
    w->printedBytes += cost(p.text);
    w->printed.push_back(std::move(p));
}

// endPrints puts together what the workers kept. Nothing is reported of blocks after
// one that stopped the kernel, because it is chance whether they ran.
void endPrints(const KernelEntry *k, const LaunchShape &s, uint32_t lastBlock) {
    std::vector<Print> all;
    uint32_t lost = noBlock; // the first block of which something is missing
    for (Worker *w : workers) {
        for (auto &p : w->printed)
            if (p.block <= lastBlock) all.push_back(std::move(p));
        lost = std::min(lost, w->unprinted);
        w->printed.clear();
        w->printedBytes = 0;
        w->unprinted = noBlock;
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Print &a, const Print &b) { return a.block < b.block; });
    for (auto first = all.begin(); first != all.end();) {
        auto last =
            std::find_if(first, all.end(), [&](const Print &p) { return p.block != first->block; });
        byLanes(first, last);
        first = last;
    }
    for (auto &p : all) {
        if (p.block > lost || keptBytes + cost(p.text) > most) {
            keptBytes = most;
            cutOff = true;
            break;
        }
        keptBytes += cost(p.text);
        kept.push_back(
            {split(p.block, s.grid), split(p.thread, s.block), k->name, std::move(p.text)});
    }
    cutOff = cutOff || (lost != noBlock && lost <= lastBlock);
}

// takePrints hands over what was kept, and forgets it.
std::string takePrints() {
    std::string body;
    put(body, cutOff);
    put(body, kept.size());
    for (auto &p : kept) {
        put(body, p.kernel);
        put(body, p.block);
        put(body, p.thread);
        put(body, p.text);
    }
    resetPrints();
    return body;
}

void resetPrints() {
    kept.clear();
    keptBytes = 0;
    cutOff = false;
}

} // namespace simt
