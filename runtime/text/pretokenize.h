// Cutting a text into pre-tokens: merges never cross their borders. A pattern is a regular expression whose matches are
// the pre-tokens; text between matches is one of its own, so nothing is lost. The pattern of GPT-2 is written out by
// hand, all others are left to PCRE2.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "text/special_tree.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace burin::runtime {

extern const std::string gpt2Pattern;
// Whether it is GPT-2's, in one of the spellings that libraries give it.
bool isGpt2Pattern(const std::string &pattern);

// The regular expression that "gpt2", "cl100k" or "o200k" stands for; anything else is one itself.
std::string patternOf(const std::string &nameOrExpression);

// Finds matches. Not for two threads at once: each has a matcher of its own.
class RegexMatcher {
public:
  // The match at or after `from`. Nothing if there is none; if the text may go on, also where that could change it.
  virtual std::optional<std::pair<size_t, size_t>> next(std::string_view text, size_t from, bool whole) = 0;
  virtual ~RegexMatcher() = default;
};

// A compiled pattern, shared by threads.
class Regex {
public:
  // `source` says in errors where the pattern is from.
  Regex(const std::string &pattern, const std::string &source);
  ~Regex();
  std::unique_ptr<RegexMatcher> matcher() const;
  // How many characters before a match it may look at.
  size_t lookBehind() const;

private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

namespace gpt2 {

struct Classified {
  CharacterClass kind;
  uint32_t bytes;
};

// A byte that begins no character counts as one that is neither letter, number nor space.
Classified classifyBeyondAscii(const char *at, const char *end);

// Whether the character that ends at `at` is white space.
bool spaceBefore(std::string_view text, size_t at);

inline Classified classify(const char *at, const char *end) {
  auto byte = static_cast<unsigned char>(*at);
  return byte < 128 ? Classified{asciiClasses[byte], 1} : classifyBeyondAscii(at, end);
}

// The end of the run of one class that begins at `at`.
inline const char *runEnd(const char *at, const char *end, CharacterClass kind) {
  while (at != end) {
    Classified next = classify(at, end);
    if (next.kind != kind)
      break;
    at += next.bytes;
  }
  return at;
}

// The end of the pre-token that begins at `at`, where at < end:
//   '(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
inline const char *preTokenEnd(const char *at, const char *end) {
  if (*at == '\'' && end - at > 1) {
    const char second = at[1], third = end - at > 2 ? at[2] : '\0';
    if (second == 's' || second == 'd' || second == 'm' || second == 't')
      return at + 2;
    if ((second == 'l' && third == 'l') || (second == 'v' && third == 'e') || (second == 'r' && third == 'e'))
      return at + 3;
  }
  Classified first = classify(at, end);
  const char *next = at + first.bytes;
  if (*at == ' ' && next != end) {
    Classified second = classify(next, end);
    if (second.kind != CharacterClass::space)
      return runEnd(next + second.bytes, end, second.kind);
  }
  if (first.kind != CharacterClass::space)
    return runEnd(next, end, first.kind);
  // White space leaves its last character to what follows, unless it is the only one or nothing follows.
  const char *last = at;
  while (next != end) {
    Classified more = classify(next, end);
    if (more.kind != CharacterClass::space)
      return last == at ? next : last;
    last = next;
    next += more.bytes;
  }
  return end;
}

// A pre-token is certain once so much text follows it: a character of white space, the one after it, and
// what may follow an apostrophe, in bytes.
constexpr size_t margin = 8;

} // namespace gpt2

// Calls each(pre-token) for those of text[from..]. If the text may go on, stops at the first that more text could
// change. Returns where it stopped. `text` before `from` is what the pattern may look back at.
template <typename Each> size_t eachGpt2PreToken(std::string_view text, size_t from, bool whole, const Each &each) {
  const char *at = text.data() + from, *end = text.data() + text.size();
  const char *certain = whole ? end : end - std::min(text.size() - from, gpt2::margin);
  while (at < certain) {
    const char *next = gpt2::preTokenEnd(at, end);
    if (next > certain)
      break;
    each(std::string_view(at, static_cast<size_t>(next - at)));
    at = next;
  }
  return static_cast<size_t>(at - text.data());
}

template <typename Each>
size_t eachRegexPreToken(RegexMatcher &matcher, std::string_view text, size_t from, bool whole, const Each &each) {
  while (from < text.size()) {
    auto match = matcher.next(text, from, whole);
    if (!match && !whole)
      break;
    auto [begin, end] = match.value_or(std::pair(text.size(), text.size()));
    if (begin > from)
      each(text.substr(from, begin - from));
    if (end > begin)
      each(text.substr(begin, end - begin));
    from = end;
  }
  return from;
}

// The first place at or after `from` where a text may be cut, whatever follows it: no pre-token and no special token
// lies across it.
std::optional<size_t> borderOf(const SpecialTree &specials, bool gpt2, std::string_view text, size_t from);

} // namespace burin::runtime
