// What nvcc reads behind a file whose kernels have no C linkage. In the machine code such a kernel
// has a name of the compiler's making, _Z3addIfEvPT_, so each gets a constant that holds its
// address: the relocation of that address tells the name. The constant also has the sizes and kinds
// of the kernel's parameters. device/cubin reads all of it.

namespace flashlab_kernels {

// Kind is a parameter's: p, i, u, f as in device.Signature.Compiled, o for all else. A parameter's
// own const is no part of a function's type.
template <class T> struct Kind {
    static constexpr char letter = __is_enum(T) ? 'i' : 'o';
};
template <class T> struct Kind<T *> {
    static constexpr char letter = 'p';
};
#define FLASHLAB_KIND(type, what)                                                                  \
    template <> struct Kind<type> {                                                                \
        static constexpr char letter = what;                                                       \
    }
FLASHLAB_KIND(float, 'f');
FLASHLAB_KIND(double, 'f');
FLASHLAB_KIND(bool, 'u');
FLASHLAB_KIND(char, char(-1) < 0 ? 'i' : 'u');
FLASHLAB_KIND(signed char, 'i');
FLASHLAB_KIND(unsigned char, 'u');
FLASHLAB_KIND(short, 'i');
FLASHLAB_KIND(unsigned short, 'u');
FLASHLAB_KIND(int, 'i');
FLASHLAB_KIND(unsigned int, 'u');
FLASHLAB_KIND(long, 'i');
FLASHLAB_KIND(unsigned long, 'u');
FLASHLAB_KIND(long long, 'i');
FLASHLAB_KIND(unsigned long long, 'u');
#undef FLASHLAB_KIND

// Each array has one element more than there are parameters: none may be empty.
template <class... A> struct Holder {
    void (*kernel)(A...);
    unsigned parameters;
    unsigned short sizes[sizeof...(A) + 1];
    char kinds[sizeof...(A) + 1];
};

template <class... A> constexpr Holder<A...> flashlab_hold(void (*kernel)(A...)) {
    return {kernel, sizeof...(A), {(unsigned short)sizeof(A)..., 0}, {Kind<A>::letter..., 0}};
}

} // namespace flashlab_kernels
