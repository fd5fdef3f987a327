// workers.cpp - see workers.h.
#include "workers.h"

#include <sys/mman.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "collective.h"
#include "schedule.h"
#include "seal.h"
#include "traffic.h"

namespace simt {

std::vector<Worker *> workers;
unsigned ordinary;

namespace {
std::mutex jobMutex;
std::condition_variable jobGiven, jobDone;
void (*job)(Worker *, void *);
void *jobOf;
unsigned jobNumber, busy, team;

// helper is the life of every worker but the first, which is the main thread.
void helper(Worker *w, unsigned seen) {
    useSignalStack();
    for (;;) {
        void (*work)(Worker *, void *);
        void *what;
        {
            std::unique_lock<std::mutex> hold(jobMutex);
            jobGiven.wait(hold, [&] { return jobNumber != seen; });
            seen = jobNumber;
            if ((unsigned)w->id >= team) continue;
            work = job;
            what = jobOf;
        }
        work(w, what);
        std::lock_guard<std::mutex> hold(jobMutex);
        if (--busy == 0) jobDone.notify_one();
    }
}

constexpr size_t eachStack = stackSize + guardSize;

// The guard below each stack, and one above the last, turns an overrun into a signal, not into
// another thread's wrong answer.
bool guard(Worker *w, int threads) {
    for (; w->guarded < threads; w->guarded++)
        if (mprotect(w->fibers[w->guarded].stack - guardSize, guardSize, PROT_NONE)) return false;
    return true;
}

Worker *newWorker(int id, unsigned checks) {
    auto *w = new Worker();
    w->id = id;
    w->checks = checks;
    w->writeNeeds = eachByte(checks & MEM ? LIVE : 0);
    w->readNeeds = w->writeNeeds | eachByte(checks & INIT ? INITIALISED : 0);
    w->fibers = new Fiber[maxThreads]();
    w->warps = new Warp[maxThreads / 32]();
    w->exchanges = new Exchange[maxThreads / 32]();
    w->told = new Told[maxThreads * toldKept]();
    w->queue = new uint16_t[queueMask + 1]();
    w->traffic = newTraffic();
    char *stacks = (char *)reserve(eachStack * maxThreads + guardSize);
    mprotect(stacks + eachStack * maxThreads, guardSize, PROT_NONE);
    for (int i = 0; i < maxThreads; i++) {
        w->fibers[i].stack = stacks + i * eachStack + guardSize;
        w->fibers[i].occurrence = (uint32_t *)reserve(maxSites * sizeof(uint32_t));
    }
    return w;
}
} // namespace

void initScheduler(int threads, unsigned checks) {
    ordinary = (unsigned)threads;
    for (int i = 0; i < threads; i++) {
        workers.push_back(newWorker(i, checks));
        guard(workers.back(), maxThreads);
    }
}

bool hire(uint32_t count, int threads, std::string *error) {
    unsigned checks = workers[0]->checks;
    while (workers.size() < count) {
        Worker *w = newWorker((int)workers.size(), checks);
        w->arena = arena;
        if (checks & RACE) shadow(&w->arena, true);
        workers.push_back(w);
    }
    for (uint32_t i = 0; i < count; i++)
        if (!guard(workers[i], threads)) {
            *error = "this machine has no room for the stacks of so many threads at once: launch "
                     "fewer blocks";
            return false;
        }
    return true;
}

void together(unsigned count, void (*work)(Worker *, void *), void *what) {
    static unsigned started = 1;
    sealState();
    for (; started < count; started++) std::thread(helper, workers[started], jobNumber).detach();
    {
        std::lock_guard<std::mutex> hold(jobMutex);
        job = work;
        jobOf = what;
        team = count;
        busy = count - 1;
        jobNumber++;
    }
    jobGiven.notify_all();
    work(workers[0], what);
    std::unique_lock<std::mutex> hold(jobMutex);
    jobDone.wait(hold, [] { return busy == 0; });
    compareState();
}

} // namespace simt
