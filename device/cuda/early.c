//go:build cuda

// Launches with an attribute: those that may begin before the one ahead of them is done,
// cooperative ones, and those of clusters. See early.go.

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
        unsigned cluster[3];
    } value;
} Attribute;

typedef struct {
    unsigned grid[3], block[3], sharedBytes;
    void *stream;
    Attribute *attributes;
    unsigned attributeCount;
} Config;

enum { MAP_BYTES = 128, CLUSTER_DIMENSION = 4 };

// flashlabLaunchWith launches with one attribute: sizes are the grid's, a block's and a cluster's;
// arguments are 8 bytes each, or maps, MAP_BYTES apart.
int flashlabLaunchWith(int attribute, void *function, unsigned *sizes, unsigned sharedBytes,
                       void *stream, uint64_t *values, int *isMap, void *maps, int count) {
    static int (*real)(const Config *, void *, void **, void **);
    if (!real)
        real = (int (*)(const Config *, void *, void **, void **))flashlabDriver(
            "cuLaunchKernelEx");
    if (!real || count > MOST_PARAMETERS) return NOT_SUPPORTED;
    Attribute one = {.id = attribute, .value.allowed = 1};
    if (attribute == CLUSTER_DIMENSION)
        for (int i = 0; i < 3; i++) one.value.cluster[i] = sizes[6 + i];
    Config config = {{sizes[0], sizes[1], sizes[2]}, {sizes[3], sizes[4], sizes[5]}, sharedBytes,
                     stream, &one, 1};
    void *parameters[MOST_PARAMETERS];
    for (int i = 0; i < count; i++)
        parameters[i] = isMap[i] ? (char *)maps + MAP_BYTES * i : (char *)&values[i];
    return real(&config, function, parameters, NULL);
}
