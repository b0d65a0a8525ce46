// Turns what the files beside this one say about their ops into tests: an op is a suite, an instruction set a test.
#include "tests/support/op_test.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

using namespace burin::test;

namespace {

class Body : public testing::Test {
public:
  explicit Body(std::function<void()> body) : body(std::move(body)) {}
  void TestBody() override { body(); }

private:
  std::function<void()> body;
};

// "rms_norm" -> "RmsNorm"
std::string suiteName(const std::string &mnemonic) {
  std::string name;
  bool upper = true;
  for (char c : mnemonic) {
    if (c != '_')
      name += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = c == '_';
  }
  return name;
}

void add(const OpTest &op, const std::string &name, std::function<void()> body) {
  testing::RegisterTest(suiteName(op.mnemonic).c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [body]() -> testing::Test * { return new Body(body); });
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  for (const OpTest *op : OpTest::all()) {
    add(*op, "AdjointMatchesFiniteDifferences", [op] { expectAdjointMatchesFiniteDifferences(op->cases()); });
    for (const std::string &target : allTargets())
      add(*op, "CompiledMatchesTheReferenceOn_" + target,
          [op, target] { expectCompiledMatchesReference(op->cases(), target); });
  }
  return RUN_ALL_TESTS();
}
