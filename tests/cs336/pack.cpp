// Reads cases and applies the pack's pass rule.
#include "tests/cs336/pack.h"

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "tests/support/arrays.h"

namespace burin::test {

PackCase::PackCase(const std::filesystem::path &folder) : folder(folder) {
  std::ifstream stream(folder / "case.json");
  json = nlohmann::json::parse(stream);
  id = json.at("id");
  op = json.at("op");
}

std::map<std::string, Values> PackCase::tensors(const nlohmann::json &entry) const {
  const std::filesystem::path file = folder / entry.at("file").get<std::string>();
  if (file.extension() == ".npy")
    return {{"", readNpy(file)}};
  std::map<std::string, Values> all = readSafetensors(file);
  const std::string pattern = entry.value("tensor", "*");
  if (pattern.empty() || pattern.back() != '*')
    return {{"", all.at(pattern)}};
  const std::string prefix = pattern.substr(0, pattern.size() - 1);
  std::map<std::string, Values> chosen;
  for (auto &[name, values] : all)
    if (name.starts_with(prefix))
      chosen[name.substr(prefix.size())] = std::move(values);
  return chosen;
}

Values PackCase::input(const std::string &name) const { return inputs(name).at(""); }
Values PackCase::expected(const std::string &name) const { return allExpected(name).at(""); }

std::pair<double, int64_t> PackCase::share(const Values &actual, const Values &expected) const {
  if (actual.shape != expected.shape)
    throw std::runtime_error("shape " + describe(actual.shape) + ", expected " + describe(expected.shape));
  const double rtol = json.at("rtol");
  // The second edition's absolute tolerance is the one a plain f32 program can be held to; `atol_suggested` mends an
  // official one that is far too wide.
  const double atol = json.contains("atol_suggested") ? std::max(json.at("atol_suggested").get<double>(), 1e-7)
                                                      : json.value("atol_2026", json.at("atol").get<double>());
  std::pair<double, int64_t> worst{0, 0};
  for (int64_t i = 0; i < actual.size(); ++i) {
    const double allowed = atol + rtol * std::abs(expected[i]);
    const double error = actual[i] == expected[i] ? 0 : std::abs(actual[i] - expected[i]) / allowed;
    // Not `>`: a NaN is the worst of all.
    if (!(error <= worst.first))
      worst = {std::isnan(error) ? HUGE_VAL : error, i};
  }
  return worst;
}

bool PackCase::matches(const Values &actual, const Values &expected) const {
  return share(actual, expected).first <= 1;
}

void PackCase::compare(const std::string &what, const Values &actual, const Values &expected) const {
  const auto [error, at] = share(actual, expected);
  worst = std::max(worst, error);
  if (error <= 1)
    return;
  std::string index;
  for (int64_t i : unravel(actual.shape, at))
    index += (index.empty() ? "" : ", ") + std::to_string(i);
  throw std::runtime_error(what + ": worst element (" + index + ") is " + std::to_string(actual[at]) + ", expected " +
                           std::to_string(expected[at]) + ": " + std::to_string(error) + " times the tolerance");
}

} // namespace burin::test
