// cuda_pipeline.h - copies into shared memory that go on by themselves. Before gfx950 no AMD GPU
// has any for 16 bytes: here a thread copies at once, and there is nothing to wait for.
#pragma once
#include <cuda_pipeline_primitives.h>
