// A header is hostile until proven otherwise: every number is range-checked before it is used, nothing is allocated by
// a size that the file cannot back.
#include "store/safetensors.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>

#include "error.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and is read as it stands");

constexpr uint64_t maxHeader = 100'000'000; // the format's own limit
constexpr const char *metadataKey = "__metadata__";

const std::map<std::string, uint64_t, std::less<>> elementSizes = {
    {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"I16", 2}, {"U16", 2}, {"F16", 2},
    {"BF16", 2}, {"I32", 4}, {"U32", 4}, {"F32", 4},     {"I64", 8},     {"U64", 8}, {"F64", 8}};

// Parses JSON in which no object has the same key twice: of two equal names a plain parser keeps one in silence.
json parseStrictly(const std::string &text) {
  std::vector<std::set<std::string>> keys;
  std::string twice;
  auto watch = [&](int depth, json::parse_event_t event, json &value) {
    if (depth > 4)
      fail("not a safetensors file: the header is nested too deeply"); // millions of brackets would fill the memory
    if (event == json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second && twice.empty())
      twice = value.get<std::string>();
    return true;
  };
  json parsed = json::parse(text, watch);
  if (!twice.empty())
    fail("'{}' appears twice", twice);
  return parsed;
}

uint64_t readNumber(const json &value, const char *what) {
  if (!value.is_number_unsigned())
    fail("{} is not a whole number", what);
  return value.get<uint64_t>();
}

StoredTensor readTensor(const json &value) {
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") || !value.contains("shape") ||
      !value.contains("data_offsets"))
    fail("expected exactly dtype, shape and data_offsets");
  StoredTensor tensor;
  if (!value["dtype"].is_string())
    fail("dtype is not a string");
  tensor.dtype = value["dtype"].get<std::string>();
  auto size = elementSizes.find(tensor.dtype);
  if (size == elementSizes.end())
    fail("unknown dtype '{}'", tensor.dtype);
  if (!value["shape"].is_array())
    fail("shape is not a list");
  uint64_t bytes = size->second;
  for (const json &dimension : value["shape"]) {
    uint64_t extent = readNumber(dimension, "a dimension");
    if (extent > INT64_MAX || __builtin_mul_overflow(bytes, extent, &bytes))
      fail("the shape is too large");
    tensor.shape.push_back(static_cast<int64_t>(extent));
  }
  const json &offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2)
    fail("data_offsets is not a pair");
  tensor.offset = readNumber(offsets[0], "a data offset");
  uint64_t end = readNumber(offsets[1], "a data offset");
  if (end < tensor.offset || end - tensor.offset != bytes)
    fail("the shape needs {} bytes, data_offsets span {} to {}", bytes, tensor.offset, end);
  tensor.bytes = bytes;
  return tensor;
}

// Sorted by place, the tensors must follow each other from 0 to the end of the file.
void checkCover(const std::map<std::string, StoredTensor> &tensors, uint64_t dataSize) {
  std::vector<std::pair<const StoredTensor *, const std::string *>> order;
  order.reserve(tensors.size());
  for (const auto &[name, tensor] : tensors)
    order.emplace_back(&tensor, &name);
  std::sort(order.begin(), order.end(), [](const auto &a, const auto &b) {
    return std::pair(a.first->offset, a.first->bytes) < std::pair(b.first->offset, b.first->bytes);
  });
  uint64_t expected = 0;
  for (const auto &[tensor, name] : order) {
    if (tensor->offset != expected)
      fail("tensor '{}' starts at byte {} of the data where {} is expected (a gap or an overlap)", *name,
           tensor->offset, expected);
    if (tensor->bytes > dataSize - expected)
      fail("tensor '{}' ends at byte {} of the data, the file holds {}: it is truncated", *name,
           tensor->offset + tensor->bytes, dataSize);
    expected += tensor->bytes;
  }
  if (expected != dataSize)
    fail("the tensors end at byte {} of the data, the file holds {}", expected, dataSize);
}

} // namespace

SafetensorsReader::SafetensorsReader(const std::string &path) : path_(path), file_(openForReading(path, "checkpoint")) {
  try {
    struct stat status {};
    if (fstat(file_.get(), &status) || !S_ISREG(status.st_mode))
      fail("not a regular file");
    auto size = static_cast<uint64_t>(status.st_size);
    uint64_t length = 0;
    if (size < sizeof length)
      fail("{} bytes long, too short for a safetensors file", size);
    readBytes(&length, sizeof length, 0);
    if (length > maxHeader || length > size - sizeof length)
      fail("not a safetensors file, or truncated: its header would be {} bytes, the file has {}", length, size);
    std::string text(length, '\0');
    readBytes(text.data(), length, sizeof length);
    dataStart_ = sizeof length + length;
    json header = parseStrictly(text);
    if (!header.is_object())
      fail("not a safetensors file: the header is not a JSON object");
    for (const auto &[name, value] : header.items()) {
      try {
        if (name != metadataKey)
          tensors_[name] = readTensor(value);
        else
          metadata_ = value.get<std::map<std::string, std::string>>();
      } catch (const Error &error) {
        fail("tensor '{}': {}", name, error.what());
      }
    }
    checkCover(tensors_, size - dataStart_);
  } catch (const json::exception &error) {
    fail("checkpoint {}: not a safetensors file: the header is not valid JSON ({})", path, error.what());
  } catch (const Error &error) {
    fail("checkpoint {}: {}", path, error.what());
  }
}

void SafetensorsReader::readBytes(void *data, size_t size, uint64_t offset) const {
  char *next = static_cast<char *>(data);
  while (size) {
    ssize_t got = pread(file_.get(), next, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      fail("cannot read byte {}: {}", offset, systemError());
    if (got == 0)
      fail("truncated at byte {}", offset);
    next += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
}

void SafetensorsReader::read(const StoredTensor &tensor, std::span<float> values) const {
  if (tensor.dtype != "F32" || tensor.bytes != values.size_bytes())
    fail("internal error: {} holds another type or size than is read (please report)", path_);
  try {
    readBytes(values.data(), values.size_bytes(), dataStart_ + tensor.offset);
  } catch (const Error &error) {
    fail("checkpoint {}: {}", path_, error.what());
  }
}

void writeSafetensors(const std::string &path, const std::vector<TensorSource> &tensors,
                      const std::map<std::string, std::string> &metadata) {
  nlohmann::ordered_json header;
  header[metadataKey] = metadata;
  uint64_t offset = 0;
  std::vector<size_t> sizes;
  for (const TensorSource &tensor : tensors) {
    size_t count = 1;
    for (int64_t extent : tensor.shape)
      count *= static_cast<size_t>(extent);
    sizes.push_back(count);
    header[tensor.name] = {
        {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + count * sizeof(float)}}};
    offset += count * sizeof(float);
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' '); // so that the data starts at a multiple of 8
  uint64_t length = text.size();

  AtomicFile file(path);
  file.write(&length, sizeof length);
  file.write(text.data(), text.size());
  std::vector<float> values;
  for (size_t i = 0; i < tensors.size(); ++i) {
    values.resize(sizes[i]);
    tensors[i].fill(values);
    file.write(values.data(), values.size() * sizeof(float));
  }
  file.commit();
}

} // namespace burin::runtime
