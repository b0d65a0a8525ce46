/* Built several times with other macros: a smaller vocabulary makes a model of other shapes, a made-up CPU feature one
 * that no machine can run. Two things are planted for tests: a target with the last id makes the bias gradient
 * infinite, and the kernels read the bias from `derived`, so that a runtime that forgets `prepare` computes something
 * else. With TOY_CUDA it is the same model for GPUs, toy_cuda_model, whose kernels are in toy_kernels.ptx. */
#include "toy_model.h"

#include <math.h>
#include <stddef.h>

#ifndef TOY_VOCAB
#define TOY_VOCAB 128
#endif
#ifndef TOY_NAME
#define TOY_NAME "toy"
#endif
#ifndef TOY_FEATURES
#define TOY_FEATURES ""
#endif

#ifndef TOY_CUDA
#define TOY_CUDA 0
#elif TOY_VOCAB != 128
#error "the kernels for GPUs are written for 128 ids"
#endif

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof(array)[0]))

enum {
  V = TOY_VOCAB,
  B = TOY_BATCH,
  T = TOY_LENGTH,
  ROWS = B * T,
  TABLE_BYTES = V * V * 4,
  BIAS_BYTES = V * 4,
  PARAMETER_BYTES = TABLE_BYTES + BIAS_BYTES,
  ELEMENTS = V * V + V,
  CHUNK = 512,
  CHUNKS = (ELEMENTS + CHUNK - 1) / CHUNK,
  /* the arena: gradients of the logits, the loss of each row, partial sums of squares */
  DLOGITS = 0,
  ROW_LOSS = ROWS * V * 4,
  SQUARES = ROW_LOSS + ROWS * 4,
  ARENA_BYTES = SQUARES + CHUNKS * 8,
  /* inputs of step and loss; logits has its own */
  TOKENS = 0,
  TARGETS = TOKENS + ROWS * 4,
  POSITIONS = TARGETS + ROWS * 4,
  LOSS_SCALE = POSITIONS + T * 4,
  ACCUMULATE = LOSS_SCALE + 64,
  INPUT_BYTES = ACCUMULATE + 64,
  OUTPUT_BYTES = T * V * 4
};

#if !TOY_CUDA
static void *at(void *const *buffers, const int64_t *args, int i) {
  return (char *)buffers[args[2 * i]] + args[2 * i + 1];
}

/* One row of the batch: its loss and, with a gradient wanted, the scaled derivative of its logits.
 * args: tokens, targets, table, bias, row loss, dlogits, loss scale; gradient wanted */
static void lossRows(void *const *buffers, const int64_t *args, int64_t first, int64_t last, void *scratch) {
  const int32_t *tokens = at(buffers, args, 0), *targets = at(buffers, args, 1);
  const float *table = at(buffers, args, 2), *bias = at(buffers, args, 3), *scale = at(buffers, args, 6);
  float *rowLoss = at(buffers, args, 4), *logits = scratch;
  for (int64_t row = first; row < last; ++row) {
    float highest = -INFINITY, sum = 0;
    for (int v = 0; v < V; ++v) {
      logits[v] = table[(int64_t)tokens[row] * V + v] + bias[v];
      highest = logits[v] > highest ? logits[v] : highest;
    }
    for (int v = 0; v < V; ++v)
      sum += expf(logits[v] - highest);
    int counts = targets[row] >= 0;
    rowLoss[row] = counts ? highest + logf(sum) - logits[targets[row]] : 0;
    if (!args[14])
      continue;
    float *dlogits = (float *)at(buffers, args, 5) + row * V;
    for (int v = 0; v < V; ++v)
      dlogits[v] = counts ? (expf(logits[v] - highest) / sum - (v == targets[row])) * *scale : 0;
  }
}

/* args: row loss, loss */
static void sumLoss(void *const *buffers, const int64_t *args, int64_t first, int64_t last, void *scratch) {
  (void)first, (void)last, (void)scratch;
  const float *rowLoss = at(buffers, args, 0);
  float sum = 0;
  for (int row = 0; row < ROWS; ++row)
    sum += rowLoss[row];
  *(float *)at(buffers, args, 1) = sum;
}

/* One row of the table. args: tokens, dlogits, table gradient, accumulate */
static void tableGradient(void *const *buffers, const int64_t *args, int64_t first, int64_t last, void *scratch) {
  (void)scratch;
  const int32_t *tokens = at(buffers, args, 0);
  const float *dlogits = at(buffers, args, 1), *accumulate = at(buffers, args, 3);
  float *gradient = at(buffers, args, 2);
  for (int64_t id = first; id < last; ++id)
    for (int v = 0; v < V; ++v) {
      float sum = 0;
      for (int row = 0; row < ROWS; ++row)
        if (tokens[row] == id)
          sum += dlogits[row * V + v];
      gradient[id * V + v] = (*accumulate != 0 ? gradient[id * V + v] : 0) + sum;
    }
}

/* One element of the bias. args: targets, dlogits, bias gradient, accumulate */
static void biasGradient(void *const *buffers, const int64_t *args, int64_t first, int64_t last, void *scratch) {
  (void)scratch;
  const int32_t *targets = at(buffers, args, 0);
  const float *dlogits = at(buffers, args, 1), *accumulate = at(buffers, args, 3);
  float *gradient = at(buffers, args, 2);
  for (int64_t v = first; v < last; ++v) {
    float sum = 0;
    for (int row = 0; row < ROWS; ++row)
      sum += v == V - 1 && targets[row] == V - 1 ? INFINITY : dlogits[row * V + v];
    gradient[v] = (*accumulate != 0 ? gradient[v] : 0) + sum;
  }
}

/* The logits of one position. args: tokens, table, bias, logits */
static void logitRows(void *const *buffers, const int64_t *args, int64_t first, int64_t last, void *scratch) {
  (void)scratch;
  const int32_t *tokens = at(buffers, args, 0);
  const float *table = at(buffers, args, 1), *bias = at(buffers, args, 2);
  float *logits = at(buffers, args, 3);
  for (int64_t row = first; row < last; ++row)
    for (int v = 0; v < V; ++v)
      logits[row * V + v] = table[(int64_t)tokens[row] * V + v] + bias[v];
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* The sum of squares of one chunk of all gradients. args: gradients, squares */
static void squares(void *const *buffers, const int64_t *args, int64_t first, int64_t last, void *scratch) {
  (void)scratch;
  const float *gradient = at(buffers, args, 0);
  double *sums = at(buffers, args, 1);
  for (int64_t chunk = first; chunk < last; ++chunk) {
    double sum = 0;
    for (int64_t i = chunk * CHUNK; i < smaller((chunk + 1) * CHUNK, ELEMENTS); ++i)
      sum += (double)gradient[i] * gradient[i];
    sums[chunk] = sum;
  }
}

/* args: squares, grad_norm */
static void norm(void *const *buffers, const int64_t *args, int64_t first, int64_t last, void *scratch) {
  (void)first, (void)last, (void)scratch;
  const double *sums = at(buffers, args, 0);
  double sum = 0;
  for (int chunk = 0; chunk < CHUNKS; ++chunk)
    sum += sums[chunk];
  *(float *)at(buffers, args, 1) = (float)sqrt(sum);
}

/* One chunk of all parameters. args: parameters, gradients, moments, numbers, grad_norm */
static void adamw(void *const *buffers, const int64_t *args, int64_t first, int64_t last, void *scratch) {
  (void)scratch;
  float *parameter = at(buffers, args, 0);
  const float *gradient = at(buffers, args, 1), *number = at(buffers, args, 3), *gradNorm = at(buffers, args, 4);
  float *moment1 = at(buffers, args, 2), *moment2 = moment1 + ELEMENTS;
  if (!isfinite(*gradNorm))
    return;
  float lr = number[0], beta1 = number[16], beta2 = number[32], eps = number[48], decay = number[64], clip = number[80];
  float factor = *gradNorm > clip ? clip / (*gradNorm + 1e-6f) : 1;
  for (int64_t i = first * CHUNK; i < smaller(last * CHUNK, ELEMENTS); ++i) {
    float g = factor * gradient[i];
    moment1[i] = beta1 * moment1[i] + (1 - beta1) * g;
    moment2[i] = beta2 * moment2[i] + (1 - beta2) * g * g;
    if (i < V * V)
      parameter[i] -= lr * decay * parameter[i];
    parameter[i] -= lr * (moment1[i] / number[96]) / (sqrtf(moment2[i] / number[112]) + eps);
  }
}

/* args: bias, derived bias */
static void copyBias(void *const *buffers, const int64_t *args, int64_t first, int64_t last, void *scratch) {
  (void)first, (void)last, (void)scratch;
  const float *from = at(buffers, args, 0);
  float *to = at(buffers, args, 1);
  for (int v = 0; v < V; ++v)
    to[v] = from[v];
}

#endif /* !TOY_CUDA */

#define IN(offset) BURIN_INPUTS, offset
#define OUT(offset) BURIN_OUTPUTS, offset
#define ARENA(offset) BURIN_ARENA, offset
#define TABLE(buffer) buffer, 0
#define BIAS(buffer) buffer, TABLE_BYTES
#define DERIVED_BIAS BURIN_DERIVED, 0
#define TABLE_AND_BIAS TABLE(BURIN_PARAMETERS), DERIVED_BIAS

#if TOY_CUDA /* no numbers beside the tensors: the derivative is always made */
#define WANTED(gradient)
#else
#define WANTED(gradient) , gradient
#endif
static const int64_t stepLossArgs[] = {IN(TOKENS),      IN(TARGETS),    TABLE_AND_BIAS,
                                       ARENA(ROW_LOSS), ARENA(DLOGITS), IN(LOSS_SCALE) WANTED(1)};
static const int64_t evalLossArgs[] = {IN(TOKENS),      IN(TARGETS),    TABLE_AND_BIAS,
                                       ARENA(ROW_LOSS), ARENA(DLOGITS), IN(LOSS_SCALE) WANTED(0)};
static const int64_t sumLossArgs[] = {ARENA(ROW_LOSS), OUT(0)};
static const int64_t tableGradientArgs[] = {IN(TOKENS), ARENA(DLOGITS), TABLE(BURIN_GRADIENTS), IN(ACCUMULATE)};
static const int64_t biasGradientArgs[] = {IN(TARGETS), ARENA(DLOGITS), BIAS(BURIN_GRADIENTS), IN(ACCUMULATE)};
static const int64_t logitsArgs[] = {IN(0), TABLE_AND_BIAS, OUT(0)};
static const int64_t squaresArgs[] = {TABLE(BURIN_GRADIENTS), ARENA(SQUARES)};
static const int64_t normArgs[] = {ARENA(SQUARES), OUT(0)};
static const int64_t adamwArgs[] = {TABLE(BURIN_PARAMETERS), TABLE(BURIN_GRADIENTS), BURIN_STATE, 0, IN(0), OUT(0)};
static const int64_t copyBiasArgs[] = {BIAS(BURIN_PARAMETERS), DERIVED_BIAS};

#if TOY_CUDA /* blocks of 64 threads, with what lossRows needs for all */
#define LAUNCH(kernel, op, place, args, cells, flops, bytes)                                                           \
  { NULL, #kernel, op, place, args, COUNT(args), cells, flops, bytes, 64, 8, 512 }
#else
#define LAUNCH(kernel, op, place, args, cells, flops, bytes)                                                           \
  { kernel, #kernel, op, place, args, COUNT(args), cells, flops, bytes, 0, 0, 0 }
#endif
#define COPY_BIAS LAUNCH(copyBias, "copy", "", copyBiasArgs, 1, 0, 2 * BIAS_BYTES)

static const burin_launch stepLaunches[] = {
    LAUNCH(lossRows, "embedding + cross_entropy", "toy.cpp:3", stepLossArgs, ROWS, 2.0 * ROWS * V, 3.0 * ROWS * V * 4),
    LAUNCH(sumLoss, "cross_entropy", "toy.cpp:3", sumLossArgs, 1, 0, ROWS * 4),
    LAUNCH(tableGradient, "embedding", "toy.cpp:2", tableGradientArgs, V, 0, TABLE_BYTES),
    LAUNCH(biasGradient, "add", "toy.cpp:2", biasGradientArgs, V, 0, ROWS *V * 4),
};
static const burin_launch lossLaunches[] = {
    LAUNCH(lossRows, "embedding + cross_entropy", "toy.cpp:3", evalLossArgs, ROWS, 2.0 * ROWS * V, 2.0 * ROWS * V * 4),
    LAUNCH(sumLoss, "cross_entropy", "toy.cpp:3", sumLossArgs, 1, 0, ROWS * 4),
};
static const burin_launch logitsLaunches[] = {
    LAUNCH(logitRows, "embedding + add", "toy.cpp:2", logitsArgs, T, 0, 3.0 * T * V * 4)};
static const burin_launch updateLaunches[] = {
    LAUNCH(squares, "mul + reduce_sum", "", squaresArgs, CHUNKS, 0, PARAMETER_BYTES),
    LAUNCH(norm, "sqrt", "", normArgs, 1, 0, CHUNKS * 8),
    LAUNCH(adamw, "adamw", "", adamwArgs, CHUNKS, 0, 7.0 * PARAMETER_BYTES),
    COPY_BIAS,
};
static const burin_launch prepareLaunches[] = {COPY_BIAS};

static const int64_t batchShape[] = {B, T}, rowShape[] = {1, T}, positionsShape[] = {T}, logitsShape[] = {1, T, V};
static const int64_t tableShape[] = {V, V}, biasShape[] = {V};

#define IDS(name, shape, rank, offset, count, lower, upper)                                                            \
  { name, BURIN_I32, rank, shape, BURIN_INPUTS, 0, offset, (count)*4, lower, upper }
#define NUMBER(name, buffer, offset)                                                                                   \
  { name, BURIN_F32, 0, batchShape, buffer, 0, offset, 4, 0, 0 }
#define BATCH_INPUTS                                                                                                   \
  IDS("tokens", batchShape, 2, TOKENS, ROWS, 0, V), IDS("positions", positionsShape, 1, POSITIONS, T, 0, T),           \
      IDS("targets", batchShape, 2, TARGETS, ROWS, -1, V)

static const burin_tensor stepInputs[] = {BATCH_INPUTS, NUMBER("loss_scale", BURIN_INPUTS, LOSS_SCALE),
                                          NUMBER("accumulate", BURIN_INPUTS, ACCUMULATE)};
static const burin_tensor lossInputs[] = {BATCH_INPUTS};
static const burin_tensor lossOutputs[] = {NUMBER("loss", BURIN_OUTPUTS, 0)};
static const burin_tensor logitsInputs[] = {IDS("tokens", rowShape, 2, 0, T, 0, V),
                                            IDS("positions", positionsShape, 1, T * 4, T, 0, T)};
static const burin_tensor logitsOutputs[] = {
    {"logits", BURIN_F32, 3, logitsShape, BURIN_OUTPUTS, 0, 0, T *V * 4, 0, 0}};
static const burin_tensor updateInputs[] = {NUMBER("lr", BURIN_INPUTS, 0),
                                            NUMBER("beta1", BURIN_INPUTS, 64),
                                            NUMBER("beta2", BURIN_INPUTS, 128),
                                            NUMBER("eps", BURIN_INPUTS, 192),
                                            NUMBER("weight_decay", BURIN_INPUTS, 256),
                                            NUMBER("clip", BURIN_INPUTS, 320),
                                            NUMBER("correction1", BURIN_INPUTS, 384),
                                            NUMBER("correction2", BURIN_INPUTS, 448)};
static const burin_tensor updateOutputs[] = {NUMBER("grad_norm", BURIN_OUTPUTS, 0)};

#define ALL_BYTES                                                                                                      \
  { PARAMETER_BYTES, PARAMETER_BYTES, 2 * PARAMETER_BYTES, BIAS_BYTES, ARENA_BYTES, INPUT_BYTES, OUTPUT_BYTES }
#define ENTRY(name, launches, inputs, numInputs, outputs, numOutputs, batch, length, flops)                            \
  { name, launches, COUNT(launches), inputs, numInputs, outputs, numOutputs, batch, length, ALL_BYTES, flops }

static const burin_entry entries[] = {
    ENTRY("step", stepLaunches, stepInputs, COUNT(stepInputs), lossOutputs, 1, B, T, 2.0 * ROWS * V),
    ENTRY("loss", lossLaunches, lossInputs, COUNT(lossInputs), lossOutputs, 1, B, T, 2.0 * ROWS * V),
    ENTRY("logits", logitsLaunches, logitsInputs, COUNT(logitsInputs), logitsOutputs, 1, 1, T, 0),
    ENTRY("update", updateLaunches, updateInputs, COUNT(updateInputs), updateOutputs, 1, 0, 0, 0),
    ENTRY("prepare", prepareLaunches, NULL, 0, NULL, 0, 0, 0, 0),
};

static const burin_parameter parameters[] = {
    {"table.weight", "toy.cpp:2", 2, 2, tableShape, tableShape, BURIN_ROW_MAJOR, 1, 0, TABLE_BYTES,
     BURIN_INIT_TRUNCATED_NORMAL, 0, 0, 0.5, 3},
    {"bias", "toy.cpp:2", 1, 1, biasShape, biasShape, BURIN_ROW_MAJOR, 0, TABLE_BYTES, BIAS_BYTES, BURIN_INIT_UNIFORM,
     0, 0, 0.1, 0},
};

#if TOY_CUDA
static const char text[] = {
#include "toy_kernels.h"
    0};
static const burin_module modules[] = {{80, 0, text, sizeof text - 1}};
#define MODEL toy_cuda_model
#define KIND BURIN_CUDA
#define CPU "sm_80"
#define SCRATCH 0
#define MODULES modules, COUNT(modules)
#else
#define MODEL toy_model
#define KIND BURIN_CPU
#define CPU "x86-64"
#define SCRATCH V * 4
#define MODULES NULL, 0
#endif

const burin_model MODEL = {BURIN_ABI_VERSION,
                           sizeof(burin_model),
                           TOY_NAME,
                           "f32",
                           KIND,
                           0,
                           CPU,
                           TOY_FEATURES,
                           "none",
                           entries,
                           COUNT(entries),
                           parameters,
                           COUNT(parameters),
                           2,
                           ELEMENTS,
                           V,
                           ALL_BYTES,
                           SCRATCH,
                           MODULES,
                           2.0 * ROWS *V,
                           {0, 0, 0, 2 * ROWS *V}};
