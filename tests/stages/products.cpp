// The products of products.h.
#include "tests/stages/products.h"

#include "passes/import/import.h"
#include "tests/ops/elementwise.h"
#include "tests/support/compare.h"
#include "tests/support/program.h"
#include "gtest/gtest.h"

namespace burin::test {

void expectProducts(mlir::OwningOpRef<mlir::ModuleOp> module, const std::vector<ProductCase> &cases,
                    const std::function<Values(const Values &)> &seen, const std::string &what) {
  const auto name = [](size_t i) { return "product_" + std::to_string(i); };
  for (size_t i = 0; i < cases.size(); ++i) {
    Graph graph;
    const Tensor a = graph.input("a", cases[i].a, Dtype::f32), b = graph.input("b", cases[i].b, Dtype::f32);
    graph.output("c", matmul(a, b, cases[i].how));
    ASSERT_TRUE(importGraph(*module, graph, ParameterLayout(graph),
                            {.name = name(i), .outputs = {"c"}, .differentiate = false}));
  }
  const Program program(std::move(module));
  Random random(7);
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto draw = [&](const Shape &shape) {
      return randomReals(random, std::vector<int64_t>(shape.begin(), shape.end()), -1, 1);
    };
    const Values a = draw(cases[i].a), b = draw(cases[i].b);
    const Values expected = matrixProduct(seen(a), seen(b), cases[i].how.transpose_a, cases[i].how.transpose_b);
    for (Cut cut : {Cut::whole, Cut::single})
      expectClose(program.run(name(i), {a, b}, cut)[0], expected, 1e-5,
                  shapeName(cases[i].a) + " by " + shapeName(cases[i].b) + ", " + what);
  }
}

} // namespace burin::test
