//go:build cuda

// Graphs, which gorgonia.org/cu has no way to record or to launch. Each function
// is looked up in the driver when it is first needed: the names hold for the
// headers of CUDA 11.8, 12 and 13, whose macros differ, and a program starts with
// a driver that lacks them.

#include <stddef.h>
#include <stdint.h>

void *flashlabDriver(const char *name);

// NOT_SUPPORTED is CUDA_ERROR_NOT_SUPPORTED: the driver has no such function.
enum { SUCCESS = 0, NOT_SUPPORTED = 801 };

// Relaxed: Go may call from another thread each time, and other threads may do
// as they like.
enum { RELAXED = 2 };

int flashlabBeginCapture(void *stream) {
    static int (*real)(void *, int);
    if (!real) real = (int (*)(void *, int))flashlabDriver("cuStreamBeginCapture_v2");
    return real ? real(stream, RELAXED) : NOT_SUPPORTED;
}

int flashlabEndCapture(void *stream, void **graph) {
    static int (*real)(void *, void **);
    if (!real) real = (int (*)(void *, void **))flashlabDriver("cuStreamEndCapture");
    return real ? real(stream, graph) : NOT_SUPPORTED;
}

// Drivers have this since CUDA 11.4; what came before had other parameters.
int flashlabGraphInstantiate(void **started, void *graph) {
    static int (*real)(void **, void *, unsigned long long);
    if (!real)
        real = (int (*)(void **, void *, unsigned long long))flashlabDriver(
            "cuGraphInstantiateWithFlags");
    return real ? real(started, graph, 0) : NOT_SUPPORTED;
}

// flashlabGraphUpdate gives an instantiated graph the nodes of another graph
// that looks alike. Whatever else it answers, the first stays as it was. Since
// CUDA 12 the reasons of a refusal come in a struct; nobody asks for them here.
int flashlabGraphUpdate(void *started, void *graph) {
    static int (*real)(void *, void *, void *);
    static int (*older)(void *, void *, void **, int *);
    if (!real) real = (int (*)(void *, void *, void *))flashlabDriver("cuGraphExecUpdate_v2");
    if (real) {
        uint64_t why[8] = {0}; // CUgraphExecUpdateResultInfo, with room to spare
        return real(started, graph, why);
    }
    if (!older)
        older = (int (*)(void *, void *, void **, int *))flashlabDriver("cuGraphExecUpdate");
    void *node = NULL;
    int why = 0;
    return older ? older(started, graph, &node, &why) : NOT_SUPPORTED;
}

int flashlabGraphLaunch(void *started, void *stream) {
    static int (*real)(void *, void *);
    if (!real) real = (int (*)(void *, void *))flashlabDriver("cuGraphLaunch");
    return real ? real(started, stream) : NOT_SUPPORTED;
}

int flashlabGraphDestroy(void *graph) {
    static int (*real)(void *);
    if (!real) real = (int (*)(void *))flashlabDriver("cuGraphDestroy");
    return real ? real(graph) : NOT_SUPPORTED;
}

int flashlabGraphExecDestroy(void *started) {
    static int (*real)(void *);
    if (!real) real = (int (*)(void *))flashlabDriver("cuGraphExecDestroy");
    return real ? real(started) : NOT_SUPPORTED;
}
