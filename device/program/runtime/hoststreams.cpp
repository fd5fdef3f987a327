// hoststreams.cpp - streams and events. All work is done by the time its call returns. On a GPU the
// host knows that only after it has waited, so each stream counts its pieces of work, and knows up
// to which piece of each other stream it has waited; the host knows the same. Memory that the host
// reaches too, and that work uses of which the host does not know that it is over, must not be
// touched: a result may be right here, and old on a GPU.
#include <algorithm>
#include <chrono>
#include <thread>

#include "host.h"

namespace simt::program {

struct Stream {
    bool blocking = true; // it waits for the default stream, and that for it
    int priority = 0;
    uint64_t issued = 0;
    Known known; // of each stream's work so much is done before its next
};

size_t pendingUses;

namespace {
struct Event {
    bool recorded = false;
    Known known;
    std::chrono::steady_clock::time_point at;
};

struct Use {
    Stream *stream;
    uint64_t number;
    Addr lo, hi;
    bool writes;
    const char *what;
    Site site;
};

Stream defaultStream;
std::vector<Stream *> streams; // without the default one
std::vector<Event *> events;
std::map<std::thread::id, Stream *> ofThread;
Known host;
std::vector<Use> uses;

void learn(Known &who, const Known &what) {
    for (auto &[stream, n] : what) {
        uint64_t &known = who[stream];
        known = std::max(known, n);
    }
}

void prune() {
    uses.erase(std::remove_if(uses.begin(), uses.end(),
                              [](const Use &u) { return u.number <= host[u.stream]; }),
               uses.end());
    pendingUses = uses.size();
}

Event *eventOf(cudaEvent_t e) {
    auto it = std::find(events.begin(), events.end(), (Event *)e);
    return it == events.end() ? nullptr : *it;
}

cudaError_t newStream(cudaStream_t *s, unsigned flags, int priority) {
    if (!s || flags > cudaStreamNonBlocking) return failed(cudaErrorInvalidValue);
    auto *made = new Stream;
    made->blocking = !(flags & cudaStreamNonBlocking);
    made->priority = priority;
    streams.push_back(made);
    *s = (cudaStream_t)made;
    return cudaSuccess;
}

cudaError_t newEvent(cudaEvent_t *e) {
    if (!e) return failed(cudaErrorInvalidValue);
    events.push_back(new Event);
    *e = (cudaEvent_t)events.back();
    return cudaSuccess;
}
} // namespace

Stream *streamOf(cudaStream_t s) {
    if (!s || s == cudaStreamLegacy) return &defaultStream;
    if (s == cudaStreamPerThread) {
        Stream *&mine = ofThread[std::this_thread::get_id()];
        if (!mine) streams.push_back(mine = new Stream);
        return mine;
    }
    auto it = std::find(streams.begin(), streams.end(), (Stream *)s);
    return it == streams.end() ? nullptr : *it;
}

uint64_t issue(Stream *s) {
    if (s == &defaultStream) {
        for (Stream *other : streams)
            if (other->blocking) learn(s->known, other->known);
    } else if (s->blocking) {
        learn(s->known, defaultStream.known);
    }
    return s->known[s] = ++s->issued;
}

void leaves(Stream *s, Addr lo, Addr hi, bool writes, const char *what) {
    if (uses.size() >= 4096) uses.erase(uses.begin()); // the oldest
    uses.push_back({s, s->issued, lo, hi, writes, what, here()});
    pendingUses = uses.size();
}

void waitFor(Stream *s) {
    learn(host, s->known);
    prune();
}

void waitForAll() {
    waitFor(&defaultStream);
    for (Stream *s : streams) waitFor(s);
}

void checkPending(Addr a, size_t n, Op op, Addr pc) {
    for (auto &u : uses) {
        if (a >= u.hi || a + n <= u.lo || (op == READ && !u.writes)) continue;
        Array *in = arrayAt(a);
        std::string text = std::string("the host's code ") + (op == READ ? "reads '" : "writes '") +
                           (in ? in->name : "") + "' while " + u.what + " may still " +
                           (u.writes ? "write" : "read") + " it: line " +
                           std::to_string(u.site.line) + " queued that, and nothing has waited";
        toldAt({}, pc, "no synchronisation", text,
               "cudaDeviceSynchronize(), or cudaStreamSynchronize() of its stream, comes first");
        return;
    }
}

void forgetStreams() {
    uses.clear();
    pendingUses = 0;
    events.clear();
    streams.clear();
    ofThread.clear();
}

} // namespace simt::program

extern "C" {
using namespace simt::program;

#define SIMT_STREAM(s)                                                                             \
    Stream *stream = streamOf(s);                                                                  \
    if (!stream) return failed(cudaErrorInvalidResourceHandle)
#define SIMT_EVENT(e)                                                                              \
    Event *event = eventOf(e);                                                                     \
    if (!event) return failed(cudaErrorInvalidResourceHandle)

cudaError_t simt_cudaStreamCreate(cudaStream_t *s) {
    SIMT_ENTER();
    return newStream(s, 0, 0);
}
cudaError_t simt_cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) {
    SIMT_ENTER();
    return newStream(s, flags, 0);
}
cudaError_t simt_cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) {
    SIMT_ENTER();
    return newStream(s, flags, std::max(-5, std::min(0, priority)));
}
cudaError_t simt_cudaStreamDestroy(cudaStream_t s) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    if (stream == &defaultStream) return failed(cudaErrorInvalidResourceHandle);
    // Its work goes on: another stream knows it by the same address, which is not given back.
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    return cudaSuccess;
}
cudaError_t simt_cudaStreamSynchronize(cudaStream_t s) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    if (stream == &defaultStream) issue(stream); // it waits for the others
    waitFor(stream);
    return settle();
}
cudaError_t simt_cudaStreamQuery(cudaStream_t s) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    waitFor(stream);
    return settle();
}
cudaError_t simt_cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    SIMT_EVENT(e);
    learn(stream->known, event->known);
    return cudaSuccess;
}
cudaError_t simt_cudaStreamGetPriority(cudaStream_t s, int *priority) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    *priority = stream->priority;
    return cudaSuccess;
}
cudaError_t simt_cudaStreamGetFlags(cudaStream_t s, unsigned *flags) {
    SIMT_ENTER();
    SIMT_STREAM(s);
    *flags = stream->blocking ? cudaStreamDefault : cudaStreamNonBlocking;
    return cudaSuccess;
}
// A callback of a stream knows that the work before it is over.
cudaError_t simt_cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void *data,
                                       unsigned) {
    {
        SIMT_ENTER();
        SIMT_STREAM(s);
        waitFor(stream);
        settle();
    }
    f(s, cudaSuccess, data);
    return cudaSuccess;
}
cudaError_t simt_cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void *data) {
    {
        SIMT_ENTER();
        SIMT_STREAM(s);
        waitFor(stream);
        settle();
    }
    f(data);
    return cudaSuccess;
}
cudaError_t simt_cudaEventCreate(cudaEvent_t *e) {
    SIMT_ENTER();
    return newEvent(e);
}
cudaError_t simt_cudaEventCreateWithFlags(cudaEvent_t *e, unsigned) {
    SIMT_ENTER();
    return newEvent(e);
}
cudaError_t simt_cudaEventDestroy(cudaEvent_t e) {
    SIMT_ENTER();
    SIMT_EVENT(e);
    events.erase(std::find(events.begin(), events.end(), event));
    delete event;
    return cudaSuccess;
}
cudaError_t simt_cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
    SIMT_ENTER();
    SIMT_EVENT(e);
    SIMT_STREAM(s);
    issue(stream);
    event->recorded = true;
    event->known = stream->known;
    event->at = std::chrono::steady_clock::now();
    return cudaSuccess;
}
cudaError_t simt_cudaEventSynchronize(cudaEvent_t e) {
    SIMT_ENTER();
    SIMT_EVENT(e);
    learn(host, event->known);
    prune();
    return settle();
}
cudaError_t simt_cudaEventQuery(cudaEvent_t e) {
    SIMT_ENTER();
    SIMT_EVENT(e);
    learn(host, event->known);
    prune();
    return settle();
}
cudaError_t simt_cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
    SIMT_ENTER();
    Event *a = eventOf(from), *b = eventOf(to);
    if (!ms || !a || !b || !a->recorded || !b->recorded)
        return failed(cudaErrorInvalidResourceHandle);
    static bool said;
    if (!said)
        note(here(), "simulated time",
             "cudaEventElapsedTime gives the time that the simulator took, which says nothing of a "
             "GPU's");
    said = true;
    *ms = std::chrono::duration<float, std::milli>(b->at - a->at).count();
    return cudaSuccess;
}
cudaError_t simt_cudaDeviceSynchronize() {
    SIMT_ENTER();
    waitForAll();
    return settle();
}
cudaError_t simt_cudaThreadSynchronize() {
    return simt_cudaDeviceSynchronize();
}
}
