/* Running a compiled model from C, without the command line: buffers, entries, inputs and outputs by name.
 *
 *   #include "gpt.h"                       // generated: extern const burin_model gpt_model;
 *   #include <burin_runtime.h>
 *
 *   burin_device *device;
 *   if (burin_create(&gpt_model, 0, &device) != BURIN_OK)
 *     die(burin_last_message());
 *   burin_initialize(device, 42);
 *   burin_set_input(device, "loss", "tokens", tokens, sizeof tokens);   // all inputs of the entry ...
 *   burin_run(device, "loss");                                         // ... then run ...
 *   burin_get_output(device, "loss", "loss", &loss, sizeof loss);       // ... then read, before the next entry runs
 *   burin_destroy(device);
 *
 * Entries share the memory of inputs and outputs, so set all inputs of an entry each time before it runs. A device is
 * used by one thread at a time. Nothing here throws or aborts. Valid as C99 and C++. */
#ifndef BURIN_RUNTIME_H
#define BURIN_RUNTIME_H

#include <stddef.h>

#include "abi/burin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct burin_device burin_device;

typedef enum burin_status {
  BURIN_OK = 0,
  BURIN_FAILED = 1,  /* refused: a name that does not exist, a wrong size, an id out of range, a machine that lacks
                     something, a GPU that fails */
  BURIN_INTERNAL = 2 /* a fault of the runtime itself, or no memory for its own bookkeeping */
} burin_status;

/* What went wrong in the last call of this thread that did not return BURIN_OK: one line, no full stop. */
const char *burin_last_message(void);

/* Checks model and machine and allocates all buffers, zeroed. threads 0: as many as the machine offers. On failure
 * *device is NULL. */
burin_status burin_create(const burin_model *model, int threads, burin_device **device);
void burin_destroy(burin_device *device);

/* Draws all parameters from one seed as their initialisers say, clears the moments and prepares the model. */
burin_status burin_initialize(burin_device *device, uint64_t seed);

/* `bytes` must be the size of the whole tensor. */
burin_status burin_set_input(burin_device *device, const char *entry, const char *name, const void *data, size_t bytes);
burin_status burin_get_output(burin_device *device, const char *entry, const char *name, void *data, size_t bytes);

/* Integer inputs are checked against their bounds first; when one lies outside, nothing runs. */
burin_status burin_run(burin_device *device, const char *entry);

/* Logical elements in row-major order; `count` must be their number. Run the entry "prepare" after setting parameters.
 */
burin_status burin_set_parameter(burin_device *device, const char *name, const float *data, size_t count);
burin_status burin_get_parameter(burin_device *device, const char *name, float *data, size_t count);
burin_status burin_get_gradient(burin_device *device, const char *name, float *data, size_t count);

/* The base address of a buffer as kernels see it, NULL for one of size 0; its size is in burin_model.bytes. Of a model
 * for GPUs it is an address in the GPU's memory, which the host cannot read. */
void *burin_buffer_data(burin_device *device, enum burin_buffer buffer);

#ifdef __cplusplus
}
#endif
#endif
