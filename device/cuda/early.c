//go:build cuda

// Launches with an attribute: those that may begin before the one ahead of them is done, and
// cooperative ones. See early.go.

#include <stddef.h>
#include <stdint.h>

void *flashlabDriver(const char *name);

enum { NOT_SUPPORTED = 801, MOST_PARAMETERS = 64 };

// CUlaunchAttribute and CUlaunchConfig, which cuda.h has since CUDA 11.8.
typedef struct {
    int id;
    char pad[4];
    union {
        char room[64];
        int allowed;
    } value;
} Attribute;

typedef struct {
    unsigned grid[3], block[3], sharedBytes;
    void *stream;
    Attribute *attributes;
    unsigned attributeCount;
} Config;

enum { COOPERATIVE = 2, PROGRAMMATIC_STREAM_SERIALIZATION = 6 };

// flashlabLaunchWith launches with the arguments in values, 8 bytes each.
int flashlabLaunchWith(int cooperative, void *function, unsigned *sizes, unsigned sharedBytes,
                       void *stream, uint64_t *values, int count) {
    static int (*real)(const Config *, void *, void **, void **);
    if (!real)
        real = (int (*)(const Config *, void *, void **, void **))flashlabDriver(
            "cuLaunchKernelEx");
    if (!real || count > MOST_PARAMETERS) return NOT_SUPPORTED;
    Attribute one = {.id = cooperative ? COOPERATIVE : PROGRAMMATIC_STREAM_SERIALIZATION,
                     .value.allowed = 1};
    Config config = {{sizes[0], sizes[1], sizes[2]}, {sizes[3], sizes[4], sizes[5]}, sharedBytes,
                     stream, &one, 1};
    void *parameters[MOST_PARAMETERS];
    for (int i = 0; i < count; i++) parameters[i] = &values[i];
    return real(&config, function, parameters, NULL);
}
