// Our side of the table `text`: text_worker VOCAB.json MERGES.txt; then turns on standard input, each a line
// "ACTION THREADS SECONDS FILE", answered with the fastest run and a sum over the result, as JSON.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "error.h"
#include "text/bpe_train.h"
#include "text/formats.h"

using namespace burin::runtime;

namespace {

std::string contentOf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

} // namespace

int main(int argc, char **argv) try {
  if (argc != 3)
    fail("expected a vocab.json and a merges.txt");
  const BpeTokenizer tokenizer(readGpt2(argv[1], argv[2]), argv[1]);
  std::map<std::string, std::string> texts;
  std::string action, file;
  int threads;
  double seconds;
  while (std::cin >> action >> threads >> seconds >> file) {
    if (!texts.count(file))
      texts[file] = contentOf(file);
    const std::string &text = texts[file];
    const std::vector<int32_t> ids = tokenizer.encode(text);
    double best = 1e9, total = 0;
    uint64_t sum = 0;
    do {
      sum = 0;
      auto begin = std::chrono::steady_clock::now();
      if (action == "encode") {
        for (int32_t id : encodeParallel(tokenizer, text, threads))
          sum += static_cast<uint64_t>(id);
      } else if (action == "decode") {
        sum = tokenizer.decode(ids).size();
      } else { // train:VOCAB
        sum =
            trainBpe({file}, {.vocab = std::stol(action.substr(6)), .specials = {"<|endoftext|>"}, .threads = threads})
                .tokens.size();
      }
      std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      best = std::min(best, took.count());
      total += took.count();
    } while (total < seconds);
    fmt::print("{{\"seconds\": {}, \"sum\": {}}}\n", best, sum);
    std::fflush(stdout);
  }
  return 0;
} catch (const Error &error) {
  fmt::print(stderr, "error: {}\n", error.what());
  return 1;
}
