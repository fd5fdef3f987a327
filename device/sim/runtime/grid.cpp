// grid.cpp - see grid.h. Between two barriers of the grid blocks are to each other as in a launch
// of their own: at each barrier their accesses are judged (between.cpp), and forgotten.
#include "grid.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "races.h"
#include "schedule.h"

extern "C" void simt_barrier(int line, int vote, int predicate, int *result);

namespace simt {

namespace {
// An H200's: what its multiprocessors hold. What registers a kernel takes is known only where its
// __launch_bounds__ promise so many blocks a multiprocessor: no more than these are sure.
constexpr uint64_t processors = 132, threadsEach = 2048, blocksEach = 32;
constexpr size_t sharedEach = 228 << 10, reservedShared = 1 << 10;
// Each thread's stack takes two entries in the operating system's map of memory, of 65,530.
constexpr uint64_t mostThreads = 20480;

struct Grid {
    Module *module;
    uint32_t blocks, waiting = 0, gone = 0;
    uint64_t phase = 0;
    bool over = false;         // nobody can come to the barrier any more
    bool failed = false;       // a block was stopped
    std::vector<int> line;     // where each block waits; 0: it does not
    uint32_t teller = noBlock; // the block that says so
};
Grid *grid;
std::mutex gridMutex;
std::condition_variable gridMoves;

// Whoever comes last, or leaves last, moves the others on. The mutex is held.
void moveOn() {
    if (!grid->waiting || grid->waiting + grid->gone < grid->blocks) return;
    if (grid->gone) {
        grid->over = true;
        for (uint32_t b = 0; b < grid->blocks && !grid->failed; b++)
            if (grid->line[b]) grid->teller = std::min(grid->teller, b);
    } else {
        if (workers[0]->checks & RACE) {
            endBetween(grid->module, noBlock);
            startBetween(grid->blocks);
        }
        grid->waiting = 0;
        std::fill(grid->line.begin(), grid->line.end(), 0);
        grid->phase++;
    }
    gridMoves.notify_all();
}

COLD void tellMissing(Worker *w, int line, uint32_t waiting, uint32_t gone) {
    Finding f = syncFinding("grid barrier not reached by all", line);
    f.text = std::to_string(waiting) + " block(s) wait at the barrier of the grid, " +
             std::to_string(gone) + " have returned without it";
    f.fatal = true;
    report(w, f);
}

void meetGrid(Worker *w, int line) {
    settleWrites(w);
    bool tells = false, over;
    uint32_t waiting, gone;
    {
        std::unique_lock<std::mutex> hold(gridMutex);
        grid->line[w->blockIndex] = line;
        grid->waiting++;
        uint64_t phase = grid->phase;
        moveOn();
        gridMoves.wait(hold, [&] { return grid->phase != phase || grid->over; });
        over = grid->phase == phase;
        tells = grid->teller == w->blockIndex;
        waiting = grid->waiting, gone = grid->gone;
    }
    if (!over) {
        w->stamp = stampOf(w->blockIndex);
        w->fenced = w->synchronised = false;
        return;
    }
    if (tells)
        tellMissing(w, line, waiting, gone);
    else
        w->cancelled = true;
    stopKernel(w);
}

COLD void notCooperative(Worker *w, int line) {
    {
        Finding f = syncFinding("not a cooperative launch", line);
        f.fatal = true;
        report(w, f);
    }
    stopKernel(w);
}
} // namespace

bool resident(const LaunchShape &s, const KernelEntry *k, size_t fixedShared, std::string *error) {
    uint64_t threads = (uint64_t)s.block.x * s.block.y * s.block.z;
    uint64_t blocks = (uint64_t)s.grid.x * s.grid.y * s.grid.z;
    uint64_t each = std::min(blocksEach, threadsEach / ((threads + 31) / 32 * 32));
    each = std::min(each, (uint64_t)(sharedEach / (fixedShared + s.dynamicBytes + reservedShared)));
    std::string why;
    uint64_t promised = k->bounds[1], bound = k->bounds[0];
    if (promised && bound) {
        uint64_t registers = std::min<uint64_t>(255, 65536 / (promised * bound) / 8 * 8);
        uint64_t rounded = (threads + 31) / 32 * 32 * ((registers + 7) / 8 * 8);
        if (rounded && 65536 / rounded < each) {
            each = 65536 / rounded;
            why = " (its __launch_bounds__(" + std::to_string(bound) + ", " +
                  std::to_string(promised) + ") let a thread have " + std::to_string(registers) +
                  " registers: 65536 of them are enough for " + std::to_string(each) +
                  (each == 1 ? " block of " : " blocks of ") + std::to_string(threads) +
                  " threads)";
        }
    }
    if (blocks > each * processors) {
        *error = "a cooperative launch needs all its " + std::to_string(blocks) +
                 " blocks at once: an H200's " + std::to_string(processors) +
                 " multiprocessors hold " + std::to_string(each) + " of this size each" + why +
                 ", " + std::to_string(each * processors) +
                 " in all; launch fewer, with a loop over the rest";
        return false;
    }
    if (blocks * threads > mostThreads) {
        *error = "a cooperative launch of " + std::to_string(blocks * threads) +
                 " threads: the simulator runs " + std::to_string(mostThreads) +
                 " at once; launch fewer blocks, with a loop over the rest";
        return false;
    }
    return true;
}

void startGrid(Module *m, uint32_t blocks) {
    grid = new Grid{m, blocks};
    grid->line.assign(blocks, 0);
}

void endGrid() {
    delete grid;
    grid = nullptr;
}

bool cooperative() {
    return grid;
}

void leaveGrid(bool stopped) {
    std::lock_guard<std::mutex> hold(gridMutex);
    grid->gone++;
    grid->failed |= stopped;
    moveOn();
}

} // namespace simt

extern "C" {

// All threads of the block meet, one of them waits for the other blocks, and all meet again.
void simt_grid_barrier(int line) {
    using namespace simt;
    Worker *w = worker;
    if (!grid) notCooperative(w, line);
    simt_barrier(line, 0, 0, nullptr);
    if (w->metGridIn != w->epoch) {
        w->metGridIn = w->epoch;
        meetGrid(w, line);
    }
    simt_barrier(line, 0, 0, nullptr);
}

int simt_cooperative() {
    return simt::cooperative();
}
}
