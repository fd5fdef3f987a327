// cluster.h - thread block clusters: blocks that live together, meet at barriers of their own and
// reach one another's shared memory. Each has a worker, and so shared memory, of its own, but only
// one of them runs at a time: it hands the turn to the next where it has to wait. So nothing here
// is a race of the simulator's own, and what is found does not depend on the machine's timing.
//
// Who knows of whose accesses is kept by vector clocks, as for barriers of some threads (order.h):
// behind a block's threads and engines, each thread's row has a clock for every block of the
// cluster. A block's own clock ticks when it tells others what it did.
#pragma once
#include <condition_variable>
#include <mutex>

#include "order.h"

namespace simt {

constexpr unsigned mostBlocks = clusterClocks; // of a cluster

// An access to shared memory of a cluster, as the other blocks see it.
struct CrossAccess {
    Access access;
    Clock clock; // 0: there is none
    uint8_t rank, op;
};

// What is remembered of four bytes: the last write, and two readers.
struct CrossCell {
    CrossAccess write, read[2];
};

// The last access of one block to another's shared memory.
struct Visit {
    Addr pc = 0, at = 0;
    unsigned bytes = 0;
    Op op = READ;
    int thread = 0, line = 0;
    Clock clock = 0; // 0: it never came
};

struct Member {
    Worker *w = nullptr;
    bool done = false;
    Clock clock = 0;              // see above; 1 says no more than that it has begun
    Clock known[mostBlocks] = {}; // by the threads that have returned
    int metIn = 0;                // line of its latest barrier of the cluster
    Visit visits[mostBlocks];     // by others
};

struct Cluster {
    unsigned blocks = 0;
    Member members[mostBlocks];
    uint32_t arrived = 0; // threads that live, at the barrier of the cluster
    uint64_t phase = 0;   // how many of these barriers are over
    std::vector<Clock> gathering, known;
    bool failed = false; // a block was stopped
    bool skipped = false;
    // Whose turn it is; and how the team of workers meets before and after each cluster.
    std::mutex turn;
    std::condition_variable moves;
    int running = -1;
    unsigned present = 0;
    uint64_t meetings = 0;
    bool broken = false; // a worker could not begin
};

// ---- cluster.cpp ----------------------------------------------------------------
bool clusterFits(const LaunchShape &s, const KernelEntry *k, std::string *error);
void startClusters(const LaunchShape &s, unsigned teams);
void endClusters();
bool clustered(); // the running launch
uint32_t clusterCount();
uint32_t clusterOf(uint32_t block);
uint32_t blockOf(uint32_t cluster, unsigned rank);
Cluster *clusterOfTeam(unsigned team);
// meetTeam waits for the whole team; the last to come does what is left to do. It returns false
// if somebody never will.
template <class F> bool meetTeam(Cluster *c, F last);
void breakTeam(Cluster *c);
void beginMember(Worker *w); // its block is laid out
bool takeTurn(Worker *w);    // the first time; false if the cluster has failed meanwhile
void endMember(Worker *w);   // its block is done, or stopped
// Nothing here can go on: others may. It returns false if no block of the cluster can.
bool leaveToOthers(Worker *w);
void passTurn(Worker *w);               // to the next that can run, if there is one
void leaveCluster(Worker *w, Fiber *f); // a thread returns
std::string whoWaitsInCluster(Worker *w, int *line);

// ---- distributed.cpp ------------------------------------------------------------
Worker *neighbourAt(const Worker *w, Addr a); // whose shared memory it is; null: no other block's
inline Worker *ownerOf(Worker *w, Addr a) {
    if (!w->cluster || w->shared->holds(a)) return w;
    Worker *o = neighbourAt(w, a);
    return o ? o : w;
}
// checkCross judges an access to shared memory of the cluster, and remembers it.
void checkCross(Worker *w, Worker *owner, Addr a, unsigned n, Op op, Addr pc);
// visit says whether a neighbour has begun and will still be there.
bool visit(Worker *w, Worker *owner, Addr a, unsigned n, Op op, Addr pc, int line = 0);
void checkLeft(Worker *w); // a block is done: did all visitors say so?
// tellCluster adds to `into`, a row of `owner`'s block, what a thread knows of the cluster.
void tellCluster(Worker *w, Fiber *f, Worker *owner, std::vector<Clock> &into);
void shareCluster(Worker *w); // among all threads of a block
void fenceCluster(Worker *w, Fiber *f);
inline Clock *clusterRow(const Worker *w, const Fiber *f) {
    return w->order + f->id * orderWidth(w) + firstEngine(w) + engineClocks;
}

template <class F> bool meetTeam(Cluster *c, F last) {
    std::unique_lock<std::mutex> hold(c->turn);
    if (c->broken) return false;
    uint64_t mine = c->meetings;
    if (++c->present == c->blocks) {
        c->present = 0;
        last();
        c->meetings++;
        c->moves.notify_all();
        return true;
    }
    c->moves.wait(hold, [&] { return c->meetings != mine || c->broken; });
    return c->meetings != mine;
}

} // namespace simt
