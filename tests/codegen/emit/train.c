/* Training steps from C through the generated header and libburin_runtime alone: the model learns one batch by heart.
 * Prints the first and the last loss; fails where the last is not much smaller. */
#include <burin_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tiny.h"

static void try_to(burin_status status) {
  if (status == BURIN_OK)
    return;
  fprintf(stderr, "error: %s\n", burin_last_message());
  exit(1);
}

static void set(burin_device *device, const char *entry, const char *name, float value) {
  try_to(burin_set_input(device, entry, name, &value, sizeof value));
}

int main(void) {
  enum { batch = TINY_BATCH, length = TINY_LENGTH, steps = 60 };
  static int32_t tokens[batch * length], targets[batch * length], positions[length];
  for (int i = 0; i < batch * length; ++i) {
    tokens[i] = i * 7 % TINY_VOCAB;
    targets[i] = (i + 1) * 7 % TINY_VOCAB;
  }
  for (int i = 0; i < length; ++i)
    positions[i] = i;

  burin_device *device;
  try_to(burin_create(&tiny_model, 1, &device));
  try_to(burin_initialize(device, 42));
  float first = 0, loss = 0, norm = 0;
  for (int step = 1; step <= steps; ++step) {
    try_to(burin_set_input(device, "step", "tokens", tokens, sizeof tokens));
    try_to(burin_set_input(device, "step", "positions", positions, sizeof positions));
    try_to(burin_set_input(device, "step", "targets", targets, sizeof targets));
    set(device, "step", "loss_scale", 1.0f / (batch * length));
    set(device, "step", "accumulate", 0);
    try_to(burin_run(device, "step"));
    try_to(burin_get_output(device, "step", "loss", &loss, sizeof loss));
    loss /= batch * length;
    if (step == 1)
      first = loss;
    set(device, "update", "lr", 1e-2f);
    set(device, "update", "beta1", 0.9f);
    set(device, "update", "beta2", 0.95f);
    set(device, "update", "eps", 1e-8f);
    set(device, "update", "weight_decay", 0.1f);
    set(device, "update", "clip", 1.0f);
    set(device, "update", "correction1", 1 - powf(0.9f, (float)step));
    set(device, "update", "correction2", 1 - powf(0.95f, (float)step));
    try_to(burin_run(device, "update"));
    try_to(burin_get_output(device, "update", "grad_norm", &norm, sizeof norm));
  }
  burin_destroy(device);
  printf("%.9g %.9g\n", first, loss);
  return loss < 0.1f * first ? 0 : 1;
}
