// embedding_grad: rows added into a table; rows that no id names stay as they are.
#include "tests/support/op_test.h"

namespace burin::test {

static Results reference(const Call &call) {
  const Values &ids = call.in(0), &dy = call.in(1);
  Values table = call.in(2);
  for (int64_t i = 0; i < ids.size(); ++i)
    for (int64_t c = 0; c < dy.width(); ++c)
      table[static_cast<int64_t>(ids[i]) * dy.width() + c] += dy[i * dy.width() + c];
  return {table};
}

static std::vector<OpCase> cases() {
  std::vector<OpCase> cases;
  auto add = [&](int64_t rows, int64_t width, int64_t ids) {
    const std::string idsType = "tensor<2x" + std::to_string(ids) + "xi32>",
                      dyType = "tensor<2x" + std::to_string(ids) + "x" + std::to_string(width) + "xf32>",
                      tableType = "tensor<" + std::to_string(rows) + "x" + std::to_string(width) + "xf32>";
    cases.push_back(
        {.name = tableType + " from " + dyType,
         .operands = {{.shape = {2, ids}, .dtype = Dtype::i32, .lower = 0, .upper = static_cast<double>(rows)},
                      {.shape = {2, ids, width}},
                      {.shape = {rows, width}}},
         .build = {},
         .text = "func.func @op(%ids: " + idsType + ", %dy: " + dyType + ", %start: " + tableType + ") -> " +
                 tableType + " { %y = burin.embedding_grad %ids, %dy into %start : " + idsType + ", " + dyType + ", " +
                 tableType + "  return %y : " + tableType + " }"});
  };
  for (int64_t n : oddSizes) {
    add(7, n, 5);
    add(n, 3, 13);
    add(5, 17, n);
  }
  return cases;
}

static const OpTest test("embedding_grad", reference, cases);

} // namespace burin::test
