// Runs every case of the pack whose kind is known and lists the others. The folder is BURIN_CS336, or the one given as
// argument.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <set>

#include "tests/cs336/pack.h"

using namespace burin::test;

// What the test runner takes for "skipped".
constexpr int skipped = 77;

int main(int argc, char **argv) {
  const char *given = std::getenv("BURIN_CS336");
  const std::filesystem::path folder = given ? given : argc > 1 ? argv[1] : "";
  std::set<std::filesystem::path> cases;
  if (std::filesystem::is_directory(folder))
    for (const auto &entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().filename() == "case.json")
        cases.insert(entry.path().parent_path());
  if (cases.empty()) {
    std::printf("%s: no case.json below '%s'%s\n", given ? "failed" : "skipped", folder.c_str(),
                given ? ", which BURIN_CS336 names" : "; set BURIN_CS336 to the pack's folder");
    return given ? 1 : skipped;
  }

  const std::map<std::string, Check> known = checks();
  // Kinds with nothing to compile: runtime.Cs336Tokenizer in tests/runtime/cs336 checks them.
  const std::set<std::string> elsewhere = {"bpe_train", "tokenizer", "tokenizer_decode", "tokenizer_file",
                                           "tokenizer_stream"};
  int passed = 0, failed = 0, left = 0;
  for (const std::filesystem::path &path : cases) {
    std::string name = path.filename().string();
    try {
      const PackCase test(path);
      name = test.id + " (" + test.op + ")";
      const auto check = known.find(test.op);
      if (check == known.end()) {
        std::printf("skipped %s: %s\n", name.c_str(),
                    elsewhere.count(test.op) ? "the test runtime.Cs336Tokenizer checks this kind"
                                             : "this kind is not supported");
        ++left;
        continue;
      }
      check->second(test);
      std::printf("passed  %s: %.2g of the tolerance\n", name.c_str(), test.worst);
      ++passed;
    } catch (const std::exception &error) {
      std::printf("failed  %s: %s\n", name.c_str(), error.what());
      ++failed;
    }
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed, %d skipped\n", passed, failed, left);
  return failed > 0 || passed == 0;
}
