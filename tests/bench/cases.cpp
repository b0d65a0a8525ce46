// Compiles the cases of a table, each an entry of its own, to one object: `bench_cases TABLE CPU DTYPE NAME FILE`, NAME
// being the model's; CPU may be a target for GPUs. What an entry is called says what it is: SET_FORM_ROWS_OUT_IN for
// products, KERNEL_SIZES for the rest.
#include "codegen/emit/object.h"
#include "codegen/files.h"
#include "passes/import/import.h"
#include "tests/support/program.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace burin;

namespace {

struct Case {
  std::string name;
  Graph graph;
  bool differentiate = false;
  std::map<std::string, Resident, std::less<>> residents = {};
};

// A name with its sizes.
template <typename... Sizes> std::string named(const std::string &name, Sizes... sizes) {
  return (name + ... + ("_" + std::to_string(sizes)));
}

// ---- products

Graph product(Shape a, Shape b, Matmul op) {
  Graph graph;
  // One after the other: which of two arguments is made first is the compiler's choice, and a worker looks for a first.
  const Tensor left = graph.input("a", a, Dtype::f32), right = graph.input("b", b, Dtype::f32);
  graph.output("y", matmul(left, right, op));
  return graph;
}

// The three products of a layer of weights [out, in] in a training step.
void addProducts(std::vector<Case> &cases, const std::string &set, int64_t rows, int64_t out, int64_t in) {
  cases.push_back({named(set + "_forward", rows, out, in), product({rows, in}, {out, in}, {.transpose_b = true})});
  cases.push_back({named(set + "_input", rows, out, in), product({rows, out}, {out, in}, {})});
  cases.push_back({named(set + "_weight", rows, out, in), product({rows, out}, {rows, in}, {.transpose_a = true})});
}

std::vector<Case> gemm() {
  std::vector<Case> cases;
  for (auto [out, in] : {std::pair(256, 256), {704, 256}, {256, 704}})
    addProducts(cases, "course", 2048, out, in);
  for (int64_t rows : {256, 1024})
    for (auto [out, in] : {std::pair(768, 768), {2304, 768}, {3072, 768}, {768, 3072}, {50304, 768}})
      addProducts(cases, "gpt", rows, out, in);
  for (int64_t size : {128, 256, 512, 1024})
    addProducts(cases, "square", size, size, size);
  addProducts(cases, "odd", 127, 129, 131);
  addProducts(cases, "odd", 1000, 1000, 17);
  return cases;
}

// ---- kernels

// Differentiates a kernel's result y: with a gradient of y that is not all ones.
void weigh(Graph &graph, Tensor y) {
  const Tensor weighted = mul(y, graph.input("dy", y.shape(), Dtype::f32));
  Shape all;
  for (int i = 0; i < y.shape().rank(); ++i)
    all.append(i);
  graph.output("loss", reduce_sum(weighted, {.dims = all}));
}

// nn::attention between its projections, laid out as they leave it.
Case attention(int64_t batch, int64_t heads, int64_t length, int64_t depth) {
  Graph graph;
  const Tensor positions = graph.input("positions", {length}, Dtype::i32);
  const auto split = [&](const char *name) {
    const Tensor projected = graph.parameter(name, {batch, length, heads * depth}, constant(0), false);
    return transpose(reshape(projected, {batch, length, heads, depth}), {0, 2, 1, 3});
  };
  const Tensor q = split("q"), k = split("k"), v = split("v");
  const Tensor scores = scale(matmul(q, k, {.transpose_b = true}), 1 / squareRoot(static_cast<double>(depth)));
  const Tensor weights = softmax(mask(scores, nn::causal(positions, Scope("attention"))));
  weigh(graph, reshape(transpose(matmul(weights, v), {0, 2, 1, 3}), {batch, length, heads * depth}));
  return {named("attention", batch, heads, length, depth), std::move(graph), true};
}
Case attention(int64_t length, int64_t depth) {
  Case made = attention(4096 / length, 4, length, depth);
  made.name = named("attention", length, depth);
  return made;
}

Case rmsNorm(int64_t rows, int64_t width) {
  Graph graph;
  const Tensor x = graph.input("x", {rows, width}, Dtype::f32);
  graph.output("y", rms_norm(x, graph.input("gain", {width}, Dtype::f32)));
  return {named("norm", rows, width), std::move(graph)};
}

Case swiglu(int64_t rows, int64_t hidden, int64_t width) {
  Graph graph;
  const Tensor x = graph.input("x", {rows, width}, Dtype::f32);
  graph.output("y", nn::swiglu(x, hidden, Scope("ffn")));
  return {named("swiglu", rows, hidden, width), std::move(graph)};
}

Case linearLoss(int64_t rows, int64_t vocab, int64_t width) {
  Graph graph;
  const Tensor x = graph.parameter("x", {rows, width}, constant(0), false);
  const Tensor logits = nn::linear(x, vocab, Scope("head"));
  graph.output("loss", cross_entropy(logits, graph.input("targets", {rows}, Dtype::i32)));
  return {named("linearloss", rows, vocab, width), std::move(graph), true};
}

Case embeddingGradient(int64_t rows, int64_t vocab, int64_t width) {
  Graph graph;
  const Tensor tokens = graph.input("tokens", {rows}, Dtype::i32);
  weigh(graph, nn::embedding(tokens, vocab, width, Scope("table")));
  return {named("embedding", rows, vocab, width), std::move(graph), true};
}

// AdamW in place, as the entry `update` of a model. `parameters` is a multiple of a row of the layout.
Case update(int64_t parameters, int64_t stateBytes) {
  const int64_t columns = ParameterLayout::rowElements;
  return {named("update", parameters),
          nn::declareUpdate({{.rows = parameters / columns, .columns = columns, .decay = true}}),
          false,
          {{"parameters.0", {"parameter", 0}},
           {"gradients.0", {"gradient", 0}},
           {"moment1.0", {"state", 0}},
           {"moment2.0", {"state", stateBytes}}}};
}

// Those of the course's model and of the 124M one, in whole rows.
constexpr int64_t courseParameters = 3'344'384, gptParameters = 123'587'584;
constexpr int64_t gpuCheckParameters = 1 << 16;

std::vector<Case> kernels(int64_t parameterBytes) {
  std::vector<Case> cases;
  for (int64_t length : {64, 128, 256, 512, 1024, 2048})
    for (int64_t depth : {16, 32, 64, 128})
      cases.push_back(attention(length, depth));
  for (auto [rows, width] : {std::pair(2048, 256), {1024, 768}, {8192, 768}})
    cases.push_back(rmsNorm(rows, width));
  cases.push_back(swiglu(2048, 704, 256));
  cases.push_back(swiglu(256, 2048, 768));
  cases.push_back(swiglu(1024, 2048, 768));
  cases.push_back(linearLoss(2048, 256, 256));
  cases.push_back(linearLoss(2048, 10000, 256));
  cases.push_back(linearLoss(256, 50304, 768));
  cases.push_back(linearLoss(1024, 50304, 768));
  cases.push_back(embeddingGradient(2048, 256, 256));
  cases.push_back(embeddingGradient(2048, 10000, 256));
  cases.push_back(embeddingGradient(1024, 50304, 768));
  cases.push_back(update(courseParameters, parameterBytes));
  cases.push_back(update(gptParameters, parameterBytes));
  return cases;
}

// ---- GPUs

// Small and odd: to be held against the CPU, also where a GPU is emulated.
std::vector<Case> gpuCheck() {
  std::vector<Case> cases;
  addProducts(cases, "odd", 33, 65, 67);
  addProducts(cases, "even", 64, 128, 64);
  cases.push_back(attention(1, 2, 64, 32));
  cases.push_back(attention(2, 1, 48, 16));
  cases.push_back(rmsNorm(5, 131));
  cases.push_back(swiglu(17, 40, 24));
  cases.push_back(linearLoss(19, 97, 32));
  cases.push_back(embeddingGradient(40, 50, 24));
  cases.push_back(update(2 * ParameterLayout::rowElements, 4 * gpuCheckParameters));
  return cases;
}

// To be timed: square products, those of the 124M model for 16 x 1024 tokens, its attention.
std::vector<Case> gpuTime() {
  std::vector<Case> cases;
  for (int64_t size : {1024, 2048, 4096, 8192})
    cases.push_back(
        {named("square_forward", size, size, size), product({size, size}, {size, size}, {.transpose_b = true})});
  for (auto [out, in] : {std::pair(768, 768), {2304, 768}, {3072, 768}, {768, 3072}})
    addProducts(cases, "gpt", 16384, out, in);
  for (auto [batch, length] : {std::pair(16, 1024), {4, 4096}})
    cases.push_back(attention(batch, 12, length, 64));
  return cases;
}

struct Choice {
  std::string cpu, dtype, name;
};

void compile(const std::vector<Case> &cases, const Choice &choice, int64_t parameterBytes, const std::string &file) {
  mlir::OwningOpRef<mlir::ModuleOp> module = test::emptyModule(choice.cpu);
  mlir::Builder b(&test::context());
  (*module)->setAttr("burin.model", b.getStringAttr(choice.name));
  (*module)->setAttr("burin.dtype", b.getStringAttr(choice.dtype));
  (*module)->setAttr("burin.parameter_bytes", b.getI64IntegerAttr(parameterBytes));
  (*module)->setAttr("burin.moments", b.getI64IntegerAttr(parameterBytes ? 2 : 0));
  for (const Case &wanted : cases) {
    ParameterLayout layout(wanted.graph);
    EntryOptions options{.name = wanted.name, .differentiate = wanted.differentiate, .residents = wanted.residents};
    if (!importGraph(*module, wanted.graph, layout, options))
      throw std::runtime_error("case " + wanted.name + " cannot be imported");
  }
  test::lower(*module, {});
  llvm::SmallVector<char, 0> object;
  std::string error;
  if (failed(emitModel(*module, object)))
    throw std::runtime_error("no object");
  if (!writeFile(file, {object.data(), object.size()}, error))
    throw std::runtime_error(error);
}

} // namespace

int main(int argc, char **argv) {
  try {
    const std::string table = argc == 6 ? argv[1] : "";
    if (table != "gemm" && table != "kernels" && table != "gpu_check" && table != "gpu_time")
      throw std::runtime_error("usage: bench_cases gemm | kernels | gpu_check | gpu_time CPU f32 | bf16 NAME FILE");
    const Choice choice = {argv[2], argv[3], argv[4]};
    if (table == "gemm")
      compile(gemm(), choice, 0, argv[5]);
    else if (table == "gpu_check")
      compile(gpuCheck(), choice, 4 * gpuCheckParameters, argv[5]);
    else if (table == "gpu_time")
      compile(gpuTime(), choice, 0, argv[5]);
    else
      compile(kernels(4 * gptParameters), choice, 4 * gptParameters, argv[5]);
  } catch (const ModelError &problem) {
    llvm::errs() << problem.what() << "\n";
    return 1;
  } catch (const std::exception &problem) {
    llvm::errs() << "error: " << problem.what() << "\n";
    return 1;
  }
  return 0;
}
