// The messages of wrong models at run time. Each model beside this file registers itself, and its comments say what
// must be reported and where.
#include <burin.h>

#include <fstream>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace burin {
void PrintTo(const Model &model, std::ostream *stream) { *stream << model.name; }
} // namespace burin

namespace {

struct Expected {
  std::string message; // "sentence: numbers"
  int line = 0;
};

Expected readExpected(std::string_view path) {
  std::ifstream file{std::string(path)};
  EXPECT_TRUE(file.is_open()) << path;
  Expected expected;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    for (const std::string prefix : {"// sentence: ", "// numbers: "})
      if (line.starts_with(prefix))
        expected.message += (expected.message.empty() ? "" : ": ") + line.substr(prefix.size());
    if (line.ends_with("// here"))
      expected.line = number;
  }
  return expected;
}

class Messages : public testing::TestWithParam<burin::Model> {};

// A wrong model says `file:line:col: error: ` and the sentence, with the numbers that were found.
TEST_P(Messages, NameTheLineAndTheNumbers) {
  const burin::Model &model = GetParam();
  const Expected expected = readExpected(model.place.file);
  try {
    model.declare({2, 8});
    FAIL() << "no error; expected: " << expected.message;
  } catch (const burin::ModelError &error) {
    const std::string place = std::string(model.place.file) + ":" + std::to_string(expected.line) + ":";
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with(place)) << text << "\nexpected at " << place;
    EXPECT_EQ(error.message(), expected.message);
    EXPECT_EQ(text, burin::describe(error.where()) + ": error: " + error.message());
  }
}

// GoogleTest lists the parameters when `main` runs; by then every file has registered its model.
INSTANTIATE_TEST_SUITE_P(Kinds, Messages, testing::ValuesIn(burin::registry()),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
