/* The ABI and the C interface compile as C99 and train a model without the command line. */
#include <burin_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/toy_model.h"

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s failed; last message: %s\n", __FILE__, __LINE__, #condition, burin_last_message());   \
      exit(1);                                                                                                         \
    }                                                                                                                  \
  } while (0)

enum { ROWS = TOY_BATCH * TOY_LENGTH };

static burin_device *device;

static void set(const char *entry, const char *name, const void *data, size_t bytes) {
  EXPECT(burin_set_input(device, entry, name, data, bytes) == BURIN_OK);
}

static void setNumber(const char *entry, const char *name, float value) { set(entry, name, &value, sizeof value); }

static float trainStep(int update) {
  int32_t tokens[ROWS], targets[ROWS], positions[TOY_LENGTH];
  for (int i = 0; i < ROWS; ++i)
    tokens[i] = 32 + i % 7, targets[i] = 32 + (i + 1) % 7;
  for (int i = 0; i < TOY_LENGTH; ++i)
    positions[i] = i;
  set("step", "tokens", tokens, sizeof tokens);
  set("step", "targets", targets, sizeof targets);
  set("step", "positions", positions, sizeof positions);
  setNumber("step", "loss_scale", 1.0f / ROWS);
  setNumber("step", "accumulate", 0);
  EXPECT(burin_run(device, "step") == BURIN_OK);
  float loss = 0, norm = 0;
  EXPECT(burin_get_output(device, "step", "loss", &loss, sizeof loss) == BURIN_OK);

  double power1 = 1, power2 = 1;
  for (int i = 0; i < update; ++i)
    power1 *= 0.9, power2 *= 0.95;
  setNumber("update", "lr", 0.1f);
  setNumber("update", "beta1", 0.9f);
  setNumber("update", "beta2", 0.95f);
  setNumber("update", "eps", 1e-8f);
  setNumber("update", "weight_decay", 0);
  setNumber("update", "clip", 1);
  setNumber("update", "correction1", (float)(1 - power1));
  setNumber("update", "correction2", (float)(1 - power2));
  EXPECT(burin_run(device, "update") == BURIN_OK);
  EXPECT(burin_get_output(device, "update", "grad_norm", &norm, sizeof norm) == BURIN_OK);
  EXPECT(norm > 0);
  return loss / ROWS;
}

static void trains(void) {
  EXPECT(burin_initialize(device, 1) == BURIN_OK);
  float first = trainStep(1), last = first;
  for (int step = 2; step <= 60; ++step)
    last = trainStep(step);
  EXPECT(first > 4 && last < 0.5f);
}

static void readsAndWritesParameters(void) {
  float bias[128], back[128], gradient[128];
  for (int i = 0; i < 128; ++i)
    bias[i] = (float)i;
  EXPECT(burin_set_parameter(device, "bias", bias, 128) == BURIN_OK);
  EXPECT(burin_run(device, "prepare") == BURIN_OK);
  EXPECT(burin_get_parameter(device, "bias", back, 128) == BURIN_OK);
  EXPECT(!memcmp(bias, back, sizeof bias));
  EXPECT(burin_get_gradient(device, "bias", gradient, 128) == BURIN_OK);
  EXPECT(burin_buffer_data(device, BURIN_PARAMETERS) != NULL);
  EXPECT(burin_buffer_data(device, BURIN_NUM_BUFFERS) == NULL);
}

/* What is wrong comes back as a status and one line of text. */
static void refuses(burin_status status, const char *message) {
  EXPECT(status == BURIN_FAILED);
  EXPECT(strstr(burin_last_message(), message));
}

static void reportsMistakes(void) {
  int32_t tokens[ROWS] = {0};
  float number = 0;
  refuses(burin_run(device, "decode"), "model 'toy' has no entry 'decode'");
  refuses(burin_run(device, NULL), "entry is NULL");
  refuses(burin_run(NULL, "step"), "device is NULL");
  refuses(burin_set_input(device, "step", "seed", &number, 4), "entry 'step' of model 'toy' has no input 'seed'");
  refuses(burin_set_input(device, "step", "tokens", tokens, 4), "'tokens' has 256 bytes, the caller gives 4");
  refuses(burin_get_output(device, "step", "logits", &number, 4), "no output 'logits'");
  refuses(burin_get_parameter(device, "head", &number, 1), "model 'toy' has no parameter 'head'");
  refuses(burin_set_parameter(device, "bias", &number, 1), "'bias' has 128 elements, the caller gives 1");
  tokens[18] = 128;
  set("loss", "tokens", tokens, sizeof tokens);
  refuses(burin_run(device, "loss"), "tokens[1, 2] is 128, but must be at least 0 and less than 128");
}

static void refusesModels(void) {
  burin_device *other = device;
  burin_model model = toy_model;
  model.abi_version = 99;
  refuses(burin_create(&model, 1, &other), "the model object has ABI version 99");
  EXPECT(other == NULL);
  model = toy_model;
  model.features = "fpu,warp_drive";
  refuses(burin_create(&model, 1, &other), "needs warp_drive, which this machine");
  refuses(burin_create(&toy_model, -1, &other), "-1 threads asked for");
  refuses(burin_create(NULL, 1, &other), "model is NULL");
}

int main(void) {
  EXPECT(burin_create(&toy_model, 2, &device) == BURIN_OK);
  trains();
  readsAndWritesParameters();
  reportsMistakes();
  refusesModels();
  burin_destroy(device);
  burin_destroy(NULL);
  return 0;
}
