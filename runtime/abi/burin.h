/* The only bridge from the compiler to a program: what a model object exports, as plain C data.
 *
 * Use:   #include "gpt.h"                        // generated; declares  extern const burin_model gpt_model;
 *        gpt_model.entries[0].launches[0].kernel(buffers, launch->args, 0, launch->cells, scratch);
 *
 * Everything here is read-only data with static lifetime. Nothing in it owns, allocates or throws. Valid as C99 and
 * C++. */
#ifndef BURIN_ABI_H
#define BURIN_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever a struct below changes. A runtime refuses a model of another version. */
#define BURIN_ABI_VERSION 3u

/* The buffers that a launch may touch. Sizes are in burin_model.bytes and never change during a run. */
enum burin_buffer {
  BURIN_PARAMETERS = 0, /* f32 master weights, decayed ones first */
  BURIN_GRADIENTS = 1,  /* f32, laid out like the parameters */
  BURIN_STATE = 2,      /* optimizer moments: `moments` copies of the parameters' layout, one after the other */
  BURIN_DERIVED = 3,    /* what `prepare` makes of the parameters: reduced-precision copies, packed panels, tables */
  BURIN_ARENA = 4,      /* activations and scratch between launches; nothing in it outlives an entry */
  BURIN_INPUTS = 5,     /* arguments of an entry, see burin_entry.inputs */
  BURIN_OUTPUTS = 6,    /* results of an entry, see burin_entry.outputs */
  BURIN_NUM_BUFFERS = 7
};

enum burin_dtype { BURIN_F32 = 0, BURIN_I32 = 1, BURIN_BF16 = 2 };

/* How a parameter's stored elements follow from its logical ones. */
enum burin_layout { BURIN_ROW_MAJOR = 0 };

/* How a parameter starts. Draws are made by the runtime from one seed. */
enum burin_init_kind {
  BURIN_INIT_CONSTANT = 0,         /* every element is `mean` */
  BURIN_INIT_NORMAL = 1,           /* N(mean, std^2) */
  BURIN_INIT_TRUNCATED_NORMAL = 2, /* N(mean, std^2), redrawn outside mean +- cut * std */
  BURIN_INIT_UNIFORM = 3           /* uniform in [mean - std, mean + std] */
};

/* Where a model's kernels run. */
enum burin_device_kind { BURIN_CPU = 0, BURIN_CUDA = 1 };

/* Computes the cells [first, last) of one launch on a CPU.
 * buffers: one base pointer for each burin_buffer, 64-byte aligned.
 * args:    for each tensor argument two numbers, (buffer, byte offset); scalars after them.
 * scratch: at least burin_model.scratch_bytes, 64-byte aligned, owned by the calling thread.
 * Cells are independent: any split over threads gives the same bits. */
typedef void (*burin_kernel)(void *const *buffers, const int64_t *args, int64_t first, int64_t last, void *scratch);

/* On a GPU a kernel is the function `kernel_name` of the model's modules. It takes one pointer for each tensor argument
 * (buffer + byte offset, resolved by the runtime), then the number of cells as an int64_t, then a pointer to scratch.
 * It is launched with blocks of `threads` threads on a grid of any size: block b takes the cells b, b + gridDim.x, ...
 * and uses the scratch_bytes at scratch + b * scratch_bytes (256-byte aligned). */
typedef struct burin_launch {
  burin_kernel kernel; /* null in a model for GPUs */
  const char *kernel_name;
  const char *op;    /* what the launch does, in the model's words: "matmul", "attention", "rms_norm + add" */
  const char *place; /* "models/gpt.cpp:41", "" for launches that no model line asked for */
  const int64_t *args;
  int64_t num_args; /* numbers in args */
  int64_t cells;
  double flops; /* of matrix products: 2MNK, causal half only; no element-wise work */
  double bytes; /* read and written at least once */
  /* GPUs only, else 0. */
  int64_t threads;       /* of a block */
  int64_t shared_bytes;  /* of a block's dynamic shared memory */
  int64_t scratch_bytes; /* of a block's scratch in device memory; a multiple of 256, 0 where shared memory does */
} burin_launch;

/* The text of all kernels for one architecture and those after it. */
typedef struct burin_module {
  int64_t compute_capability; /* 80, 90, ...: the least that the text needs */
  int64_t exact;              /* 1: only this one runs it ("sm_90a") */
  const char *text;           /* PTX, zero-terminated */
  int64_t bytes;              /* without the zero */
} burin_module;

/* One argument or result of an entry. */
typedef struct burin_tensor {
  const char *name; /* "tokens", "targets", "positions", "loss_scale", ... */
  int32_t dtype;    /* burin_dtype */
  int32_t rank;     /* 0 for a scalar */
  const int64_t *shape;
  int32_t buffer; /* BURIN_INPUTS or BURIN_OUTPUTS */
  int32_t reserved;
  int64_t offset; /* bytes */
  int64_t bytes;
  int64_t lower, upper; /* integers must lie in [lower, upper); lower == upper means unchecked */
} burin_tensor;

/* One thing that the model can do: "step", "loss", "logits", "update", "prepare". Launches run in order. */
typedef struct burin_entry {
  const char *name;
  const burin_launch *launches;
  int64_t num_launches;
  const burin_tensor *inputs;
  int64_t num_inputs;
  const burin_tensor *outputs;
  int64_t num_outputs;
  int64_t batch, length;            /* of tokens; 0 where the entry takes none */
  int64_t bytes[BURIN_NUM_BUFFERS]; /* of each buffer that this entry touches, 0 where it touches none */
  double flops;                     /* sum over the launches */
} burin_entry;

/* What the products of a forward pass are for. */
enum burin_flop_kind {
  BURIN_FLOPS_PROJECTIONS, /* into and out of attention */
  BURIN_FLOPS_FEED_FORWARD,
  BURIN_FLOPS_ATTENTION, /* scores, and probabilities times values */
  BURIN_FLOPS_HEAD,
  BURIN_NUM_FLOP_KINDS
};

typedef struct burin_parameter {
  const char *name; /* "layers.0.attn.q_proj.weight" */
  const char *place;
  int32_t rank;
  int32_t stored_rank;
  const int64_t *shape;        /* logical: what checkpoints hold */
  const int64_t *stored_shape; /* in the buffer */
  int32_t layout;              /* burin_layout */
  int32_t decay;               /* 1: weight decay applies */
  int64_t offset;              /* bytes into BURIN_PARAMETERS and BURIN_GRADIENTS; a multiple of 64 */
  int64_t bytes;               /* stored */
  int32_t init;                /* burin_init_kind */
  int32_t reserved;
  double mean, std, cut;
} burin_parameter;

typedef struct burin_model {
  uint32_t abi_version; /* BURIN_ABI_VERSION */
  uint32_t struct_size; /* sizeof(burin_model) where the object was made */
  const char *name;
  const char *dtype; /* of what products take: "f32" or "bf16"; everything is stored in f32 */
  int32_t device;    /* burin_device_kind */
  int32_t reserved;
  const char *cpu;      /* "znver4", "x86-64-v3", ...; "sm_80" for GPUs */
  const char *features; /* what the machine must have, comma separated, as in /proc/cpuinfo: "avx512f,fma" */
  const char *source_revision;
  const burin_entry *entries;
  int64_t num_entries;
  const burin_parameter *parameters;
  int64_t num_parameters;
  int64_t moments;                  /* optimizer moments per parameter: 2 for AdamW */
  int64_t parameter_count;          /* logical elements, ties counted once */
  int64_t vocab;                    /* ids are in [0, vocab); 0 for a model without tokens */
  int64_t bytes[BURIN_NUM_BUFFERS]; /* the greatest over the entries */
  int64_t scratch_bytes;            /* per thread; GPUs: see burin_launch */
  const burin_module *modules;      /* GPUs only */
  int64_t num_modules;
  double flops_per_step; /* of the entry "step" */
  /* Of a batch's products, attention counted in full; a step is three times that. */
  int64_t forward_flops[BURIN_NUM_FLOP_KINDS];
} burin_model;

#ifdef __cplusplus
}
#endif
#endif
