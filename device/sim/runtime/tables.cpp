// tables.cpp - which tables have been overfull: see tables.h.
#include "tables.h"

namespace simt {

namespace {
// What each could not hold, as reports say it.
const char *const what[(unsigned)Table::End] = {
    "more than 4096 instructions of a launch reach memory: what the others move is not counted",
    "more than 4096 findings and notes in a launch: the others are not kept",
    "findings that recur in too many blocks: not all are counted",
    "more than 4096 findings in all: the others are not kept",
    "more than 64 mbarriers in a block: races on what copies bring for the others are not found",
    "a block hands over to others more often than is kept: some of it is taken for handed over",
    "more than 65534 meetings of a warp in a block: what came after looks ordered",
    "too many barriers of a cluster in a block: what came after looks ordered",
    "blocks of a cluster tell one another by mbarriers, and reach the same device memory: whether "
    "one waits for the other is not known there",
    "a kernel altered what the simulator checks it by: nothing of that launch is sure",
};
uint64_t launches[(unsigned)Table::End];
} // namespace

void endTables() {
    uint32_t all = 0;
    for (Worker *w : workers) {
        all |= w->overfull;
        w->overfull = 0;
    }
    for (unsigned t = 0; t < (unsigned)Table::End; t++) launches[t] += all >> t & 1;
}

std::string tablesJson() {
    std::string out = "[";
    for (unsigned t = 0; t < (unsigned)Table::End; t++) {
        if (!launches[t]) continue;
        if (out.size() > 1) out += ",";
        out += "{\"what\":" + quote(what[t]) + ",\"launches\":" + std::to_string(launches[t]) + "}";
    }
    return out + "]";
}

void resetTables() {
    for (uint64_t &n : launches) n = 0;
}

} // namespace simt
