// cluster.cpp - the turns of a cluster's blocks, and the barrier at which they meet: see cluster.h.
#include "cluster.h"

#include <algorithm>

#include "hopper.h"
#include "schedule.h"

namespace simt {

namespace {
LaunchShape shape;
std::vector<Cluster *> teams;

uint32_t product(Index3 i) {
    return i.x * i.y * i.z;
}

bool canRun(const Member &m) {
    return !m.done && m.w->head != m.w->tail;
}

// next is whose turn comes after a rank's: -1 if nobody else can run.
int next(const Cluster *c, unsigned rank) {
    for (unsigned i = 1; i < c->blocks; i++)
        if (unsigned r = (rank + i) % c->blocks; canRun(c->members[r])) return (int)r;
    return -1;
}

void give(Cluster *c, int rank) {
    std::lock_guard<std::mutex> hold(c->turn);
    c->running = rank;
    c->moves.notify_all();
}

void waitForTurn(Worker *w) {
    Cluster *c = w->cluster;
    std::unique_lock<std::mutex> hold(c->turn);
    c->moves.wait(hold, [&] { return c->running == (int)w->rank; });
}

// handOver gives the turn away until it comes back.
void handOver(Worker *w, int to) {
    settleWrites(w);
    give(w->cluster, to);
    waitForTurn(w);
    if (!w->cluster->failed) return;
    w->cancelled = true;
    stopKernel(w);
}
} // namespace

bool clusterFits(const LaunchShape &s, const KernelEntry *k, std::string *error) {
    const Index3 c = s.cluster, g = s.grid;
    std::string of = std::to_string(c.x) + "×" + std::to_string(c.y) + "×" + std::to_string(c.z);
    uint64_t blocks = (uint64_t)c.x * c.y * c.z;
    const unsigned *own = k->cluster;
    if (own[0] && (own[0] != c.x || std::max(1u, own[1]) != c.y || std::max(1u, own[2]) != c.z))
        *error = "a cluster of " + of + " blocks: the kernel's __cluster_dims__ say " +
                 std::to_string(own[0]) + "×" + std::to_string(own[1]) + "×" +
                 std::to_string(own[2]);
    else if (blocks > 8)
        *error = "a cluster of " + of + " blocks: 8 in all is the most that every GPU with " +
                 "clusters holds";
    else if (g.x % c.x || g.y % c.y || g.z % c.z)
        *error = "a grid of " + std::to_string(g.x) + "×" + std::to_string(g.y) + "×" +
                 std::to_string(g.z) + " blocks is no whole number of clusters of " + of;
    else if (s.cooperative)
        *error = "a cooperative launch of clusters is not simulated: let blocks meet within "
                 "clusters, or in a grid without them";
    else
        return true;
    return false;
}

void startClusters(const LaunchShape &s, unsigned count) {
    shape = s;
    for (unsigned i = 0; i < count; i++) {
        teams.push_back(new Cluster());
        teams.back()->blocks = product(s.cluster);
    }
}

void endClusters() {
    for (Cluster *c : teams) delete c;
    teams.clear();
    for (Worker *w : workers) w->cluster = nullptr;
}

bool clustered() {
    return !teams.empty();
}

uint32_t clusterCount() {
    return product(shape.grid) / product(shape.cluster);
}

uint32_t clusterOf(uint32_t block) {
    const Index3 g = shape.grid, c = shape.cluster;
    uint32_t x = block % g.x / c.x, y = block / g.x % g.y / c.y, z = block / (g.x * g.y) / c.z;
    return x + g.x / c.x * (y + g.y / c.y * z);
}

uint32_t blockOf(uint32_t cluster, unsigned rank) {
    const Index3 g = shape.grid, c = shape.cluster;
    uint32_t across = g.x / c.x, down = g.y / c.y;
    uint32_t x = cluster % across * c.x + rank % c.x;
    uint32_t y = cluster / across % down * c.y + rank / c.x % c.y;
    uint32_t z = cluster / (across * down) * c.z + rank / (c.x * c.y);
    return x + g.x * (y + g.y * z);
}

Cluster *clusterOfTeam(unsigned team) {
    return teams[team];
}

void breakTeam(Cluster *c) {
    std::lock_guard<std::mutex> hold(c->turn);
    c->broken = true;
    c->moves.notify_all();
}

void beginMember(Worker *w) {
    Member &m = w->cluster->members[w->rank];
    m = Member();
    m.w = w;
    m.clock = 2;
    startOrder(w);
}

bool takeTurn(Worker *w) {
    waitForTurn(w);
    return !w->cluster->failed;
}

void endMember(Worker *w) {
    Cluster *c = w->cluster;
    if (w->stopped)
        c->failed = true;
    else
        checkLeft(w);
    c->members[w->rank].done = true;
    int to = c->failed ? -1 : next(c, w->rank);
    for (unsigned r = 0; to < 0 && r < c->blocks; r++)
        if (!c->members[r].done) to = (int)r; // to be stopped, or to find that nothing goes on
    give(c, to);
}

bool leaveToOthers(Worker *w) {
    Cluster *c = w->cluster;
    int to = next(c, w->rank);
    for (unsigned r = 0; to < 0 && r < c->blocks; r++) {
        Worker *m = c->members[r].w;
        if (!c->members[r].done && m->usesHopper && letGiveUp(m)) to = (int)r;
    }
    if (to < 0) return false;
    if (to != (int)w->rank) handOver(w, to);
    return true;
}

void passTurn(Worker *w) {
    if (int to = next(w->cluster, w->rank); to >= 0) handOver(w, to);
}

namespace {
void learnCluster(Worker *w, Fiber *f) {
    Cluster *c = w->cluster;
    Clock *row = clusterRow(w, f);
    for (unsigned r = 0; r < c->blocks; r++) row[r] = std::max(row[r], c->known[r]);
    f->clusterWaited = f->clusterArrived;
}

// endPhase moves everybody on, once all threads that live have arrived.
void endPhase(Cluster *c) {
    uint32_t alive = 0;
    for (unsigned r = 0; r < c->blocks; r++) alive += (uint32_t)c->members[r].w->alive;
    if (!c->arrived || c->arrived < alive) return;
    c->arrived = 0;
    c->phase++;
    c->known = c->gathering;
    for (unsigned r = 0; r < c->blocks; r++) {
        Member &m = c->members[r];
        if (m.done) continue;
        if (m.clock < lastClock)
            m.clock++;
        else
            overfull(m.w, Table::Clusters);
        m.w->epoch++; // the block's own threads have met, too
        m.w->barriers++;
        if (m.w->usesHopper) m.w->hopper->progress++;
        for (int i = 0; i < m.w->threads; i++) {
            Fiber *f = &m.w->fibers[i];
            if (f->wait != Wait::Cluster) continue;
            f->wait = Wait::None;
            push(m.w, f->id);
        }
    }
}
} // namespace

void leaveCluster(Worker *w, Fiber *f) {
    Cluster *c = w->cluster;
    Member &m = c->members[w->rank];
    const Clock *row = clusterRow(w, f);
    for (unsigned r = 0; r < c->blocks; r++) m.known[r] = std::max(m.known[r], row[r]);
    if (f->clusterArrived > c->phase) c->arrived--;
    endPhase(c);
}

std::string whoWaitsInCluster(Worker *w, int *line) {
    std::string text;
    Cluster *c = w->cluster;
    for (unsigned r = 0; r < c->blocks; r++) {
        const Member &m = c->members[r];
        int n = 0, at = 0;
        for (int i = 0; !m.done && i < m.w->threads; i++)
            if (m.w->fibers[i].wait == Wait::Cluster) n++, at = m.w->fibers[i].line;
        if (!n) continue;
        text += (text.empty() ? "" : "; ") +
                waiting(n, " of block " + std::to_string(r) + " of the cluster") +
                " at its barrier in line " + std::to_string(at);
        if (!*line) *line = at;
    }
    return text;
}

} // namespace simt

using namespace simt;

extern "C" {
void simt_barrier(int line, int vote, int predicate, int *result);

// A launch without clusters has clusters of one block.
void simt_cluster_arrive(int releases, int line) {
    Worker *w = worker;
    Cluster *c = w->cluster;
    if (!c) return;
    Fiber *f = w->current;
    settleWrites(w);
    if (f->clusterArrived != f->clusterWaited)
        refuseHopper(w, "bad barrier", line,
                     "barrier.cluster.arrive twice, without barrier.cluster.wait between");
    Member &m = c->members[w->rank];
    c->gathering.resize(mostBlocks);
    const Clock *row = clusterRow(w, f);
    for (unsigned r = 0; r < c->blocks; r++) c->gathering[r] = std::max(c->gathering[r], row[r]);
    Clock told = releases ? m.clock : std::max<Clock>(1, f->clusterFenced);
    c->gathering[w->rank] = std::max(c->gathering[w->rank], told);
    m.metIn = line;
    f->clusterArrived++;
    c->arrived++;
    endPhase(c);
}

void simt_cluster_wait(int line) {
    Worker *w = worker;
    Cluster *c = w->cluster;
    if (!c) return simt_barrier(line, 0, 0, nullptr);
    Fiber *f = w->current;
    if (f->clusterArrived == f->clusterWaited)
        refuseHopper(w, "bad barrier", line,
                     "barrier.cluster.wait without barrier.cluster.arrive before it");
    if (c->phase < f->clusterArrived) {
        f->wait = Wait::Cluster;
        f->line = line;
        reschedule(w);
    }
    learnCluster(w, f);
}

// What a kernel may ask: its block's place in the cluster, the cluster's size, the cluster's place
// in the grid, the grid's size in clusters (x, y, z each); rank, size, whether there is one.
unsigned simt_cluster(int what) {
    Worker *w = worker;
    bool is = w->cluster;
    Index3 one = {1, 1, 1}, c = is ? shape.cluster : one;
    extern __thread Index3 simt_blockIdx, simt_gridDim;
    Index3 b = simt_blockIdx, g = simt_gridDim;
    const unsigned all[] = {b.x % c.x,
                            b.y % c.y,
                            b.z % c.z,
                            c.x,
                            c.y,
                            c.z,
                            b.x / c.x,
                            b.y / c.y,
                            b.z / c.z,
                            g.x / c.x,
                            g.y / c.y,
                            g.z / c.z,
                            is ? w->rank : 0,
                            is ? w->cluster->blocks : 1,
                            is};
    return all[what];
}
}
