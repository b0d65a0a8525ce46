// burin_text_fuzz [--count N] [--seed S]: damaged tokenizer files and random texts. A file is refused with an Error or
// is a tokenizer that gives back any bytes, whole, in pieces and cut at borders; anything else ends the program with
// the seed that shows it.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "error.h"
#include "support/program.h"
#include "support/random_text.h"
#include "text/bpe_train.h"
#include "text/formats.h"

namespace burin::test {
namespace {

using namespace runtime;

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Fuzz {
public:
  // One round of this seed; whether the file was taken.
  bool round(uint32_t seed) {
    RandomText random(seed);
    const Folder folder;
    const BpeModel made = model(random);
    // As writeTokenizer would, without waiting for a disk.
    const nlohmann::json json = tokenizerJson(made);
    std::filesystem::create_directory(folder.file("t"));
    folder.write("t/tokenizer.json", json.dump());
    folder.write("t/vocab.json", json["model"]["vocab"].dump());
    folder.write("t/added_tokens.json", "{\"<|x|>\": " + std::to_string(made.tokens.size() - 1) + "}");
    std::string merges = "#version: 0.2\n";
    for (const auto &merge : json["model"]["merges"])
      merges += merge[0].get<std::string>() + ' ' + merge[1].get<std::string>() + '\n';
    folder.write("t/merges.txt", merges);
    const std::string names[] = {"t/tokenizer.json", "t/vocab.json", "t/merges.txt", "t/added_tokens.json",
                                 "t/x.tiktoken"};
    const size_t which = random.below(5);
    std::string path = folder.file("t");
    OpenOptions options;
    if (which == 0) {
      path = folder.file(names[0]);
    } else if (which == 4) {
      path = folder.write(names[4], ranks(made));
      options.pattern = random.below(2) ? "gpt2" : "cl100k";
    } else {
      std::filesystem::remove(folder.file(names[0]));
    }
    std::string content = readFile(folder.file(names[which]));
    for (size_t changes = random.below(4); changes > 0; --changes)
      damage(content, random);
    folder.write(names[which], content);

    std::unique_ptr<Tokenizer> tokenizer;
    try {
      tokenizer = openTokenizer(path, options);
    } catch (const Error &) {
      return false;
    }
    for (int i = 0; i < 5; ++i)
      use(*tokenizer, random.any(random.below(100)), random);
    auto back = restoredTokenizer(nlohmann::json::parse(tokenizer->saved().dump()));
    if (back->hash() != tokenizer->hash())
      throw Failure("a checkpoint brings another tokenizer back");
    return true;
  }

private:
  static BpeModel model(RandomText &random) {
    PreTokenCounts counts;
    for (int i = 0; i < 20; ++i)
      if (std::string text = random.unicode(1 + random.below(5)); text.find('<') == text.npos)
        counts.emplace_back(text, 1 + random.below(5));
    TrainBpe options{.vocab = 290, .specials = {"<|endoftext|>", "<|x|>"}};
    if (random.below(4) == 0)
      options.pattern = patternOf("cl100k");
    return learnMerges(counts, options);
  }

  static std::string ranks(const BpeModel &model) {
    static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string lines;
    for (size_t id = 0; id + 2 < model.tokens.size(); ++id) {
      std::string bytes = model.tokens[id], text;
      for (size_t i = 0; i < bytes.size(); i += 3) {
        uint32_t bits = 0;
        for (size_t j = 0; j < 3; ++j)
          bits = bits << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
        for (size_t j = 0; j < 4; ++j)
          text += i + j <= bytes.size() ? digits[bits >> (18 - 6 * j) & 63] : '=';
      }
      lines += text + ' ' + std::to_string(id) + '\n';
    }
    return lines;
  }

  static void damage(std::string &content, RandomText &random) {
    static constexpr const char *parts[] = {
        "\"",   "{",      "}",        "[",       "null",    "-1", "1e999", "99999999999999999999",
        "\xFF", "\n",     " ",        "\\u0000", "\\ud800", ":",  ",",     "300",
        "true", "(a|b)*", "\xC4\xA0", "0"};
    const size_t at = random.below(content.size() + 1), size = std::min(random.below(20), content.size() - at);
    switch (random.below(6)) {
    case 0:
      content.resize(at);
      break;
    case 1:
      content.erase(at, size);
      break;
    case 2:
      content.insert(at, content.substr(random.below(content.size() + 1), random.below(200)));
      break;
    case 3:
      content.replace(at, size, random.bytes(random.below(8)));
      break;
    default:
      content.replace(at, std::min<size_t>(size, 4), parts[random.below(std::size(parts))]);
    }
  }

  static void use(const Tokenizer &tokenizer, const std::string &text, RandomText &random) {
    const Specials specials = random.below(3) ? Specials::allow : Specials::plain;
    const std::vector<int32_t> ids = tokenizer.encode(text, "it", specials);
    if (tokenizer.decode(ids) != text)
      throw Failure("a text does not come back");
    std::vector<int32_t> streamed;
    auto stream = tokenizer.stream("it", specials);
    for (size_t at = 0; at < text.size();) {
      const size_t size = std::min(text.size() - at, 1 + random.below(30));
      stream->feed(std::string_view(text).substr(at, size), streamed);
      at += size;
    }
    stream->finish(streamed);
    if (streamed != ids)
      throw Failure("a stream gives other ids");
    if (auto border = tokenizer.border(text, random.below(text.size() + 1), specials)) {
      std::vector<int32_t> parts = tokenizer.encode(text.substr(0, *border), "it", specials);
      for (int32_t id : tokenizer.encode(text.substr(*border), "it", specials))
        parts.push_back(id);
      if (parts != ids)
        throw Failure("a border is none");
    }
    DecodeStream decode(tokenizer);
    std::string back;
    for (int32_t id : ids)
      back += decode.feed({&id, 1});
    if (back + decode.finish() != text)
      throw Failure("a text does not come back id by id");
  }
};

int fuzzMain(const std::vector<std::string> &arguments) {
  uint32_t count = 2000, seed = 1;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    if (i + 1 == arguments.size() || (arguments[i] != "--count" && arguments[i] != "--seed")) {
      fmt::print("burin_text_fuzz [--count N] [--seed S]: damaged tokenizer files and random texts\n");
      return arguments[i] == "--help" ? 0 : 2;
    }
    (arguments[i] == "--count" ? count : seed) = static_cast<uint32_t>(std::stoul(arguments[i + 1]));
  }
  uint32_t taken = 0;
  Fuzz fuzz;
  for (uint32_t i = 0; i < count; ++i) {
    try {
      taken += fuzz.round(seed + i);
    } catch (const std::exception &error) {
      fmt::print(stderr, "seed {}: {}\n", seed + i, error.what());
      return 1;
    }
  }
  fmt::print("{} rounds: {} files taken, {} refused\n", count, taken, count - taken);
  return 0;
}

} // namespace
} // namespace burin::test

int main(int argc, char **argv) { return burin::test::fuzzMain({argv + 1, argv + argc}); }
