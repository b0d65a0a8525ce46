// Files are hostile until proven otherwise: every name is looked up, every number checked, nothing is skipped in
// silence.
#include "text/formats.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "error.h"
#include "store/file.h"
#include "text/pretokenize.h"
#include "text/utf8.h"

namespace burin::runtime {
namespace {

using nlohmann::json;
using Ids = std::unordered_map<std::string, int32_t>;

// Far above any vocabulary in use; an id costs memory, so a file must not be able to ask for more.
constexpr int64_t mostIds = 4 << 20;
constexpr size_t mostBytes = size_t{1} << 30;
constexpr std::string_view endOfText = "<|endoftext|>";

// ---- printable bytes

struct Printable {
  std::array<char32_t, 256> code{};
  std::array<int, 0x144> byte{}; // by code point; -1: stands for none
  Printable() {
    byte.fill(-1);
    char32_t next = 0x100;
    for (unsigned b = 0; b < 256; ++b) {
      bool itself = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b != 0xAD);
      code[b] = itself ? b : next++;
      byte[code[b]] = static_cast<int>(b);
    }
  }
};

const Printable &printableTable() {
  static const Printable table;
  return table;
}

// The bytes that a printable form stands for; nothing where a character stands for none.
std::optional<std::string> bytesOfPrintable(std::string_view text) {
  const Printable &table = printableTable();
  std::string bytes;
  for (size_t offset = 0; offset < text.size();) {
    Character character = characterAt(text, offset);
    if (character.bytes == 0 || character.code >= table.byte.size() || table.byte[character.code] < 0)
      return std::nullopt;
    bytes += static_cast<char>(table.byte[character.code]);
    offset += character.bytes;
  }
  return bytes;
}

// ---- files

std::string readWhole(const std::string &path, const char *what) {
  File file = openForReading(path, what);
  struct stat status {};
  if (fstat(file.get(), &status) || !S_ISREG(status.st_mode))
    fail("{} {} is not a regular file", what, path);
  if (static_cast<uint64_t>(status.st_size) > mostBytes)
    fail("{} {} has {} bytes; none has more than {}", what, path, status.st_size, mostBytes);
  std::string content(static_cast<size_t>(status.st_size), '\0');
  for (size_t at = 0; at < content.size();) {
    ssize_t got = read(file.get(), content.data() + at, content.size() - at);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      fail("cannot read {} {}: {}", what, path, systemError());
    if (got == 0)
      content.resize(at); // it has become shorter
    at += static_cast<size_t>(got);
  }
  return content;
}

// A key that comes twice is an error; so is deep nesting, which would cost memory.
json parseJson(const std::string &content, const std::string &path) {
  std::vector<std::unordered_set<std::string>> keys;
  auto watch = [&](int depth, json::parse_event_t event, json &value) {
    if (depth > 64)
      fail("{}: nested too deeply for a tokenizer", path);
    if (event == json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second)
      fail("{}: '{}' is there twice", path, value.get<std::string>());
    return true;
  };
  try {
    return json::parse(content, watch);
  } catch (const json::exception &error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ..."
    std::string_view said = error.what();
    size_t place = said.find("at line");
    fail("{}: not JSON: {}", path, said.substr(place == said.npos ? said.find("] ") + 2 : place));
  }
}

void writeFile(const std::string &path, const std::string &content) {
  AtomicFile file(path);
  file.write(content.data(), content.size());
  file.commit();
}

// ---- values of a JSON file

const json &member(const json &object, const char *name, json::value_t type, const std::string &source) {
  auto at = object.find(name);
  if (at == object.end())
    fail("{}: there is no '{}'", source, name);
  if (at->type() != type)
    fail("{}: '{}' is {}, expected {}", source, name, at->type_name(), json(type).type_name());
  return *at;
}

int32_t idOf(const json &value, std::string_view token, const std::string &source) {
  if (!value.is_number_integer() || value < 0 || value >= mostIds)
    fail("{}: the id of '{}' is {}, expected a whole number in [0, {})", source, token, value.dump(), mostIds);
  return value.get<int32_t>();
}

std::string shortened(const json &value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > 80 ? wellFormed(text.substr(0, 80)) + "..." : text;
}

// A member that must have a value that changes nothing: absent, null, or one of those given.
void demandNone(const json &object, const char *name, std::initializer_list<json> harmless, const std::string &source) {
  auto at = object.find(name);
  if (at == object.end() || at->is_null() || std::find(harmless.begin(), harmless.end(), *at) != harmless.end())
    return;
  fail("{}: '{}' is {}, which is not supported", source, name, shortened(*at));
}

// Whether a post-processor leaves the ids of a text as they are: ByteLevel trims offsets, which nobody asks for here,
// and a template may be the text alone.
bool addsNothing(const json &processor) {
  const json type = processor.is_object() ? processor.value("type", json()) : json();
  if (type == "Sequence") {
    const json parts = processor.value("processors", json());
    return parts.is_array() && std::all_of(parts.begin(), parts.end(), addsNothing);
  }
  if (type == "TemplateProcessing") {
    const json single = processor.value("single", json());
    return single.is_array() && single.size() == 1 && single[0].is_object() && single[0].contains("Sequence");
  }
  return type == "ByteLevel";
}

// ---- models

// Gives `bytes` to the id; makes room for it.
void setToken(BpeModel &model, int32_t id, std::string bytes, const std::string &source) {
  auto at = static_cast<size_t>(id);
  if (model.tokens.size() <= at)
    model.tokens.resize(at + 1);
  if (!model.tokens[at].empty() && model.tokens[at] != bytes)
    fail("{}: id {} is both '{}' and '{}'", source, id, printable(model.tokens[at]), printable(bytes));
  model.tokens[at] = std::move(bytes);
}

void addSpecial(BpeModel &model, int32_t id) {
  if (std::find(model.specials.begin(), model.specials.end(), id) == model.specials.end())
    model.specials.push_back(id);
}

// A special token with the id of the token that has this text, or the next free one.
void addSpecials(BpeModel &model, const std::vector<std::string> &specials) {
  for (const std::string &text : specials) {
    auto at = std::find(model.tokens.begin(), model.tokens.end(), text);
    if (at == model.tokens.end())
      at = model.tokens.insert(model.tokens.end(), text);
    addSpecial(model, static_cast<int32_t>(at - model.tokens.begin()));
  }
}

// {"token": id, ...} into the model and `ids`. Keys among `literal` mean themselves, all others are printable forms.
void readVocab(BpeModel &model, Ids &ids, const json &vocab, const std::unordered_set<std::string> &literal,
               const std::string &source) {
  for (const auto &[token, value] : vocab.items()) {
    int32_t id = idOf(value, token, source);
    std::optional<std::string> bytes = literal.count(token) ? std::optional(token) : bytesOfPrintable(token);
    if (!bytes)
      fail("{}: the token '{}' with id {} has characters that stand for no bytes", source, token, id);
    if (bytes->empty())
      fail("{}: the token with id {} is empty", source, id);
    if (static_cast<size_t>(id) < model.tokens.size() && !model.tokens[static_cast<size_t>(id)].empty())
      fail("{}: id {} is both '{}' and '{}'", source, id, printable(model.tokens[static_cast<size_t>(id)]), token);
    setToken(model, id, std::move(*bytes), source);
    ids.emplace(token, id);
  }
}

int32_t partOfMerge(const Ids &ids, const std::string &token, const std::string &place) {
  auto at = ids.find(token);
  if (at == ids.end())
    fail("{}: the merge names '{}', which is not in the vocabulary", place, token);
  return at->second;
}

std::vector<std::string_view> linesOf(std::string_view content) {
  std::vector<std::string_view> lines;
  while (!content.empty()) {
    size_t end = std::min(content.find('\n'), content.size());
    std::string_view line = content.substr(0, end);
    lines.push_back(line.substr(0, line.size() - line.ends_with('\r')));
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return lines;
}

} // namespace

std::string printable(std::string_view bytes) {
  std::string text;
  for (char byte : bytes)
    appendUtf8(text, printableTable().code[static_cast<unsigned char>(byte)]);
  return text;
}

BpeModel readGpt2(const std::string &vocabPath, const std::string &mergesPath,
                  const std::vector<std::string> &specials) {
  BpeModel model;
  const std::string addedPath = (std::filesystem::path(vocabPath).parent_path() / "added_tokens.json").string();
  json added = json::object();
  if (std::error_code none; std::filesystem::exists(addedPath, none))
    added = parseJson(readWhole(addedPath, "added tokens"), addedPath);
  if (!added.is_object())
    fail("{}: expected an object of tokens and ids, found {}", addedPath, added.type_name());
  std::unordered_set<std::string> literal;
  for (const auto &[token, id] : added.items())
    literal.insert(token);

  const json vocab = parseJson(readWhole(vocabPath, "vocabulary"), vocabPath);
  if (!vocab.is_object())
    fail("{}: expected an object of tokens and ids, found {}", vocabPath, vocab.type_name());
  Ids ids;
  readVocab(model, ids, vocab, literal, vocabPath);
  for (const auto &[token, value] : added.items()) {
    if (token.empty())
      fail("{}: a token is empty", addedPath);
    int32_t id = idOf(value, token, addedPath);
    setToken(model, id, token, addedPath);
    addSpecial(model, id);
  }

  const std::string merges = readWhole(mergesPath, "merges");
  const std::vector<std::string_view> lines = linesOf(merges);
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (line.empty() || (i == 0 && line.starts_with("#version")))
      continue;
    const std::string place = fmt::format("{}:{}", mergesPath, i + 1);
    size_t space = line.find(' ');
    if (space == line.npos || space == 0 || space + 1 == line.size() || line.find(' ', space + 1) != line.npos)
      fail("{}: expected two tokens with a space between them, found '{}'", place,
           wellFormed(line.substr(0, std::min<size_t>(line.size(), 80))));
    model.merges.emplace_back(partOfMerge(ids, std::string(line.substr(0, space)), place),
                              partOfMerge(ids, std::string(line.substr(space + 1)), place));
  }
  if (ids.count(std::string(endOfText)))
    addSpecial(model, ids.at(std::string(endOfText)));
  addSpecials(model, specials);
  return model;
}

BpeModel modelOf(const json &file, const std::string &source) {
  if (!file.is_object())
    fail("{}: expected an object, found {}", source, file.type_name());
  for (const char *name : {"truncation", "padding", "normalizer"})
    demandNone(file, name, {}, source);
  const json &bpe = member(file, "model", json::value_t::object, source);
  if (bpe.contains("type") && bpe["type"] != "BPE")
    fail("{}: the model is of the type {}, supported is \"BPE\"", source, shortened(bpe["type"]));
  demandNone(bpe, "dropout", {0.0, 0}, source);
  demandNone(bpe, "continuing_subword_prefix", {""}, source);
  demandNone(bpe, "end_of_word_suffix", {""}, source);
  demandNone(bpe, "byte_fallback", {false}, source);

  BpeModel model;
  if (auto at = bpe.find("ignore_merges"); at != bpe.end() && !at->is_null())
    model.wholeFirst = member(bpe, "ignore_merges", json::value_t::boolean, source).get<bool>();

  // ByteLevel alone, or one Split and ByteLevel after it.
  std::vector<json> steps = {member(file, "pre_tokenizer", json::value_t::object, source)};
  if (steps[0].value("type", json()) == "Sequence")
    steps = member(steps[0], "pretokenizers", json::value_t::array, source).get<std::vector<json>>();
  bool split = false, byteLevel = false;
  for (const json &step : steps) {
    const json type = step.is_object() ? step.value("type", json()) : json();
    if (type == "ByteLevel" && !byteLevel) {
      byteLevel = true;
      demandNone(step, "add_prefix_space", {false}, source);
      const json usesPattern = step.value("use_regex", json(true));
      if (usesPattern != !split)
        fail("{}: pre_tokenizer {} {}, which is not supported", source, shortened(step),
             split ? "splits once more" : "without a Split before it splits nothing");
    } else if (type == "Split" && !split && !byteLevel) {
      split = true;
      const json &pattern = member(step, "pattern", json::value_t::object, source);
      if (!pattern.contains("Regex") || !pattern["Regex"].is_string())
        fail("{}: a Split with the pattern {} is not supported; one with a \"Regex\" is", source, shortened(pattern));
      if (step.value("behavior", json()) != "Isolated")
        fail("{}: a Split with the behavior {} is not supported; \"Isolated\" is", source,
             shortened(step.value("behavior", json())));
      demandNone(step, "invert", {false}, source);
      model.pattern = pattern["Regex"].get<std::string>();
    } else {
      fail("{}: pre_tokenizer {} is not supported; supported are ByteLevel, and one Split before it", source,
           shortened(step));
    }
  }
  if (!byteLevel)
    fail("{}: pre_tokenizer {} is not byte-level", source, shortened(file["pre_tokenizer"]));
  if (auto at = file.find("post_processor"); at != file.end() && !at->is_null() && !addsNothing(*at))
    fail("{}: post_processor {} is not supported: it may add tokens", source, shortened(*at));
  if (auto at = file.find("decoder"); at != file.end())
    if (!at->is_object() || at->value("type", json()) != "ByteLevel")
      fail("{}: decoder {} is not supported; \"ByteLevel\" is", source, shortened(*at));

  std::unordered_set<std::string> literal;
  std::vector<std::pair<std::string, int32_t>> added;
  if (auto at = file.find("added_tokens"); at != file.end() && !at->is_null()) {
    for (const json &token : member(file, "added_tokens", json::value_t::array, source)) {
      if (!token.is_object())
        fail("{}: an added token is {}, expected an object", source, shortened(token));
      const std::string text = member(token, "content", json::value_t::string, source).get<std::string>();
      if (text.empty())
        fail("{}: an added token is empty", source);
      const std::string place = fmt::format("{}: added token '{}'", source, text);
      if (!token.contains("id"))
        fail("{}: there is no 'id'", place);
      for (const char *option : {"single_word", "lstrip", "rstrip"})
        demandNone(token, option, {false}, place);
      if (!literal.insert(text).second)
        fail("{}: is there twice", place);
      added.emplace_back(text, idOf(token["id"], text, source));
    }
  }
  Ids ids;
  readVocab(model, ids, member(bpe, "vocab", json::value_t::object, source), literal, source);
  for (auto &[text, id] : added) {
    if (auto at = ids.find(text); at != ids.end() && at->second != id)
      fail("{}: the added token '{}' has id {}, but id {} in the vocabulary", source, text, id, at->second);
    setToken(model, id, text, source);
    addSpecial(model, id);
  }
  const json &merges = member(bpe, "merges", json::value_t::array, source);
  for (size_t i = 0; i < merges.size(); ++i) {
    const json &merge = merges[i];
    const std::string place = fmt::format("{}: merge {}", source, i + 1);
    std::string left, right;
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      left = merge[0], right = merge[1];
    } else if (size_t space;
               merge.is_string() && (space = merge.get_ref<const std::string &>().find(' ')) != std::string::npos) {
      left = merge.get_ref<const std::string &>().substr(0, space);
      right = merge.get_ref<const std::string &>().substr(space + 1);
    } else {
      fail("{}: expected two tokens, found {}", place, shortened(merge));
    }
    model.merges.emplace_back(partOfMerge(ids, left, place), partOfMerge(ids, right, place));
  }
  return model;
}

BpeModel readTokenizerJson(const std::string &path, const std::vector<std::string> &specials) {
  BpeModel model = modelOf(parseJson(readWhole(path, "tokenizer"), path), path);
  addSpecials(model, specials);
  return model;
}

namespace {

std::string decodeBase64(std::string_view text, const std::string &place) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  for (char c : text.substr(0, text.size() - padding)) {
    uint32_t value = c >= 'A' && c <= 'Z'   ? static_cast<uint32_t>(c - 'A')
                     : c >= 'a' && c <= 'z' ? static_cast<uint32_t>(c - 'a') + 26
                     : c >= '0' && c <= '9' ? static_cast<uint32_t>(c - '0') + 52
                     : c == '+'             ? 62u
                     : c == '/'             ? 63u
                                            : 64u;
    if (value == 64)
      fail("{}: '{}' is not base64", place, wellFormed(text.substr(0, std::min<size_t>(text.size(), 80))));
    bits = (bits << 6 | value) & 0xFFFFFF;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count);
    }
  }
  if (text.empty() || text.size() % 4 != 0)
    fail("{}: '{}' is not base64", place, wellFormed(text.substr(0, std::min<size_t>(text.size(), 80))));
  return bytes;
}

struct KnownRanks {
  const char *name, *pattern;
  std::vector<std::pair<const char *, int32_t>> specials;
};

const std::vector<KnownRanks> &knownRanks() {
  static const std::vector<KnownRanks> known = {
      {"gpt2", "gpt2", {{"<|endoftext|>", 50256}}},
      {"r50k_base", "gpt2", {{"<|endoftext|>", 50256}}},
      {"p50k_base", "gpt2", {{"<|endoftext|>", 50256}}},
      {"cl100k_base",
       "cl100k",
       {{"<|endoftext|>", 100257},
        {"<|fim_prefix|>", 100258},
        {"<|fim_middle|>", 100259},
        {"<|fim_suffix|>", 100260},
        {"<|endofprompt|>", 100276}}},
      {"o200k_base", "o200k", {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}}};
  return known;
}

// A file of ranks has no merges: neighbours merge if they are a token together, the lowest rank first. Then a token is
// always made of the same two, which are what is left of its bytes when everything below its rank is merged.
void findMerges(BpeModel &model) {
  std::unordered_map<std::string_view, int32_t> ids;
  for (size_t id = 0; id < model.tokens.size(); ++id)
    if (!model.tokens[id].empty())
      ids.emplace(model.tokens[id], static_cast<int32_t>(id));
  auto rankOf = [&](std::string_view text) {
    auto at = ids.find(text);
    return at == ids.end() ? INT32_MAX : at->second;
  };
  for (size_t id = 0; id < model.tokens.size(); ++id) {
    std::string_view token = model.tokens[id];
    if (token.size() < 2)
      continue;
    std::vector<size_t> cuts;   // where parts begin, and the end
    std::vector<int32_t> ranks; // of a part and the next
    for (size_t i = 0; i <= token.size(); ++i)
      cuts.push_back(i);
    auto rankAt = [&](size_t i) {
      return i + 2 < cuts.size() ? rankOf(token.substr(cuts[i], cuts[i + 2] - cuts[i])) : INT32_MAX;
    };
    for (size_t i = 0; i < token.size(); ++i)
      ranks.push_back(rankAt(i));
    while (true) {
      auto first = std::min_element(ranks.begin(), ranks.end());
      if (*first >= static_cast<int32_t>(id))
        break;
      auto i = static_cast<size_t>(first - ranks.begin());
      cuts.erase(cuts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      ranks.erase(first + 1);
      ranks[i] = rankAt(i);
      if (i > 0)
        ranks[i - 1] = rankAt(i - 1);
    }
    if (cuts.size() == 3)
      model.merges.emplace_back(rankOf(token.substr(0, cuts[1])), rankOf(token.substr(cuts[1])));
  }
}

} // namespace

BpeModel readTiktoken(const std::string &path, const OpenOptions &options) {
  BpeModel model;
  model.wholeFirst = true;
  const std::string content = readWhole(path, "ranks");
  const std::vector<std::string_view> lines = linesOf(content);
  std::unordered_map<std::string, size_t> seen;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (line.empty())
      continue;
    const std::string place = fmt::format("{}:{}", path, i + 1);
    size_t space = line.find(' ');
    std::string_view number = space == line.npos ? "" : line.substr(space + 1);
    int64_t rank = -1;
    auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
    if (number.empty() || error != std::errc{} || stop != number.data() + number.size() || rank < 0 || rank >= mostIds)
      fail("{}: expected a token in base64, a space and a rank in [0, {}), found '{}'", place, mostIds,
           wellFormed(line.substr(0, std::min<size_t>(line.size(), 80))));
    std::string token = decodeBase64(line.substr(0, space), place);
    // Splitting a token takes time with the square of its length; the longest in use have some hundred bytes.
    if (token.size() > 4096)
      fail("{}: a token of {} bytes; none may have more than 4096", place, token.size());
    if (auto [at, isNew] = seen.try_emplace(token, i + 1); !isNew)
      fail("{}: the token '{}' is in line {} already", place, printable(token), at->second);
    if (static_cast<size_t>(rank) < model.tokens.size() && !model.tokens[static_cast<size_t>(rank)].empty())
      fail("{}: rank {} is both '{}' and '{}'", place, rank, printable(model.tokens[static_cast<size_t>(rank)]),
           printable(token));
    setToken(model, static_cast<int32_t>(rank), std::move(token), place);
  }
  findMerges(model);

  const std::string name = std::filesystem::path(path).stem().string();
  auto known =
      std::find_if(knownRanks().begin(), knownRanks().end(), [&](const auto &each) { return name == each.name; });
  if (options.pattern)
    model.pattern = patternOf(*options.pattern);
  else if (known != knownRanks().end())
    model.pattern = patternOf(known->pattern);
  else
    fail("{}: a file of ranks does not say how text is cut into pre-tokens; --pattern gpt2, cl100k, o200k or a regular "
         "expression does",
         path);
  if (known != knownRanks().end())
    for (auto [text, id] : known->specials) {
      setToken(model, id, text, path);
      addSpecial(model, id);
    }
  addSpecials(model, options.specials);
  return model;
}

void checkSpecials(const std::vector<std::string> &specials) {
  std::set<std::string> seen;
  for (const std::string &special : specials) {
    if (special.size() < 2)
      throw UsageError(fmt::format("the special token '{}' is {}", special,
                                   special.empty() ? "empty" : "one byte, which is a token already"));
    if (wellFormed(special) != special)
      throw UsageError(fmt::format("the special token '{}' is no UTF-8", wellFormed(special)));
    if (!seen.insert(special).second)
      throw UsageError(fmt::format("the special token '{}' is given twice", special));
  }
}

std::unique_ptr<Tokenizer> openTokenizer(const std::string &path, const OpenOptions &options) {
  checkSpecials(options.specials);
  if (path == "bytes") {
    if (options.pattern || !options.specials.empty())
      throw UsageError("the tokenizer 'bytes' has neither a pattern nor special tokens");
    return std::make_unique<ByteTokenizer>();
  }
  const std::filesystem::path place = path;
  std::error_code none;
  auto ranks = [&] { return std::make_unique<BpeTokenizer>(readTiktoken(path, options), path); };
  auto fromFile = [&](const std::string &file) -> std::unique_ptr<Tokenizer> {
    if (options.pattern)
      throw UsageError(fmt::format("{} says its pattern itself; --pattern is for .tiktoken files", file));
    return std::make_unique<BpeTokenizer>(readTokenizerJson(file, options.specials), file);
  };
  if (!std::filesystem::is_directory(place, none)) {
    if (place.extension() == ".tiktoken")
      return ranks();
    if (place.extension() == ".json" && place.filename() != "vocab.json")
      return fromFile(path);
    if (!std::filesystem::exists(place, none))
      fail("there is no tokenizer {}: expected a folder, a tokenizer.json, a .tiktoken file, or the word bytes", path);
    if (place.filename() != "vocab.json" && place.filename() != "merges.txt")
      fail("the tokenizer {} is neither a folder, nor a tokenizer.json, nor a .tiktoken file", path);
    fail("the tokenizer {} is one of two files; name their folder", path);
  }
  const std::string whole = (place / "tokenizer.json").string(), vocab = (place / "vocab.json").string(),
                    merges = (place / "merges.txt").string();
  if (std::filesystem::exists(whole, none))
    return fromFile(whole);
  if (!std::filesystem::exists(vocab, none) || !std::filesystem::exists(merges, none))
    fail("the folder {} holds no tokenizer: neither tokenizer.json, nor vocab.json and merges.txt", path);
  if (options.pattern && !isGpt2Pattern(patternOf(*options.pattern)))
    throw UsageError(
        fmt::format("{} and merges.txt mean the pattern of GPT-2; --pattern is for .tiktoken files", vocab));
  return std::make_unique<BpeTokenizer>(readGpt2(vocab, merges, options.specials), path);
}

namespace {

// {"token": id}: special tokens as they are, unless another token reads like that.
json vocabOf(const BpeModel &model) {
  json vocab = json::object();
  auto special = std::vector<bool>(model.tokens.size());
  for (int32_t id : model.specials)
    special[static_cast<size_t>(id)] = true;
  std::unordered_map<std::string_view, bool> merged; // what merges make must stand there in its printable form
  std::vector<std::string> results;
  results.reserve(model.merges.size());
  for (auto [left, right] : model.merges)
    merged[results.emplace_back(model.tokens[static_cast<size_t>(left)] + model.tokens[static_cast<size_t>(right)])];
  for (size_t id = 0; id < model.tokens.size(); ++id)
    if (const std::string &token = model.tokens[id];
        !token.empty() && (!special[id] || token.size() == 1 || merged.count(token)))
      vocab.emplace(printable(token), id);
  for (int32_t id : model.specials)
    if (const std::string &token = model.tokens[static_cast<size_t>(id)]; token.size() > 1 && !merged.count(token))
      vocab.emplace(token, id);
  return vocab;
}

} // namespace

json tokenizerJson(const BpeModel &model) {
  json added = json::array();
  for (int32_t id : model.specials)
    added.push_back({{"id", id},
                     {"content", model.tokens[static_cast<size_t>(id)]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  json merges = json::array();
  for (auto [left, right] : model.merges)
    merges.push_back(
        {printable(model.tokens[static_cast<size_t>(left)]), printable(model.tokens[static_cast<size_t>(right)])});
  const bool gpt2 = isGpt2Pattern(model.pattern);
  const json byteLevel = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", gpt2}};
  json preTokenizer = byteLevel;
  if (!gpt2)
    preTokenizer = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Split"}, {"pattern", {{"Regex", model.pattern}}}, {"behavior", "Isolated"}, {"invert", false}},
          byteLevel}}};
  json decoder = byteLevel;
  decoder["use_regex"] = true;
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer", preTokenizer},
          {"post_processor", nullptr},
          {"decoder", decoder},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"unk_token", nullptr},
            {"continuing_subword_prefix", nullptr},
            {"end_of_word_suffix", nullptr},
            {"fuse_unk", false},
            {"byte_fallback", false},
            {"ignore_merges", model.wholeFirst},
            {"vocab", vocabOf(model)},
            {"merges", merges}}}};
}

std::vector<std::string> writeTokenizer(const BpeModel &model, const std::string &folder) {
  for (int32_t id : model.specials)
    if (const std::string &text = model.tokens[static_cast<size_t>(id)]; wellFormed(text) != text)
      fail("the special token '{}' is no UTF-8, so no tokenizer.json can hold it", wellFormed(text));
  const OutputFolder out(folder);
  std::vector<std::string> names = {"tokenizer.json"};
  writeFile(out.file("tokenizer.json"), tokenizerJson(model).dump(1) + "\n");
  // Of a tokenizer that was in the folder before: beside this one they would name other ids.
  auto removeOthers = [&] {
    for (const char *name : {"vocab.json", "merges.txt", "added_tokens.json"})
      if (std::error_code ignored; std::find(names.begin(), names.end(), name) == names.end())
        std::filesystem::remove(out.file(name), ignored);
  };
  if (!isGpt2Pattern(model.pattern) || model.wholeFirst) {
    removeOthers();
    return names;
  }
  std::string merges = "#version: 0.2\n";
  for (auto [left, right] : model.merges)
    merges += printable(model.tokens[static_cast<size_t>(left)]) + ' ' +
              printable(model.tokens[static_cast<size_t>(right)]) + '\n';
  writeFile(out.file("vocab.json"), vocabOf(model).dump(0) + "\n");
  writeFile(out.file("merges.txt"), merges);
  json added = json::object();
  for (int32_t id : model.specials)
    if (const std::string &text = model.tokens[static_cast<size_t>(id)]; text != endOfText)
      added[text] = id;
  names.insert(names.end(), {"vocab.json", "merges.txt"});
  if (!added.empty()) {
    writeFile(out.file("added_tokens.json"), added.dump(1) + "\n");
    names.push_back("added_tokens.json");
  }
  removeOthers();
  return names;
}

} // namespace burin::runtime
