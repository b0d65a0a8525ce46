// Loop nests of every kind that the tile form allows, at awkward sizes, against the nest run one element after the
// other in double precision.
#include <functional>

#include "tests/codegen/cpu/kernel.h"

namespace burin::test {
namespace {

// Strides by loop; 0 means that the operand lacks the loop.
struct Operand {
  std::vector<int64_t> strides;
  std::string element = "f32";
};

struct Case {
  std::string name;
  std::vector<int64_t> extents;
  std::vector<Operand> inputs, outputs;
  std::string body; // reads %i0, %i1, ... and %o0, ...; ends in linalg.yield
  // in: the inputs' elements; out: results so far, to be replaced.
  std::function<void(const std::vector<int64_t> &index, const std::vector<double> &in, std::vector<double> &out)>
      reference;
  double tolerance = 1e-6; // relative to the sum of what was added up
  double start = 0;        // what accumulated results hold before
  bool inPlace = false;    // output 0 is input 0's memory

  std::string fullName() const { return name + "_" + join(extents, "_"); }
};

class CpuNestsTest : public testing::TestWithParam<Machine> {
protected:
  void SetUp() override {
    if (!GetParam().isPresent())
      GTEST_SKIP() << "this machine has no " << GetParam().cpu;
  }

  // The tile of an operand: its dimensions are the loops that it has, in their order.
  static TileText tileOf(const Case &one, const Operand &operand, int argument) {
    TileText tile{argument, argument + 1, {}, {}, operand.element};
    for (size_t d = 0; d < one.extents.size(); ++d)
      if (operand.strides[d] != 0) {
        tile.sizes.push_back(one.extents[d]);
        tile.strides.push_back(operand.strides[d]);
      }
    return tile;
  }

  static std::vector<TileText> tilesOf(const Case &one) {
    std::vector<TileText> tiles;
    for (const Operand &operand : one.inputs)
      tiles.push_back(tileOf(one, operand, static_cast<int>(tiles.size())));
    for (const Operand &operand : one.outputs)
      tiles.push_back(tileOf(one, operand, static_cast<int>(tiles.size())));
    if (one.inPlace) {
      tiles[one.inputs.size()].argument = 0;
      tiles[one.inputs.size()].offset = tiles[0].offset;
    }
    return tiles;
  }

  static std::string textOf(const Case &one) {
    std::vector<TileText> tiles = tilesOf(one);
    size_t loops = one.extents.size();
    std::string dims, maps, iterators, ins, insTypes, outs, outsTypes, arguments, text;
    for (size_t d = 0; d < loops; ++d)
      dims += (d ? ", d" : "d") + std::to_string(d);
    std::vector<bool> reduced(loops, false);
    for (size_t i = 0; i < tiles.size(); ++i) {
      bool isInput = i < one.inputs.size();
      const Operand &operand = isInput ? one.inputs[i] : one.outputs[i - one.inputs.size()];
      std::string results;
      for (size_t d = 0; d < loops; ++d) {
        if (operand.strides[d] != 0)
          results += (results.empty() ? "d" : ", d") + std::to_string(d);
        else if (!isInput)
          reduced[d] = true;
      }
      maps += (i ? ", " : "") + std::string("affine_map<(") + dims + ") -> (" + results + ")>";
      std::string name = "t" + std::to_string(i);
      text += tiles[i].define(name);
      std::string &list = isInput ? ins : outs, &types = isInput ? insTypes : outsTypes;
      list += (list.empty() ? "%" : ", %") + name;
      types += (types.empty() ? "" : ", ") + tiles[i].type();
      arguments += (i ? ", %" : "%") + std::string(isInput ? "i" : "o") +
                   std::to_string(isInput ? i : i - one.inputs.size()) + ": " + operand.element;
    }
    for (size_t d = 0; d < loops; ++d)
      iterators += std::string(d ? ", " : "") + (reduced[d] ? "\"reduction\"" : "\"parallel\"");
    return text + "linalg.generic {indexing_maps = [" + maps + "], iterator_types = [" + iterators + "]}" +
           (ins.empty() ? "" : " ins(" + ins + " : " + insTypes + ")") + " outs(" + outs + " : " + outsTypes +
           ") {\n^bb0(" + arguments + "):\n" + one.body + "\n}\n";
  }

  void expectNests(const std::vector<Case> &cases) {
    Kernels kernels(GetParam());
    for (const Case &one : cases) {
      std::vector<std::string> types;
      for (const TileText &tile : tilesOf(one))
        types.push_back(flatType(tile.end(), tile.element));
      kernels.add(one.fullName(), types, textOf(one));
    }
    ASSERT_NO_FATAL_FAILURE(kernels.compile());
    for (const Case &one : cases)
      expectNest(kernels, one);
  }

  static void expectNest(const Kernels &kernels, const Case &one) {
    std::vector<TileText> tiles = tilesOf(one);
    std::vector<std::unique_ptr<Buffer>> buffers;
    std::vector<std::vector<double>> values; // what the reference works on
    std::vector<std::vector<bool>> written;
    Random random(one.extents.empty() ? 1 : static_cast<uint64_t>(one.extents[0] * 131 + one.extents.back()));
    for (size_t i = 0; i < tiles.size(); ++i) {
      const TileText &tile = tiles[i];
      buffers.push_back(std::make_unique<Buffer>(tile.end()));
      values.emplace_back(static_cast<size_t>(tile.end()), -7);
      written.emplace_back(static_cast<size_t>(tile.end()), false);
      bool isInput = i < one.inputs.size(), isInteger = tile.element == "i32";
      Buffer &buffer = *buffers.back();
      if (!isInput)
        for (int64_t j = 0; j < tile.end(); ++j) {
          if (isInteger)
            buffer.integers()[j] = -7;
          else
            buffer.floats()[j] = -7;
        }
      forEachIndex(tile.sizes, [&](const auto &index) {
        int64_t at = tile.offset + linear(index, tile.strides);
        double value = isInput ? random.next() : one.start;
        if (isInteger)
          value = std::floor(value * 100);
        if (isInteger)
          buffer.integers()[at] = static_cast<int32_t>(value);
        else
          buffer.floats()[at] = static_cast<float>(value);
        values.back()[static_cast<size_t>(at)] = value;
      });
    }

    forEachIndex(one.extents, [&](const auto &index) {
      std::vector<double> in, out;
      for (size_t i = 0; i < tiles.size(); ++i) {
        const Operand &operand = i < one.inputs.size() ? one.inputs[i] : one.outputs[i - one.inputs.size()];
        size_t source = one.inPlace && i == one.inputs.size() ? 0 : i;
        (i < one.inputs.size() ? in : out)
            .push_back(values[source][static_cast<size_t>(tiles[i].offset + linear(index, operand.strides))]);
      }
      one.reference(index, in, out);
      for (size_t i = 0; i < one.outputs.size(); ++i) {
        size_t at = static_cast<size_t>(tiles[one.inputs.size() + i].offset + linear(index, one.outputs[i].strides)),
               slot = one.inputs.size() + i;
        values[slot][at] = out[i];
        written[slot][at] = true;
      }
    });

    std::vector<const Buffer *> arguments;
    for (const auto &buffer : buffers)
      arguments.push_back(buffer.get());
    kernels.run(one.fullName(), arguments);

    for (size_t i = one.inputs.size(); i < tiles.size(); ++i) {
      const Buffer &buffer = *buffers[one.inPlace && i == one.inputs.size() ? 0 : i];
      for (size_t at = 0; at < written[i].size(); ++at) {
        double got = tiles[i].element == "i32" ? buffer.integers()[at] : buffer.floats()[at];
        if (written[i][at]) {
          ASSERT_NEAR(got, values[i][at], one.tolerance * std::max(1.0, std::abs(values[i][at])))
              << one.fullName() << ": result " << i - one.inputs.size() << ", element " << at;
        } else if (!one.inPlace) {
          ASSERT_EQ(got, -7) << one.fullName() << " wrote outside result " << i - one.inputs.size() << ", at element "
                             << at;
        }
      }
    }
  }

  // The case for every odd width, its strides made from the width.
  void expectAtOddWidths(const std::function<Case(int64_t)> &make) {
    std::vector<Case> cases;
    for (int64_t width : oddSizes)
      cases.push_back(make(width));
    expectNests(cases);
  }
};

using In = const std::vector<double> &;
using Out = std::vector<double> &;
using Index = const std::vector<int64_t> &;

TEST_P(CpuNestsTest, ElementWiseWorkReadsRowsColumnsAndScalarsOfItsTile) {
  expectAtOddWidths([](int64_t n) {
    return Case{"element_wise",
                {5, n},
                {{{n + 1, 1}}, {{0, 1}}, {{2, 0}}, {{0, 0}}},
                {{{n + 2, 1}}},
                "%a = arith.mulf %i0, %i1 : f32\n%b = arith.addf %a, %i2 : f32\n%c = arith.subf %b, %i3 : "
                "f32\nlinalg.yield %c : f32",
                [](Index, In in, Out out) { out[0] = in[0] * in[1] + in[2] - in[3]; }};
  });
}

TEST_P(CpuNestsTest, ContiguousRowsBecomeOneRun) {
  expectAtOddWidths([](int64_t n) {
    return Case{"contiguous",
                {3, 7, n},
                {{{7 * n, n, 1}}},
                {{{7 * n, n, 1}}},
                "%a = arith.addf %i0, %i0 : f32\nlinalg.yield %a : f32",
                [](Index, In in, Out out) { out[0] = 2 * in[0]; }};
  });
}

TEST_P(CpuNestsTest, InPlaceWorkReadsWhatItReplaces) {
  expectAtOddWidths([](int64_t n) {
    Case one{"in_place",
             {3, n},
             {{{n + 3, 1}}},
             {{{n + 3, 1}}},
             "%a = arith.addf %i0, %i0 : f32\nlinalg.yield %a : f32",
             [](Index, In in, Out out) { out[0] = 2 * in[0]; }};
    one.inPlace = true;
    return one;
  });
}

TEST_P(CpuNestsTest, AResultMayReadItsOldValue) {
  expectAtOddWidths([](int64_t n) {
    Case one{"old_value",
             {3, n},
             {{{n, 1}}},
             {{{n + 1, 1}}},
             "%a = arith.subf %o0, %i0 : f32\nlinalg.yield %a : f32",
             [](Index, In in, Out out) { out[0] -= in[0]; }};
    one.start = 3;
    return one;
  });
}

TEST_P(CpuNestsTest, StridesOfTwoAndMoreAreGathered) {
  expectAtOddWidths([](int64_t n) {
    return Case{"strided",
                {4, n},
                {{{2 * n, 2}}, {{5 * n + 1, 5}}},
                {{{n, 1}}},
                "%a = arith.subf %i0, %i1 : f32\nlinalg.yield %a : f32",
                [](Index, In in, Out out) { out[0] = in[0] - in[1]; }};
  });
}

TEST_P(CpuNestsTest, StridedResultsAreScattered) {
  expectAtOddWidths([](int64_t n) {
    return Case{"scattered", {4, n}, {{{n, 1}}}, {{{3 * n, 3}}}, "linalg.yield %i0 : f32", [](Index, In in, Out out) {
                  out[0] = in[0];
                }};
  });
}

TEST_P(CpuNestsTest, TilesThatLieTheOtherWayRoundAreTransposed) {
  for (int64_t m : {2, 3, 16, 19})
    expectAtOddWidths([m](int64_t n) {
      return Case{"transposed_" + std::to_string(m),
                  {2, m, n},
                  {{{m * n + 50, 1, m + 1}}, {{m, 1, 0}}},
                  {{{m * n, n, 1}}, {{m * n, 1, m}}},
                  "%a = arith.mulf %i0, %i1 : f32\n%b = arith.addf %i0, %i1 : f32\nlinalg.yield %a, %b : f32, f32",
                  [](Index, In in, Out out) {
                    out[0] = in[0] * in[1];
                    out[1] = in[0] + in[1];
                  }};
    });
}

TEST_P(CpuNestsTest, SumsMaximaAndProductsOverTheLastLoop) {
  expectAtOddWidths([](int64_t n) {
    Case one{"row_folds",
             {6, n},
             {{{n + 1, 1}}, {{n, 1}}},
             {{{1, 0}}, {{2, 0}}, {{1, 0}}},
             "%a = arith.addf %o0, %i0 : f32\n%b = arith.maximumf %o1, %i0 : f32\n%c = math.fma %i0, %i1, %o2 : "
             "f32\nlinalg.yield %a, %b, %c : f32, "
             "f32, f32",
             [](Index, In in, Out out) {
               out[0] += in[0];
               out[1] = std::max(out[1], in[0]);
               out[2] += in[0] * in[1];
             }};
    one.start = 0.5;
    one.tolerance = 1e-5;
    return one;
  });
}

// Beyond a tail 0 is divided by 0; that must not reach the sum.
TEST_P(CpuNestsTest, SumsOfQuotients) {
  expectAtOddWidths([](int64_t n) {
    Case one{"quotients",
             {1, n},
             {{{n, 1}}, {{n, 1}}},
             {{{1, 0}}},
             "%a = arith.divf %i0, %i1 : f32\n%b = arith.addf %o0, %a : f32\nlinalg.yield %b : f32",
             [](Index, In in, Out out) { out[0] += in[0] / in[1]; }};
    one.tolerance = 1e-5;
    return one;
  });
}

TEST_P(CpuNestsTest, AFullResultBesideASum) {
  expectAtOddWidths([](int64_t n) {
    Case one{"exp_and_sum",
             {5, n},
             {{{n + 1, 1}}, {{1, 0}}},
             {{{n, 1}}, {{1, 0}}},
             "%a = arith.subf %i0, %i1 : f32\n%b = math.exp %a : f32\n%c = arith.addf %o1, %b : f32\nlinalg.yield %b, "
             "%c : f32, f32",
             [](Index, In in, Out out) {
               out[0] = std::exp(in[0] - in[1]);
               out[1] += out[0];
             }};
    one.tolerance = 1e-5;
    return one;
  });
}

TEST_P(CpuNestsTest, SumsDownTheRowsStayInRegisters) {
  expectAtOddWidths([](int64_t n) {
    Case one{"column_folds",
             {9, n},
             {{{n + 1, 1}}, {{1, 0}}},
             {{{0, 1}}, {{0, 2}}},
             "%a = math.fma %i0, %i1, %o0 : f32\n%b = arith.minimumf %o1, %i0 : f32\nlinalg.yield %a, %b : f32, f32",
             [](Index, In in, Out out) {
               out[0] += in[0] * in[1];
               out[1] = std::min(out[1], in[0]);
             }};
    one.tolerance = 1e-5;
    return one;
  });
}

TEST_P(CpuNestsTest, RecurrencesDownTheRowsKeepTheirOrder) {
  expectAtOddWidths([](int64_t n) {
    Case one{"recurrence",
             {9, n},
             {{{n, 1}}},
             {{{0, 1}}},
             "%a = arith.mulf %o0, %i0 : f32\n%b = arith.subf %i0, %a : f32\nlinalg.yield %b : f32",
             [](Index, In in, Out out) { out[0] = in[0] - out[0] * in[0]; }};
    one.tolerance = 1e-5;
    return one;
  });
}

TEST_P(CpuNestsTest, RecurrencesAlongTheLastLoopKeepTheirOrder) {
  expectAtOddWidths([](int64_t n) {
    Case one{"row_recurrence",
             {3, n},
             {{{n, 1}}},
             {{{1, 0}}},
             "%a = arith.mulf %o0, %i0 : f32\n%b = arith.subf %i0, %a : f32\nlinalg.yield %b : f32",
             [](Index, In in, Out out) { out[0] = in[0] - out[0] * in[0]; }};
    one.tolerance = 1e-5;
    return one;
  });
}

TEST_P(CpuNestsTest, SumsOverSeveralLoopsAndOverTheMiddleOne) {
  expectAtOddWidths([](int64_t n) {
    Case one{"many_sums",
             {3, 5, n},
             {{{5 * n + 1, n, 1}}},
             {{{0, 0, 0}}, {{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}, {{n, 0, 1}}, {{0, n, 1}}},
             "%a = arith.addf %o0, %i0 : f32\n%b = arith.addf %o1, %i0 : f32\n%c = arith.addf %o2, %i0 : f32\n"
             "%d = arith.addf %o3, %i0 : f32\n%e = arith.addf %o4, %i0 : f32\n%f = arith.addf %o5, %i0 : f32\n"
             "linalg.yield %a, %b, %c, %d, %e, %f : f32, f32, f32, f32, f32, f32",
             [](Index, In in, Out out) {
               for (double &sum : out)
                 sum += in[0];
             }};
    one.tolerance = 2e-5;
    return one;
  });
}

TEST_P(CpuNestsTest, OneSumOverEverything) {
  expectAtOddWidths([](int64_t n) {
    Case one{"total",
             {7, n},
             {{{n + 1, 1}}},
             {{{0, 0}}},
             "%a = arith.addf %i0, %o0 : f32\nlinalg.yield %a : f32",
             [](Index, In in, Out out) { out[0] += in[0]; }};
    one.tolerance = 2e-5;
    one.start = 2;
    return one;
  });
}

TEST_P(CpuNestsTest, TransposedTilesAddUpToo) {
  expectAtOddWidths([](int64_t n) {
    Case one{"transposed_sums",
             {18, n},
             {{{1, 19}}},
             {{{1, 0}}, {{0, 1}}},
             "%a = arith.addf %o0, %i0 : f32\n%b = arith.addf %o1, %i0 : f32\nlinalg.yield %a, %b : f32, f32",
             [](Index, In in, Out out) {
               out[0] += in[0];
               out[1] += in[0];
             }};
    one.tolerance = 2e-5;
    return one;
  });
}

TEST_P(CpuNestsTest, IntegersCompareSelectAndCount) {
  expectAtOddWidths([](int64_t n) {
    return Case{"integers",
                {4, n},
                {{{n, 1}, "i32"}, {{0, 1}, "i32"}, {{n, 1}}},
                {{{n, 1}}, {{1, 0}, "i32"}, {{0, 1}, "i32"}},
                "%k = arith.constant 1 : i32\n%z = arith.constant 0.25 : f32\n%c = arith.cmpi sge, %i0, %i1 : i32\n%s "
                "= arith.select %c, %i2, %z : "
                "f32\n%e = arith.extui %c : i1 to i32\n%a = arith.addi %o1, %e : i32\n%m = arith.maxsi %o2, %i0 : "
                "i32\nlinalg.yield %s, %a, %m : f32, i32, i32",
                [](Index, In in, Out out) {
                  out[0] = in[0] >= in[1] ? in[2] : 0.25;
                  out[1] += in[0] >= in[1];
                  out[2] = std::max(out[2], in[0]);
                }};
  });
}

TEST_P(CpuNestsTest, DivisionOfIntegersMeetsNoPaddedLane) {
  expectAtOddWidths([](int64_t n) {
    return Case{"division",
                {2, n},
                {{{n, 1}, "i32"}},
                {{{n, 1}, "i32"}},
                "%k = arith.constant 1 : i32\n%a = arith.muli %i0, %i0 : i32\n%b = arith.addi %a, %k : i32\n%c = "
                "arith.constant 1000000 : i32\n%d = "
                "arith.divsi %c, %b : i32\nlinalg.yield %d : i32",
                [](Index, In in, Out out) { out[0] = std::floor(1e6 / (in[0] * in[0] + 1)); }};
  });
}

TEST_P(CpuNestsTest, LoopIndicesAreNumbers) {
  expectAtOddWidths([](int64_t n) {
    return Case{"indices",
                {2, 3, n},
                {},
                {{{3 * n, n, 1}}},
                "%a = linalg.index 0 : index\n%b = linalg.index 1 : index\n%c = linalg.index 2 : index\n%k = "
                "arith.constant 10 : index\n%d = "
                "arith.muli %b, %k : index\n%e = arith.addi %d, %c : index\n%f = arith.index_cast %e : index to "
                "i32\n%g = arith.sitofp %f : i32 to "
                "f32\n%h = arith.index_cast %a : index to i32\n%i = arith.sitofp %h : i32 to f32\n%j = arith.addf %g, "
                "%i : f32\nlinalg.yield %j : f32",
                [](Index index, In, Out out) { out[0] = static_cast<double>(index[0] + 10 * index[1] + index[2]); }};
  });
}

TEST_P(CpuNestsTest, NeighboursSwap) {
  std::vector<Case> cases;
  for (int64_t n : {2, 6, 16, 18, 34, 64, 130})
    cases.push_back({"swap",
                     {3, n},
                     {{{n, 1}}},
                     {{{n + 1, 1}}},
                     "%a = arith.addf %i0, %i0 : f32\n%j = linalg.index 1 : index\n%k = arith.index_cast %j : index to "
                     "i32\n%f = arith.sitofp %k : "
                     "i32 to f32\n%b = burin.swap_lanes %f : f32\nlinalg.yield %b : f32",
                     [](Index index, In, Out out) { out[0] = static_cast<double>(index[1] ^ 1); }});
  expectNests(cases);
}

TEST_P(CpuNestsTest, TablesAreComputedInDoublePrecision) {
  expectAtOddWidths([](int64_t n) {
    return Case{
        "table",
        {3, n},
        {{{1, 0}, "i32"}},
        {{{n, 1}}},
        "%j = linalg.index 1 : index\n%i = arith.index_cast %j : index to i32\n%d = arith.sitofp %i : i32 to f64\n%p = "
        "arith.sitofp %i0 : i32 to "
        "f64\n%s = arith.constant 1000.25 : f64\n%m = arith.mulf %p, %s : f64\n%a = arith.addf %m, %d : f64\n%c = "
        "math.cos %a : f64\n%e = "
        "math.sin %d : f64\n%t = arith.mulf %c, %e : f64\n%f = arith.truncf %t : f64 to f32\nlinalg.yield %f : f32",
        [](Index index, In in, Out out) {
          out[0] = std::cos(in[0] * 1000.25 + static_cast<double>(index[1])) * std::sin(static_cast<double>(index[1]));
        },
        1e-7};
  });
}

TEST_P(CpuNestsTest, NestsWithoutLoopsAndOfOneTurn) {
  Case scalar{
      "scalar", {}, {{{}}}, {{{}}}, "%a = arith.addf %i0, %o0 : f32\nlinalg.yield %a : f32", [](Index, In in, Out out) {
        out[0] += in[0];
      }};
  Case unit{"unit",
            {1, 1},
            {{{9, 4}}},
            {{{3, 0}}},
            "%a = arith.addf %i0, %o0 : f32\nlinalg.yield %a : f32",
            [](Index, In in, Out out) { out[0] += in[0]; }};
  Case column{"column",
              {37, 1},
              {{{3, 1}}},
              {{{1, 1}}},
              "linalg.yield %i0 : f32",
              [](Index, In in, Out out) { out[0] = in[0]; }};
  Case fill{"fill", {65}, {}, {{{1}}}, "%a = arith.constant 1.5 : f32\nlinalg.yield %a : f32", [](Index, In, Out out) {
              out[0] = 1.5;
            }};
  expectNests({scalar, unit, column, fill});
}

// Where the split of a launch over threads falls must not show.
TEST_P(CpuNestsTest, CellsAreIndependentOfHowTheyAreCut) {
  Kernels kernels(GetParam());
  kernels.add("cells", {"memref<700xf32>", "memref<10xf32>"}, R"(
    %w = arith.constant 70 : index
    %at = arith.muli %cell, %w : index
    %t = memref.reinterpret_cast %0 to offset: [%at], sizes: [70], strides: [1] : memref<700xf32> to memref<70xf32, strided<[1], offset: ?>>
    %s = memref.reinterpret_cast %1 to offset: [%cell], sizes: [], strides: [] : memref<10xf32> to memref<f32, strided<[], offset: ?>>
    %f0 = arith.constant 0.0 : f32
    linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%s : memref<f32, strided<[], offset: ?>>) {
    ^bb0(%o: f32):
      linalg.yield %f0 : f32
    }
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
        ins(%t : memref<70xf32, strided<[1], offset: ?>>) outs(%s : memref<f32, strided<[], offset: ?>>) {
    ^bb0(%i: f32, %o: f32):
      %a = arith.addf %i, %o : f32
      linalg.yield %a : f32
    }
  )");
  ASSERT_NO_FATAL_FAILURE(kernels.compile());
  Buffer x(700), whole(10), single(10);
  Random random(3);
  for (int64_t i = 0; i < x.size(); ++i)
    x.floats()[i] = random.next();
  kernels.run("cells", {&x, &whole}, 0, 10);
  for (int64_t cell = 9; cell >= 0; --cell)
    kernels.run("cells", {&x, &single}, cell, cell + 1);
  EXPECT_EQ(std::memcmp(whole.floats(), single.floats(), 40), 0);
}

// Single elements are read and written wherever the tile lies, scratch included.
TEST_P(CpuNestsTest, SingleElementsOfTilesAndScratch) {
  Kernels kernels(GetParam());
  kernels.add("elements", {"memref<100xi32>", "memref<100xf32>"}, R"(
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c128 = arith.constant 128 : index
    %t = memref.reinterpret_cast %0 to offset: [%c3], sizes: [5, 6], strides: [10, 2] : memref<100xi32> to memref<5x6xi32, strided<[10, 2], offset: ?>>
    %p = memref.subview %t[1, 2] [3, 3] [1, 1] : memref<5x6xi32, strided<[10, 2], offset: ?>> to memref<3x3xi32, strided<[10, 2], offset: ?>>
    %q = memref.transpose %p (i, j) -> (j, i) : memref<3x3xi32, strided<[10, 2], offset: ?>> to memref<3x3xi32, strided<[2, 10], offset: ?>>
    %id = memref.load %q[%one, %c2] : memref<3x3xi32, strided<[2, 10], offset: ?>>
    %f = arith.sitofp %id : i32 to f32
    %s = memref.view %scratch[%c128][] : memref<?xi8> to memref<4x4xf32>
    memref.store %f, %s[%one, %c3] : memref<4x4xf32>
    %g = memref.load %s[%one, %c3] : memref<4x4xf32>
    %index = arith.index_cast %id : i32 to index
    memref.store %g, %1[%index] : memref<100xf32>
  )");
  ASSERT_NO_FATAL_FAILURE(kernels.compile());
  Buffer ids(100), out(100);
  for (int i = 0; i < 100; ++i)
    ids.integers()[i] = i;
  kernels.run("elements", {&ids, &out});
  // (1, 2) of the transposed part is (2, 1) of it, (3, 3) of the tile: element 3 + 30 + 6.
  EXPECT_EQ(out.floats()[39], 39);
}

INSTANTIATE_TEST_SUITE_P(, CpuNestsTest, testing::ValuesIn(machines()), nameOf);

} // namespace
} // namespace burin::test
