// hopper.cpp - the state of a block that uses Hopper's instructions: its beginning, its end, and
// what is said when nothing can go on.
#include "hopper.h"

#include <algorithm>

#include "wgmma.h"

namespace simt {

Hopper &hopperOf(Worker *w) {
    if (LIKELY(w->usesHopper)) return *w->hopper;
    if (!w->hopper) w->hopper = new Hopper();
    Hopper &h = *w->hopper;
    h = Hopper();
    h.threads.resize((size_t)w->threads);
    h.groups.resize((size_t)(w->threads + 127) / 128);
    h.swizzles.resize((w->shared->hi - w->shared->lo) / 16 + 1);
    h.registers.resize((size_t)(w->threads + 31) / 32);
    w->usesHopper = true;
    return h;
}

uint16_t nextEngine(Worker *w) {
    Hopper &h = hopperOf(w);
    if (h.engines < barrierClocks) return (uint16_t)(firstEngine(w) + h.engines++);
    overfull(w, Table::Engines);
    return 0;
}

void reportHopper(Worker *w, const char *check, const char *kind, int line, int otherLine,
                  const std::string &text, Addr pc) {
    Finding f;
    f.check = check;
    f.kind = kind;
    f.line = line;
    f.otherLine = otherLine;
    f.pc = pc;
    f.text = text;
    report(w, f);
}

void refuseHopper(Worker *w, const char *kind, int line, const std::string &text, Addr pc) {
    {
        Finding f;
        f.check = "memcheck";
        f.kind = kind;
        f.line = line;
        f.pc = pc;
        f.fatal = true;
        f.text = text;
        report(w, f);
    }
    stopKernel(w);
}

void leaveHopper(Worker *w, Fiber *f) {
    ThreadState &t = stateOf(w, f);
    if (!t.stores.empty()) {
        const BulkCopy &c = t.stores.front();
        bool committed = t.storeGroups.front() < t.group;
        if (w->checks & SYNC)
            reportHopper(w, "synccheck", committed ? "not waited for" : "not committed", c.line, 0,
                         committed ? "a bulk copy from shared memory that nobody waited for: the "
                                     "thread that asked for it has returned"
                                   : "a bulk copy from shared memory in no group: its thread has "
                                     "returned without cp.async.bulk.commit_group");
        t.group++;
        finishStores(w, f, 0);
    }
    leaveProducts(w, f);
}

static void checkRegisters(Worker *w, const Hopper &h) {
    if (!h.registersIn) return;
    int each = 65536 / w->threads / 8 * 8, sum = 0;
    for (int r : h.registers) sum += 32 * (r ? r : std::min(each, 255));
    if (sum <= 65536) return;
    reportHopper(w, "synccheck", "too many registers", h.registersIn, 0,
                 "setmaxnreg: the block's warps ask for " + std::to_string(sum) +
                     " registers in all, a processor has 65536: on a GPU this waits for ever");
}

void endHopper(Worker *w) {
    Hopper &h = *w->hopper;
    if (!(w->checks & SYNC)) return;
    checkRegisters(w, h);
    for (auto &[at, b] : h.barriers)
        for (const BulkCopy &c : b->copies) {
            reportHopper(w, "synccheck", "not waited for", c.line, 0,
                         "a bulk copy that nobody waited for: the block has ended, and no thread "
                         "waited for its mbarrier");
            break;
        }
}

bool letGiveUp(Worker *w) {
    Hopper &h = *w->hopper;
    if (h.gaveUpAt == h.progress) return false;
    h.gaveUpAt = h.progress;
    bool any = false;
    for (auto &[at, b] : h.barriers) {
        for (uint16_t t : b->waiting) {
            h.threads[t].gaveUp = any = true;
            w->fibers[t].wait = Wait::None;
            push(w, t);
        }
        b->waiting.clear();
    }
    return any;
}

namespace {
// Threads that wait in one way, by line.
struct Crowd {
    int first = -1, threads = 0;
};

std::string phaseText(const Barrier &b, const ThreadState &t, std::string *kind, int *otherLine) {
    std::string text = "its phase " + std::to_string(b.phase) + " has " +
                       std::to_string(b.count - b.left) + " of " + std::to_string(b.count) +
                       " arrivals";
    if (b.announced || b.brought)
        text +=
            " and " + std::to_string(b.brought) + " of " + std::to_string(b.announced) + " bytes";
    if (b.left == 0 && b.bytes) {
        *kind = "transaction bytes";
        *otherLine = b.announcedIn;
        text += ", which line " + std::to_string(b.announcedIn) + " announced";
    }
    if (t.byParity && b.phase == 0 && t.waits == 0 && b.left == b.count)
        text += "; a wait that shall pass before the first phase asks for parity 1";
    return text;
}
} // namespace

std::string whoWaits(Worker *w, int *line, std::string *kind, int *otherLine) {
    Hopper &h = *w->hopper;
    std::string text;
    for (Wait wait : {Wait::Phase, Wait::Named, Wait::Group}) {
        std::map<int, Crowd> byLine;
        for (int i = 0; i < w->threads; i++) {
            if (w->fibers[i].wait != wait) continue;
            Crowd &c = byLine[w->fibers[i].line];
            if (!c.threads++) c.first = i;
        }
        for (auto &[at, c] : byLine) {
            if (!text.empty()) text += "; ";
            const char *what = wait == Wait::Phase   ? "an mbarrier"
                               : wait == Wait::Named ? "a named barrier"
                                                     : "wgmma, which takes 128 threads,";
            text += waiting((int)c.threads) + " at " + what + " in line " + std::to_string(at) +
                    ", the first is " + threadName(w->fibers[c.first]);
            const ThreadState &t = h.threads[(size_t)c.first];
            if (wait == Wait::Phase && t.barrier)
                text += ": " + phaseText(*t.barrier, t, kind, otherLine);
            if (wait == Wait::Named)
                for (const NamedBarrier &n : h.named)
                    if (std::find(n.waiting.begin(), n.waiting.end(), c.first) != n.waiting.end())
                        text += ": " + std::to_string(n.arrived) + " of " +
                                std::to_string(n.count) + " threads have come";
            if (!*line) *line = at;
        }
    }
    return text;
}

} // namespace simt

extern "C" void simt_setmaxnreg(long long count, int more, int line) {
    using namespace simt;
    Worker *w = worker;
    if (count < 24 || count > 256 || count % 8)
        refuseHopper(w, "bad register count", line,
                     "setmaxnreg takes a multiple of 8 from 24 to 256, not " +
                         std::to_string(count));
    Hopper &h = hopperOf(w);
    h.registers[w->current->warp] = (int)count;
    if (more) h.registersIn = line;
}
