// cuda_pipeline.h - the primitives; of the pipeline class nothing.
#pragma once
#include "cuda_pipeline_primitives.h"
