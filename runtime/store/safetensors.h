// Reading and writing safetensors files: a length, a JSON header, raw little-endian data. Knows nothing of models.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "store/file.h"

namespace burin::runtime {

struct StoredTensor {
  std::string dtype; // "F32"
  std::vector<int64_t> shape;
  uint64_t offset = 0, bytes = 0; // in the data section
};

// Opens a file and checks its header completely: sizes, names, types, and that the tensors fill the data section
// without gap or overlap. What passes can be read without further checks.
class SafetensorsReader {
public:
  explicit SafetensorsReader(const std::string &path);

  const std::map<std::string, StoredTensor> &tensors() const { return tensors_; }
  const std::map<std::string, std::string> &metadata() const { return metadata_; }
  const std::string &path() const { return path_; }
  void read(const StoredTensor &tensor, std::span<float> values) const;

private:
  void readBytes(void *data, size_t size, uint64_t offset) const;

  std::string path_;
  File file_;
  uint64_t dataStart_ = 0;
  std::map<std::string, StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
};

// One tensor to be written; `fill` makes its values when their turn comes, so that no second copy of all is needed.
struct TensorSource {
  std::string name;
  std::vector<int64_t> shape;
  std::function<void(std::span<float>)> fill;
};

void writeSafetensors(const std::string &path, const std::vector<TensorSource> &tensors,
                      const std::map<std::string, std::string> &metadata);

} // namespace burin::runtime
