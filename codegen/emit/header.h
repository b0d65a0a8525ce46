// The C header that belongs to an object: its symbol, and the numbers a program may want as constants.
#pragma once

#include <string>

#include "codegen/emit/tables.h"

namespace burin {

std::string modelHeader(const ModelTable &model);

} // namespace burin
