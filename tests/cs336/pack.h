// The conformance pack of a public course: folders with a case.json, inputs and expected outputs. It is read where it
// lies, not copied here.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/support/values.h"

namespace burin::test {

class PackCase {
public:
  explicit PackCase(const std::filesystem::path &folder);

  std::string id, op;
  nlohmann::json json;

  bool hasInput(const std::string &name) const { return json.at("inputs").contains(name); }
  // An input of one array, or all tensors that a safetensors input selects, by name (a prefix "layers.0.*" is
  // stripped).
  Values input(const std::string &name) const;
  std::map<std::string, Values> inputs(const std::string &name) const { return tensors(json.at("inputs").at(name)); }
  Values expected(const std::string &name) const;
  std::map<std::string, Values> allExpected(const std::string &name) const {
    return tensors(json.at("expected").at(name));
  }

  double parameter(const std::string &name) const { return json.at("params").at(name).get<double>(); }
  int64_t integer(const std::string &name) const { return json.at("params").at(name).get<int64_t>(); }
  bool hasParameter(const std::string &name) const { return json.at("params").contains(name); }

  // |actual - expected| <= atol + rtol |expected| everywhere, shapes equal, all finite. Throws std::runtime_error that
  // names the worst element.
  void compare(const std::string &what, const Values &actual, const Values &expected) const;
  // The same without a verdict, for results of which one of several may be matched.
  bool matches(const Values &actual, const Values &expected) const;
  // The greatest error seen by `compare`, as a share of what is allowed.
  mutable double worst = 0;

private:
  std::map<std::string, Values> tensors(const nlohmann::json &entry) const;
  // The worst element's error as a share of what is allowed; its place.
  std::pair<double, int64_t> share(const Values &actual, const Values &expected) const;

  std::filesystem::path folder;
};

// Computes what a case asks for and compares. Throws where it does not fit.
using Check = std::function<void(const PackCase &)>;
// By the case's `op`.
std::map<std::string, Check> checks();

} // namespace burin::test
