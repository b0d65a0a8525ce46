/* A model object written by hand: what the compiler would emit for a bigram model, so that the runtime is tested
 * without a compiler. The logits of a token are its row of a table plus a bias; kernels are plain loops. */
#ifndef TOY_MODEL_H
#define TOY_MODEL_H

#include "abi/burin.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TOY_BATCH = 4, TOY_LENGTH = 16 };

extern const burin_model toy_model, toy_cuda_model;

#ifdef __cplusplus
}
#endif
#endif
