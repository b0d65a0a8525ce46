// Reads the two file formats of test data: .npy (version 1, little-endian f4, i8, C order) and .safetensors (F32). For
// tests; hostile files are the runtime's business.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "tests/support/values.h"

namespace burin::test {

// Both throw std::runtime_error that names the file.
Values readNpy(const std::filesystem::path &file);
std::map<std::string, Values> readSafetensors(const std::filesystem::path &file);

} // namespace burin::test
