// The program that a build makes for each model, here for the toy model: for the CPU, for GPUs, or both.
#include <cli/cli.h>

#include "toy_model.h"

#if defined(TOY_BOTH)
int main(int argc, char **argv) { return burin::cliMain({&toy_model, &toy_cuda_model}, argc, argv); }
#elif defined(TOY_CUDA)
int main(int argc, char **argv) { return burin::cliMain(toy_cuda_model, argc, argv); }
#else
int main(int argc, char **argv) { return burin::cliMain(toy_model, argc, argv); }
#endif
