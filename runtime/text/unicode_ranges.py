#!/usr/bin/env python3
"""Writes unicode_ranges.h: python3 runtime/text/unicode_ranges.py > runtime/text/unicode_ranges.h"""
import unicodedata


def ranges(major):
    first = None
    for code in range(0x110001):
        inside = code < 0x110000 and unicodedata.category(chr(code))[0] == major
        if inside and first is None:
            first = code
        if not inside and first is not None:
            yield first, code - 1
            first = None


def table(name, major, what):
    items = [f"{{{a:#x}, {b:#x}}}," for a, b in ranges(major)]
    lines, line = [], "   "
    for item in items:
        if len(line) + 1 + len(item) > 118:
            lines.append(line)
            line = "   "
        line += " " + item
    return "\n".join([f"// {what}.", f"inline constexpr Range {name}[] = {{", *lines, line, "};"])


print(f"""// Made by unicode_ranges.py from Unicode {unicodedata.unidata_version}. First and last code point of each range.
// clang-format off
#pragma once
#include <cstdint>

namespace burin::runtime::unicode {{

struct Range {{
  uint32_t first, last;
}};

inline constexpr char version[] = "{unicodedata.unidata_version}";

{table("letters", "L", "General category L")}

{table("numbers", "N", "General category N")}

}} // namespace burin::runtime::unicode""")
