// Replays calls for JAX: the compiled program of XLA calls this, on its own stream and buffers.
#include <map>
#include <string>
#include <utility>

#include "replay.cpp"
#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

// A program knows a plan by the key of its content, so that a program that comes from a cache on
// disk finds the same.
static std::mutex lock;
static std::map<std::pair<int64_t, int64_t>, Replay *> replays; // by plan and device

extern "C" void flashlab_register(int64_t plan, int64_t device, Replay *r) {
    std::lock_guard<std::mutex> held(lock);
    replays[{plan, device}] = r;
}

static Replay *find(int64_t plan, int64_t device) {
    std::lock_guard<std::mutex> held(lock);
    auto found = replays.find({plan, device});
    return found == replays.end() ? nullptr : found->second;
}

static ffi::Error refuse(const std::string &why) {
    return ffi::Error(ffi::ErrorCode::kInvalidArgument, "flashlab: " + why);
}

static ffi::Error failed(const Replay &r, int code) {
    const char *name = nullptr;
    r.driver->name(code, &name);
    return ffi::Error(ffi::ErrorCode::kInternal,
                      std::string("flashlab: ") + r.steps[r.failed].what + ": " +
                          (name ? name : "an error of CUDA's driver") +
                          ". `make grade` finds what is wrong with a kernel in the simulator, "
                          "`make sanitize` on the GPU");
}

// The blocks of a replay are the arguments and the results, of which scratch is the last.
// Each begins at a multiple of `aligned` bytes, which the plan was made for.
static ffi::Error replay(void *stream, Replay &r, uint64_t aligned, ffi::RemainingArgs args,
                         ffi::RemainingRets rets) {
    constexpr size_t most = 16;
    if (args.size() + rets.size() != r.block_count || r.block_count > most)
        return refuse("a plan of another number of buffers");
    uint64_t words[1 + most] = {reinterpret_cast<uint64_t>(stream)};
    for (size_t i = 0; i < r.block_count; i++) {
        bool out = i >= args.size();
        auto buffer = out ? *rets.get<ffi::AnyBuffer>(i - args.size()).value()
                          : args.get<ffi::AnyBuffer>(i).value();
        words[1 + i] = reinterpret_cast<uint64_t>(buffer.untyped_data());
        if (words[1 + i] % aligned)
            return refuse("argument " + std::to_string(i + 1) +
                          " does not begin at a multiple of " + std::to_string(aligned) +
                          " bytes: pass a copy of it (jnp.copy)");
    }
    int code = r.driver->push(r.context);
    if (code == 0) {
        code = flashlab_start(&r, words);
        void *ours;
        r.driver->pop(&ours);
    }
    return code ? failed(r, code) : ffi::Error::Success();
}

static ffi::Error on_gpu(void *stream, int32_t device, int64_t plan, ffi::RemainingArgs args,
                         ffi::RemainingRets rets) {
    if (Replay *r = find(plan, device))
        return replay(stream, *r, 128, args,
                      rets); // as XLA's own buffers do, and more than any kernel asks for
    return refuse("this program was not traced by this process: call the function itself once, "
                  "which plans its launches");
}

static ffi::Error on_cpu(int64_t plan, ffi::RemainingArgs args, ffi::RemainingRets rets) {
    if (Replay *r = find(plan, -1)) return replay(nullptr, *r, 1, args, rets);
    return refuse("the course's kernels run on a GPU, and this computation is on the CPU: move its "
                  "arguments with jax.device_put");
}

// XLA may capture the call into a CUDA graph: all that it does is done on the stream.
XLA_FFI_DEFINE_HANDLER_SYMBOL(flashlab_cuda, on_gpu,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<void *>>()
                                  .Ctx<ffi::DeviceOrdinal>()
                                  .Attr<int64_t>("plan")
                                  .RemainingArgs()
                                  .RemainingRets(),
                              {ffi::Traits::kCmdBufferCompatible});

XLA_FFI_DEFINE_HANDLER_SYMBOL(
    flashlab_cpu, on_cpu, ffi::Ffi::Bind().Attr<int64_t>("plan").RemainingArgs().RemainingRets());
