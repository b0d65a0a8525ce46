// The command line that every compiled model shares. A program is this:
//
//   #include <cli/cli.h>
//   #include "gpt.h"
//   int main(int argc, char **argv) { return burin::cliMain(gpt_model, argc, argv); }
#pragma once
#include <initializer_list>

#include "abi/burin.h"

namespace burin {

// MODEL train | eval | generate | info | bench, or for a regression `plot` instead of `generate`. Catches every error
// and prints it as one line `error: ...` on standard error. Returns 0, 1 for a failure, 2 for a wrong command line, or
// 128 + the signal that ended a training run early.
int cliMain(const burin_model &model, int argc, char **argv);

// The same of a program with code for the CPU and for GPUs: one model for each, which --device chooses from.
int cliMain(std::initializer_list<const burin_model *> models, int argc, char **argv);

} // namespace burin
