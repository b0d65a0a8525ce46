// Stage 0 in words: the declared graph, one op a line. To be read, not to be read back.
#pragma once

#include <string>

#include "burin.h"

namespace burin {

// Places below `sourceRoot` are written relative to it.
std::string graphText(const Graph &graph, const std::string &model, Batch batch, const std::string &sourceRoot);

} // namespace burin
