// PCRE2 is asked to mean what the libraries mean that tokenizers come from: classes are Unicode's, `$` is the end of
// the text, and bytes that are no UTF-8 match nothing.
#include "text/pretokenize.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <map>

#include "error.h"

namespace burin::runtime {

const std::string gpt2Pattern = R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

bool isGpt2Pattern(const std::string &pattern) {
  return pattern == gpt2Pattern ||
         pattern == R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)" ||
         pattern == R"('(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s)";
}

std::string patternOf(const std::string &nameOrExpression) {
  static const std::map<std::string, std::string> names = {
      {"gpt2", gpt2Pattern},
      {"cl100k", R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
                 R"(\s*[\r\n]+|\s+(?!\S)|\s+)"},
      {"o200k", R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+)"
                R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
                R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*)"
                R"((?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
                R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};
  auto at = names.find(nameOrExpression);
  return at == names.end() ? nameOrExpression : at->second;
}

gpt2::Classified gpt2::classifyBeyondAscii(const char *at, const char *end) {
  static const CharacterClasses &classes = CharacterClasses::get();
  Character character = characterAt({at, static_cast<size_t>(end - at)}, 0);
  if (character.bytes == 0)
    return {CharacterClass::other, 1};
  return {classes[character.code], static_cast<uint32_t>(character.bytes)};
}

bool gpt2::spaceBefore(std::string_view text, size_t at) {
  size_t begin = at - 1;
  while (begin > 0 && at - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80)
    --begin;
  Classified character = classify(text.data() + begin, text.data() + at);
  return character.kind == CharacterClass::space && begin + character.bytes == at;
}

namespace {

// PCRE2's \s has U+180E, which is no white space since Unicode 6.3 and to no library that tokenizers come from.
std::string withUnicodeSpaces(const std::string &pattern) {
  std::string result;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      result += pattern[i];
      continue;
    }
    char escaped = pattern[++i];
    if (escaped == 's')
      result += "\\p{White_Space}";
    else if (escaped == 'S')
      result += "\\P{White_Space}";
    else
      (result += '\\') += escaped;
  }
  return result;
}

std::string pcreMessage(int code) {
  PCRE2_UCHAR message[256];
  pcre2_get_error_message(code, message, sizeof message);
  return reinterpret_cast<const char *>(message);
}

template <auto Free> struct Freer {
  template <typename T> void operator()(T *object) const { Free(object); }
};

} // namespace

struct Regex::Compiled {
  std::string source;
  pcre2_code *code = nullptr;
  uint32_t lookBehind = 0;
  ~Compiled() { pcre2_code_free(code); }
};

Regex::Regex(const std::string &pattern, const std::string &source) {
  auto compiled = std::make_shared<Compiled>();
  compiled->source = source;
  int error = 0;
  size_t offset = 0;
  const std::string translated = withUnicodeSpaces(pattern);
  constexpr uint32_t options =
      PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY;
  compiled->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(), options, &error,
                                 &offset, nullptr);
  if (!compiled->code)
    fail("{}: the pattern is no regular expression that PCRE2 takes: {} before '{}'", source, pcreMessage(error),
         translated.substr(std::min(offset, translated.size())));
  uint32_t matchesEmpty = 0;
  pcre2_pattern_info(compiled->code, PCRE2_INFO_MATCHEMPTY, &matchesEmpty);
  if (matchesEmpty)
    fail("{}: the pattern '{}' matches where there is no text; each match must be a pre-token", source, pattern);
  pcre2_pattern_info(compiled->code, PCRE2_INFO_MAXLOOKBEHIND, &compiled->lookBehind);
  // Without a JIT compiler (other machines) the same matches are found, slower.
  int jit = pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
  if (jit != 0 && jit != PCRE2_ERROR_JIT_BADOPTION && jit != PCRE2_ERROR_NOMEMORY)
    fail("{}: the pattern cannot be compiled: {}", source, pcreMessage(jit));
  compiled_ = std::move(compiled);
}

Regex::~Regex() = default;

size_t Regex::lookBehind() const { return compiled_->lookBehind; }

std::unique_ptr<RegexMatcher> Regex::matcher() const {
  class Matcher : public RegexMatcher {
  public:
    explicit Matcher(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {
      if (!data_ || !context_ || !stack_)
        throw std::bad_alloc();
      pcre2_jit_stack_assign(context_.get(), nullptr, stack_.get());
    }

    std::optional<std::pair<size_t, size_t>> next(std::string_view text, size_t from, bool whole) override {
      int found = pcre2_match(compiled_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                              whole ? 0 : PCRE2_PARTIAL_HARD, data_.get(), context_.get());
      if (found == PCRE2_ERROR_NOMATCH || found == PCRE2_ERROR_PARTIAL)
        return std::nullopt;
      if (found < 0)
        fail("{}: the pattern cannot be matched against a text of {} bytes at offset {}: {}", compiled_->source,
             text.size(), from, pcreMessage(found));
      const size_t *place = pcre2_get_ovector_pointer(data_.get());
      if (place[0] < from || place[1] <= place[0]) // \K can do that
        fail("{}: the pattern matches no text, or text before its beginning", compiled_->source);
      return std::pair(place[0], place[1]);
    }

  private:
    std::shared_ptr<const Compiled> compiled_;
    std::unique_ptr<pcre2_match_data, Freer<pcre2_match_data_free>> data_{pcre2_match_data_create(1, nullptr)};
    std::unique_ptr<pcre2_match_context, Freer<pcre2_match_context_free>> context_{pcre2_match_context_create(nullptr)};
    std::unique_ptr<pcre2_jit_stack, Freer<pcre2_jit_stack_free>> stack_{
        pcre2_jit_stack_create(32 << 10, 64 << 20, nullptr)};
  };
  return std::make_unique<Matcher>(compiled_);
}

// With GPT-2's pattern, no pre-token goes from a character that is no white space on into white space, and none looks
// at what came before. Other patterns may do anything, so only the end of a special token is certain.
std::optional<size_t> borderOf(const SpecialTree &specials, bool gpt2, std::string_view text, size_t from) {
  if (!gpt2) {
    // The end of one that no other special token overlaps.
    for (size_t at = from - std::min(from, specials.longest());;) {
      SpecialTree::Found special = specials.find(text, at);
      if (special.id < 0)
        return std::nullopt;
      size_t end = special.begin + special.bytes;
      if (end >= from && !specials.across(text, special.begin) && !specials.across(text, end))
        return end;
      at = special.begin + 1;
    }
  }
  for (size_t at = std::max<size_t>(from, 1); at < text.size(); ++at) {
    auto after = static_cast<unsigned char>(text[at]);
    if (after < 128 && asciiClasses[after] == CharacterClass::space && !gpt2::spaceBefore(text, at) &&
        !specials.across(text, at))
      return at;
  }
  return std::nullopt;
}

} // namespace burin::runtime
