// A recorded call, as replay.py lays it out, and its replay on a stream.
#include <cstddef>
#include <cstdint>
#include <mutex>

// An address in an argument, or in a CUtensorMap: where it is written, and the block of memory and
// the place in it that it names. Blocks are the call's tensors, and behind them scratch memory.
struct Slot {
    uint64_t *at, block, offset, is_map;
};

// CUDA's CUlaunchConfig.
struct Config {
    unsigned grid[3], block[3], shared;
    void *stream, *attributes;
    unsigned count;
};

struct Step {
    Slot *slots;
    uint64_t slot_count;
    Config *config; // of a launch, else null
    void *function, **arguments;
    uint64_t to, from, bytes, value; // a fill: bytes of what lies at `from`, or each the value
    const char *what;                // for messages
};

// What a replay calls of CUDA's driver.
struct Driver {
    int (*launch)(const Config *, void *function, void **arguments, void **extra);
    int (*set)(uint64_t to, unsigned char value, size_t bytes, void *stream);
    int (*copy)(uint64_t to, uint64_t from, size_t bytes, void *stream);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*name)(int code, const char **);
    int (*move)(void *map, uint64_t to);
};

struct Replay {
    const Driver *driver;
    void *context;
    Step *steps;
    uint64_t step_count, block_count;
    uint64_t failed; // the step that did not start
};

static int start(const Driver &cuda, Step &s, const uint64_t *blocks, void *stream) {
    for (Slot *a = s.slots; a != s.slots + s.slot_count; a++) {
        uint64_t address = blocks[a->block] + a->offset;
        if (!a->is_map)
            *a->at = address;
        else if (int code = cuda.move(a->at, address))
            return code;
    }
    if (s.config) {
        s.config->stream = stream;
        return cuda.launch(s.config, s.function, s.arguments, nullptr);
    }
    if (s.from) return cuda.copy(s.to, s.from, s.bytes, stream);
    return cuda.set(s.to, static_cast<unsigned char>(s.value), s.bytes, stream);
}

// Enqueues all steps and returns CUDA's code. words: the stream, then the addresses of all blocks.
extern "C" int flashlab_start(Replay *r, const uint64_t *words) {
    static std::mutex one_at_a_time; // the addresses are written into memory that all callers share
    std::lock_guard<std::mutex> held(one_at_a_time);
    void *stream = reinterpret_cast<void *>(words[0]);
    for (Step *s = r->steps; s != r->steps + r->step_count; s++) {
        if (int code = start(*r->driver, *s, words + 1, stream)) {
            r->failed = s - r->steps;
            return code;
        }
    }
    return 0;
}
