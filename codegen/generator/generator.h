// What the program that a model's source is linked into does: declare the model, compile it, write object and header.
#pragma once

#include <vector>

#include "burin.h"

namespace burin {

// The command line of a generator; `--help` tells of it. Returns the exit code.
int generatorMain(int argc, char **argv, const std::vector<Model> &models);

} // namespace burin
