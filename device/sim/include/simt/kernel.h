// kernel.h - the table of kernels that ends every module: name, parameters'
// sizes, and a function that calls it from an array of pointers to arguments.
#pragma once

namespace simt {
struct KernelEntry {
    const char *name;
    void (*call)(void **args);
    int count;
    const unsigned short *sizes;
};

template <auto F> struct Entry;
template <class... A, void (*F)(A...)> struct Entry<F> {
    template <size_t... I> SIMT_UNSEEN static void apply(void **args, std::index_sequence<I...>) {
        F(*(std::remove_cv_t<A> *)args[I]...);
    }
    SIMT_UNSEEN static void call(void **args) { apply(args, std::index_sequence_for<A...>{}); }
    static constexpr unsigned short sizes[] = {(unsigned short)sizeof(A)..., 0};
};
} // namespace simt

#define SIMT_KERNEL(f)                                                                             \
    {#f, &simt::Entry<&f>::call, sizeof(simt::Entry<&f>::sizes) / 2 - 1, simt::Entry<&f>::sizes},

// The build step writes SIMT_MODULE(SIMT_KERNEL(a) SIMT_KERNEL(b)) behind the file.
#define SIMT_MODULE(...)                                                                           \
    extern "C" {                                                                                   \
    extern __thread char simt_dynamic_shared[];                                                    \
    SIMT_UNSEEN void *simt_touch_shared() {                                                        \
        return simt_dynamic_shared;                                                                \
    }                                                                                              \
    extern const simt::KernelEntry simt_kernels[];                                                 \
    const simt::KernelEntry simt_kernels[] = {__VA_ARGS__{nullptr, nullptr, 0, nullptr}};          \
    }
