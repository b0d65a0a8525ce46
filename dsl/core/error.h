// How a wrong model is reported. `check` states a rule as a sentence. Broken in constant evaluation it is a compile
// error that quotes the sentence and leads back to the model's line; broken at run time it throws a ModelError with the
// numbers.
//
// A sentence has no quotes and no numbers: g++ would escape the former, and the latter follow by themselves.
//
//   check(width % heads == 0, "the heads must divide the width", "heads", heads, "width", width);
//   // models/gpt.cpp:41:15: error: the heads must divide the width: heads is 7, width is 512
#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "place.h"

namespace burin {

class ModelError : public std::exception {
public:
  explicit ModelError(std::string message, Place where = {}) : sentence(std::move(message)), place(where) {
    text = place.known() ? describe(place) + ": error: " + sentence : "error: " + sentence;
  }

  // "file:line:col: error: sentence: numbers"
  const char *what() const noexcept override { return text.c_str(); }
  // Without the place, for callers that have a better one.
  const std::string &message() const { return sentence; }
  const Place &where() const { return place; }
  // Shape rules know no place; whoever applies them adds it. A place that is already there is the narrower one.
  ModelError at(const Place &outer) const { return ModelError(sentence, place.known() ? place : outer); }

private:
  std::string sentence, text;
  Place place;
};

// How a value reads in a message. Shape and Dtype bring their own.
inline std::string describe(std::string_view text) { return std::string(text); }
template <typename Number>
requires std::is_arithmetic_v<Number> std::string describe(Number number) {
  if constexpr (std::is_same_v<Number, bool>)
    return number ? "true" : "false";
  else
    return std::to_string(number);
}

namespace detail {
inline void appendSeen(std::string &, const char *) {}
template <typename Value, typename... More>
void appendSeen(std::string &text, const char *separator, const char *name, const Value &value, const More &...more) {
  text += separator + std::string(name) + " is " + describe(value);
  appendSeen(text, ", ", more...);
}

// Not constexpr on purpose: reaching it is what stops a constant evaluation.
template <typename... Seen>
[[noreturn]] void modelError(const Place &place, const char *sentence, const Seen &...seen) {
  std::string text = sentence;
  appendSeen(text, ": ", seen...);
  throw ModelError(std::move(text), place);
}
} // namespace detail

// `seen` are pairs (name, value), by value so that clang prints the numbers in a compile error as well.
template <typename... Seen> constexpr void check(bool holds, const char *sentence, Seen... seen) {
  if (!holds)
    detail::modelError(Place{}, sentence, seen...);
}

template <typename... Seen> constexpr void checkAt(const Place &place, bool holds, const char *sentence, Seen... seen) {
  if (!holds)
    detail::modelError(place, sentence, seen...);
}

} // namespace burin
