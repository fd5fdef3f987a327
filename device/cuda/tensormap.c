//go:build cuda

// Tensor maps, which drivers make since CUDA 12, and launches with them: see tensormap.go.

#include <stddef.h>
#include <stdint.h>

void *flashlabDriver(const char *name);

enum { MAP_BYTES = 128, MOST_PARAMETERS = 64 };
enum { NOT_SUPPORTED = 801, NO_INTERLEAVE = 0, PROMOTE_TO_128_BYTES = 2, FILL_WITH_ZEROS = 0 };

int flashlabEncodeTiled(void *map, int element, int rank, uint64_t address, const uint64_t *sizes,
                        const uint64_t *strides, const uint32_t *box, int swizzle) {
    static int (*real)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                       const uint32_t *, const uint32_t *, int, int, int, int);
    static const uint32_t each[5] = {1, 1, 1, 1, 1};
    if (!real)
        real = (int (*)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *,
                        const uint32_t *, const uint32_t *, int, int, int, int))
            flashlabDriver("cuTensorMapEncodeTiled");
    if (!real) return NOT_SUPPORTED;
    return real(map, element, (uint32_t)rank, (void *)address, sizes, strides, box, each,
                NO_INTERLEAVE, swizzle, PROMOTE_TO_128_BYTES, FILL_WITH_ZEROS);
}

// flashlabLaunchMaps launches with arguments of 8 bytes each, or maps, MAP_BYTES apart.
int flashlabLaunchMaps(void *function, unsigned *sizes, unsigned sharedBytes, void *stream,
                       uint64_t *values, int *isMap, void *maps, int count) {
    static int (*real)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       void *, void **, void **);
    if (!real)
        real = (int (*)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, void *, void **, void **))flashlabDriver("cuLaunchKernel");
    if (!real || count > MOST_PARAMETERS) return NOT_SUPPORTED;
    void *parameters[MOST_PARAMETERS];
    for (int i = 0; i < count; i++)
        parameters[i] = isMap[i] ? (char *)maps + MAP_BYTES * i : (char *)&values[i];
    return real(function, sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sharedBytes,
                stream, parameters, NULL);
}
