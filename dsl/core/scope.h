// Where an op comes from. A Scope names a layer and remembers the model line that asked for it; a Site adds the line
// that applies the op. So a location reads: scope, layer line, called at model line.
//
//   In a model:  nn::linear(x, 256, "lm_head")                      // a Scope, made here, records this line
//   In a layer:  matmul(x, weight, {.transpose_b = true}, scope)    // a Site: the scope's line and this one
#pragma once

#include <cstdint>
#include <source_location>
#include <string_view>

#include "place.h"
#include "text.h"

namespace burin {

struct Scope {
  Text name;   // "layers.0.attn"
  Place place; // the line in the model

  constexpr Scope(const char *name, std::source_location here = std::source_location::current())
      : name(name), place(here) {}

  constexpr Scope operator/(std::string_view inner) const { return {name.dotted(inner), place}; }
  constexpr Scope operator/(int64_t index) const { return {name.dotted(index), place}; }

private:
  constexpr Scope(const Text &name, const Place &place) : name(name), place(place) {}
};

struct Site {
  Text scope;
  Place layer; // the line that applies the op
  Place place; // the line in the model: the same unless a layer was given a scope

  constexpr Site(std::source_location here) : layer(here), place(here) {}
  constexpr Site(const Scope &scope, std::source_location here = std::source_location::current())
      : scope(scope.name), layer(here), place(scope.place) {}
};

} // namespace burin
