// kernel.h - what the table of kernels that ends every module has of each: name,
// parameters' sizes and kinds, and a function that calls it from an array of pointers to
// arguments. The build step writes the table behind the file (kernels.go).
#pragma once

namespace simt {
struct KernelEntry {
    const char *name;
    void (*call)(void **args);
    int count;
    const unsigned short *sizes;
    const char *kinds; // of each parameter: pointer, int, unsigned, float, other
    void *address;
    unsigned cluster[3], bounds[2]; // what its attributes say
};

template <class T> constexpr char kindOf() {
    if constexpr (std::is_pointer_v<T>) return 'p';
    if constexpr (std::is_floating_point_v<T>) return 'f';
    if constexpr (std::is_enum_v<T>) return 'i';
    if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? 'i' : 'u';
    return 'o';
}

// Numbers are what an attribute says: constants, so that nothing runs when a module is loaded.
template <unsigned... N> struct Numbers {
    static constexpr unsigned all[sizeof...(N) + 3] = {N...};
};

template <auto F> struct Entry;
template <class... A, void (*F)(A...)> struct Entry<F> {
    template <size_t... I> SIMT_UNSEEN static void apply(void **args, std::index_sequence<I...>) {
        F(*(std::remove_cv_t<A> *)args[I]...);
    }
    SIMT_UNSEEN static void call(void **args) { apply(args, std::index_sequence_for<A...>{}); }
    static constexpr unsigned short sizes[] = {(unsigned short)sizeof(A)..., 0};
    static constexpr void (*address)(A...) = F;
    static constexpr char kinds[] = {kindOf<std::remove_cv_t<A>>()..., 0};
};
} // namespace simt
