// The readers of arrays.h.
#include "tests/support/arrays.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "nlohmann/json.hpp"

namespace burin::test {

static std::string contents(const std::filesystem::path &file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

template <typename Element>
static Values valuesOf(std::vector<int64_t> shape, std::string_view bytes, const std::string &what) {
  Values values(std::move(shape));
  if (bytes.size() != values.data.size() * sizeof(Element))
    throw std::runtime_error(what + " holds " + std::to_string(bytes.size()) + " bytes for shape " +
                             describe(values.shape));
  for (size_t i = 0; i < values.data.size(); ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof(Element), sizeof(Element));
    values.data[i] = static_cast<double>(element);
  }
  return values;
}

Values readNpy(const std::filesystem::path &file) {
  const std::string bytes = contents(file);
  if (bytes.size() < 10 || !bytes.starts_with("\x93NUMPY\x01"))
    throw std::runtime_error(file.string() + " is no .npy file of version 1");
  const size_t length = static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  // {'descr': '<f4', 'fortran_order': False, 'shape': (4, 12, 64), }
  const std::string header = bytes.substr(10, length);
  if (header.find("'fortran_order': False") == std::string::npos)
    throw std::runtime_error(file.string() + " is not in C order");
  std::vector<int64_t> shape;
  size_t at = header.find('(', header.find("'shape'")) + 1;
  while (at < header.size() && header[at] != ')') {
    if (std::isdigit(static_cast<unsigned char>(header[at]))) {
      size_t used = 0;
      shape.push_back(std::stoll(header.substr(at), &used));
      at += used;
    } else {
      ++at;
    }
  }
  const std::string_view data = std::string_view(bytes).substr(10 + length);
  if (header.find("'<f4'") != std::string::npos)
    return valuesOf<float>(shape, data, file.string());
  if (header.find("'<i8'") != std::string::npos)
    return valuesOf<int64_t>(shape, data, file.string());
  throw std::runtime_error(file.string() + " holds neither f4 nor i8: " + header);
}

std::map<std::string, Values> readSafetensors(const std::filesystem::path &file) {
  const std::string bytes = contents(file);
  uint64_t length = 0;
  if (bytes.size() >= 8)
    std::memcpy(&length, bytes.data(), 8);
  if (bytes.size() < 8 || length > bytes.size() - 8)
    throw std::runtime_error(file.string() + " is no .safetensors file");
  std::map<std::string, Values> tensors;
  const auto header = nlohmann::json::parse(bytes.substr(8, length));
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__")
      continue;
    if (entry.at("dtype") != "F32")
      throw std::runtime_error(file.string() + ": '" + name + "' is not F32");
    const auto offsets = entry.at("data_offsets").get<std::vector<uint64_t>>();
    const std::string_view data =
        std::string_view(bytes).substr(8 + length).substr(offsets.at(0), offsets.at(1) - offsets.at(0));
    tensors[name] =
        valuesOf<float>(entry.at("shape").get<std::vector<int64_t>>(), data, file.string() + ": '" + name + "'");
  }
  return tensors;
}

} // namespace burin::test
