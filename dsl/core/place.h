// Place: a line of source that an op or a parameter comes from. It travels with every node into the compiler's
// locations.
#pragma once

#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace burin {

struct Place {
  std::string_view file; // static storage: comes from std::source_location or __FILE__
  uint32_t line = 0, column = 0;

  constexpr Place() = default;
  constexpr Place(std::string_view file, uint32_t line, uint32_t column) : file(file), line(line), column(column) {}
  constexpr Place(const std::source_location &location)
      : file(location.file_name()), line(location.line()), column(location.column()) {}

  constexpr bool known() const { return line != 0; }
  friend constexpr bool operator==(const Place &, const Place &) = default;
};

// "models/gpt.cpp:41:15"
inline std::string describe(const Place &place) {
  return std::string(place.file) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

} // namespace burin
