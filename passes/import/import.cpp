// Graph -> functions of the dialect. See import.h for what lies where.
#include "passes/import/import.h"

#include <algorithm>
#include <set>

#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace burin {

namespace {

constexpr int64_t alignment = 64;

int64_t roundedUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

llvm::StringRef relative(std::string_view file, llvm::StringRef root) {
  llvm::StringRef path(file.data(), file.size());
  if (!root.empty() && path.starts_with(root) && path.drop_front(root.size()).starts_with("/"))
    path = path.drop_front(root.size() + 1);
  return path;
}

llvm::StringRef text(std::string_view view) { return {view.data(), view.size()}; }

class GraphImporter {
public:
  GraphImporter(mlir::ModuleOp module, const Graph &graph, const ParameterLayout &layout, const EntryOptions &options)
      : b(module.getContext()), module(module), graph(graph), layout(layout), options(options),
        values(graph.nodes.size()) {}

  mlir::func::FuncOp run() {
    if (failed(chooseOutputs()))
      return nullptr;
    chooseArguments();
    createFunction();
    for (size_t id = 0; id < graph.nodes.size(); ++id)
      if (wanted[id] && graph.nodes[id].role == Node::Role::op)
        createOp(id);
    finish();
    if (failed(mlir::verify(function)) || failed(addBounds())) {
      function.erase();
      return nullptr;
    }
    return function;
  }

private:
  llvm::LogicalResult chooseOutputs() {
    if (options.outputs.empty())
      outputs.assign(graph.outputs.begin(), graph.outputs.end());
    for (const std::string &name : options.outputs) {
      const Output *output = graph.findOutput(name);
      if (!output)
        return module.emitError() << "the graph has no output '" << name << "'";
      outputs.push_back(*output);
    }
    return mlir::success();
  }

  std::vector<bool> reachable(const std::vector<Output> &from) const {
    std::vector<bool> reached(graph.nodes.size());
    for (const Output &output : from)
      reached[output.node] = true;
    // Operands have smaller ids.
    for (size_t id = graph.nodes.size(); id-- > 0;)
      if (reached[id])
        for (int operand : graph.nodes[id].operands)
          reached[operand] = true;
    return reached;
  }

  void chooseArguments() {
    wanted = reachable(outputs);
    std::vector<bool> byAny = reachable(graph.outputs);
    for (Node::Role role : {Node::Role::input, Node::Role::parameter})
      for (size_t id = 0; id < graph.nodes.size(); ++id) {
        if (graph.nodes[id].role != role)
          continue;
        // An input that nothing reads stays: the program feeds what the declaration asks for. An unread parameter still
        // has a gradient: zero.
        bool belongs = role == Node::Role::input ? wanted[id] || !byAny[id] : wanted[id] || options.differentiate;
        if (belongs)
          arguments.push_back(id);
      }
  }

  void createFunction() {
    llvm::SmallVector<mlir::Type> argumentTypes, resultTypes;
    for (size_t id : arguments)
      argumentTypes.push_back(typeOf(graph.nodes[id]));
    for (const Output &output : outputs)
      resultTypes.push_back(typeOf(graph.nodes[output.node]));
    b.setInsertionPointToEnd(module.getBody());
    function =
        mlir::func::FuncOp::create(b, module.getLoc(), options.name, b.getFunctionType(argumentTypes, resultTypes));
    function->setAttr("burin.entry", b.getUnitAttr());
    function->setAttr("burin.batch", b.getI64IntegerAttr(options.batch));
    function->setAttr("burin.length", b.getI64IntegerAttr(options.length));
    if (options.differentiate)
      function->setAttr("burin.differentiate", b.getUnitAttr());
    mlir::Block *body = function.addEntryBlock();
    b.setInsertionPointToStart(body);
    for (auto [i, id] : llvm::enumerate(arguments)) {
      const Node &node = graph.nodes[id];
      values[id] = body->getArgument(i);
      values[id].setLoc(locationOf(node));
      if (node.role == Node::Role::parameter)
        describe(i, {.role = "parameter", .offset = layout.offsets.find(node.name.view())->second}, node.name.view());
      else if (auto resident = options.residents.find(node.name.view()); resident != options.residents.end())
        describe(i, resident->second, node.name.view());
      else
        describe(i, {.role = "input"}, node.name.view());
    }
  }

  void describe(unsigned argument, const Resident &where, std::string_view name) {
    function.setArgAttr(argument, "burin.role", b.getStringAttr(where.role));
    function.setArgAttr(argument, "burin.name", b.getStringAttr(text(name)));
    if (where.role != "input")
      function.setArgAttr(argument, "burin.offset", b.getI64IntegerAttr(where.offset));
  }

  // The type is the graph's; the op's verifier infers it again.
  void createOp(size_t id) {
    const Node &node = graph.nodes[id];
    mlir::OperationState state(locationOf(node), ("burin." + text(node.mnemonic)).str());
    for (int operand : node.operands)
      state.addOperands(values[operand]);
    for (const Attribute &attribute : node.attributes)
      if (mlir::Attribute value = attributeOf(attribute))
        state.addAttribute(text(attribute.name), value);
    state.addTypes(typeOf(node));
    values[id] = b.create(state)->getResult(0);
  }

  void finish() {
    llvm::SmallVector<mlir::Value> results;
    for (const Output &output : outputs)
      results.push_back(values[output.node]);
    mlir::func::ReturnOp::create(b, function.getLoc(), results);
    for (auto [i, output] : llvm::enumerate(outputs)) {
      auto resident = options.residents.find(output.name.view());
      Resident where = resident == options.residents.end() ? Resident{.role = "output"} : resident->second;
      function.setResultAttr(i, "burin.role", b.getStringAttr(where.role));
      function.setResultAttr(i, "burin.name", b.getStringAttr(text(output.name)));
      if (where.role != "output")
        function.setResultAttr(i, "burin.offset", b.getI64IntegerAttr(where.offset));
    }
  }

  // Ids are checked once, where they enter the program; so every bounded operand must be an input, seen through views
  // at most.
  llvm::LogicalResult addBounds() {
    llvm::DenseMap<mlir::Value, std::pair<int64_t, int64_t>> bounds;
    auto walk = function.walk([&](BoundedOperands op) {
      for (mlir::OpOperand &operand : op->getOpOperands()) {
        std::optional<std::pair<int64_t, int64_t>> needed = op.operandBounds(operand.getOperandNumber());
        if (!needed)
          continue;
        mlir::Value source = operand.get();
        while (auto view = source.getDefiningOp<View>())
          source = view->getOperand(0);
        auto argument = mlir::dyn_cast<mlir::BlockArgument>(source);
        if (!argument || roleOf(argument) != "input") {
          op->emitError() << "the integers that " << op->getName().stripDialect()
                          << " reads must be an input of the model: computed ones cannot be checked"
                          << " before the step runs";
          return mlir::WalkResult::interrupt();
        }
        auto [known, isNew] = bounds.try_emplace(source, *needed);
        known->second = {std::max(known->second.first, needed->first), std::min(known->second.second, needed->second)};
      }
      return mlir::WalkResult::advance();
    });
    for (mlir::BlockArgument argument : function.getArguments())
      if (auto known = bounds.find(argument); known != bounds.end())
        function.setArgAttr(argument.getArgNumber(), "burin.bounds",
                            b.getDenseI64ArrayAttr({known->second.first, known->second.second}));
    return mlir::failure(walk.wasInterrupted());
  }

  llvm::StringRef roleOf(mlir::BlockArgument argument) {
    return function.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "burin.role").getValue();
  }

  mlir::Attribute attributeOf(const Attribute &attribute) {
    switch (attribute.kind) {
    case Attribute::Kind::integer:
      return b.getI64IntegerAttr(attribute.integer);
    case Attribute::Kind::real:
      return b.getF64FloatAttr(attribute.real);
    case Attribute::Kind::boolean:
      return attribute.integer ? b.getUnitAttr() : nullptr;
    case Attribute::Kind::text:
      return b.getStringAttr(text(attribute.text));
    case Attribute::Kind::integers:
      return b.getDenseI64ArrayAttr(llvm::ArrayRef(attribute.integers.begin(), attribute.integers.end()));
    }
    llvm_unreachable("the kinds above are all");
  }

  mlir::Type typeOf(const Node &node) {
    mlir::Type element = node.dtype == Dtype::f32 ? mlir::Type(b.getF32Type()) : b.getI32Type();
    return mlir::RankedTensorType::get(llvm::ArrayRef(node.shape.begin(), node.shape.end()), element);
  }

  mlir::Location lineOf(const Place &place) {
    if (!place.known())
      return b.getUnknownLoc();
    return mlir::FileLineColLoc::get(b.getContext(), relative(place.file, options.sourceRoot), place.line,
                                     place.column);
  }

  // Scope, the layer's line, called at the model's line.
  mlir::Location locationOf(const Node &node) {
    mlir::Location line = lineOf(node.place);
    if (node.layer.known() && node.layer != node.place)
      line = mlir::CallSiteLoc::get(lineOf(node.layer), line);
    // A parameter's own name says more than the layer it is in.
    std::string_view name = node.role == Node::Role::op ? node.scope.view() : node.name.view();
    return name.empty() ? line : mlir::NameLoc::get(b.getStringAttr(text(name)), line);
  }

  mlir::OpBuilder b;
  mlir::ModuleOp module;
  const Graph &graph;
  const ParameterLayout &layout;
  const EntryOptions &options;
  std::vector<mlir::Value> values; // by node
  std::vector<bool> wanted;        // by node
  std::vector<Output> outputs;
  std::vector<size_t> arguments; // nodes
  mlir::func::FuncOp function;
};

// AdamW over the padded sections: the inputs and outputs of nn::declareUpdate lie in the model's buffers.
mlir::func::FuncOp importUpdate(mlir::ModuleOp module, const ParameterLayout &layout, llvm::StringRef sourceRoot) {
  EntryOptions options{.name = "update", .sourceRoot = sourceRoot.str()};
  std::vector<nn::UpdateGroup> groups;
  for (const ParameterLayout::Section &section : layout.sections) {
    std::string group = "." + std::to_string(groups.size());
    options.residents["parameters" + group] = {"parameter", section.offset};
    options.residents["gradients" + group] = {"gradient", section.offset};
    options.residents["moment1" + group] = {"state", section.offset};
    options.residents["moment2" + group] = {"state", layout.bytes + section.offset};
    groups.push_back({.rows = section.rows, .columns = ParameterLayout::rowElements, .decay = section.decay});
  }
  return importGraph(module, nn::declareUpdate(groups), layout, options);
}

} // namespace

ParameterLayout::ParameterLayout(const Graph &graph) {
  constexpr int64_t rowBytes = rowElements * 4;
  for (bool decay : {true, false}) {
    Section section{.offset = bytes, .rows = 0, .decay = decay};
    for (const Node &node : graph.nodes) {
      if (node.role != Node::Role::parameter || node.decay != decay)
        continue;
      bytes = roundedUp(bytes, alignment);
      offsets[std::string(node.name.view())] = bytes;
      order.emplace_back(node.name.view());
      bytes += node.shape.size() * burin::bytes(node.dtype);
    }
    bytes = roundedUp(bytes, rowBytes);
    section.rows = (bytes - section.offset) / rowBytes;
    if (section.rows > 0)
      sections.push_back(section);
  }
}

mlir::func::FuncOp importGraph(mlir::ModuleOp module, const Graph &graph, const ParameterLayout &layout,
                               const EntryOptions &options) {
  return GraphImporter(module, graph, layout, options).run();
}

void importParameters(mlir::ModuleOp module, const Graph &graph, const ParameterLayout &layout,
                      llvm::StringRef sourceRoot) {
  mlir::Builder b(module.getContext());
  std::map<std::string_view, const Node *> nodes;
  for (const Node &node : graph.nodes)
    if (node.role == Node::Role::parameter)
      nodes[node.name.view()] = &node;
  // The order of Initializer::Kind.
  constexpr llvm::StringLiteral kinds[] = {"constant", "normal", "truncated_normal", "uniform"};
  llvm::SmallVector<mlir::Attribute> table;
  for (const std::string &name : layout.order) {
    const Node &node = *nodes.at(name);
    llvm::SmallVector<mlir::NamedAttribute> entry = {
        b.getNamedAttr("name", b.getStringAttr(name)),
        b.getNamedAttr("shape", b.getDenseI64ArrayAttr(llvm::ArrayRef(node.shape.begin(), node.shape.end()))),
        b.getNamedAttr("offset", b.getI64IntegerAttr(layout.offsets.at(name))),
        b.getNamedAttr("init", b.getStringAttr(kinds[static_cast<size_t>(node.init.kind)])),
        b.getNamedAttr("values", b.getDenseF64ArrayAttr({node.init.mean, node.init.std, node.init.cut})),
        b.getNamedAttr("place",
                       b.getStringAttr(relative(node.place.file, sourceRoot) + ":" + llvm::Twine(node.place.line)))};
    if (node.decay)
      entry.push_back(b.getNamedAttr("decay", b.getUnitAttr()));
    table.push_back(b.getDictionaryAttr(entry));
  }
  module->setAttr("burin.parameters", b.getArrayAttr(table));
  module->setAttr("burin.parameter_bytes", b.getI64IntegerAttr(layout.bytes));
  module->setAttr("burin.moments", b.getI64IntegerAttr(2));
}

mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context, const ModelDeclaration &model) {
  const Graph graph = model.declare(model.batch);
  const ParameterLayout layout(graph);
  context.getOrLoadDialect<BurinDialect>();
  context.getOrLoadDialect<mlir::func::FuncDialect>();
  mlir::Builder b(&context);
  mlir::OwningOpRef<mlir::ModuleOp> owned = mlir::ModuleOp::create(b.getUnknownLoc());
  mlir::ModuleOp module = *owned;
  module->setAttr("burin.model", b.getStringAttr(model.name));
  module->setAttr("burin.target", model.target);
  module->setAttr("burin.revision", b.getStringAttr(model.revision));
  const FlopsByKind kinds = forward_flops(graph);
  module->setAttr("burin.forward_flops",
                  b.getDenseI64ArrayAttr({kinds.projections, kinds.feed_forward, kinds.attention, kinds.head}));
  importParameters(module, graph, layout, model.sourceRoot);

  EntryOptions options{.name = "step",
                       .outputs = {"loss"},
                       .differentiate = true,
                       .batch = model.batch.rows,
                       .length = model.batch.length,
                       .sourceRoot = model.sourceRoot};
  if (!graph.findOutput("loss")) {
    module.emitError() << "the model '" << model.name << "' has no output 'loss' to train on";
    return nullptr;
  }
  if (layout.order.empty()) {
    module.emitError() << "the model '" << model.name << "' has no parameters to train";
    return nullptr;
  }
  mlir::func::FuncOp step = importGraph(module, graph, layout, options);
  if (!step)
    return nullptr;
  options.name = "loss";
  options.differentiate = false;
  if (!importGraph(module, graph, layout, options))
    return nullptr;
  // What else the model gives, it gives for one row: the logits that generation draws from, a regression's prediction.
  for (const Output &output : graph.outputs) {
    if (output.name == "loss")
      continue;
    options = {.name = std::string(output.name.view()),
               .outputs = {std::string(output.name.view())},
               .batch = 1,
               .length = model.batch.length,
               .sourceRoot = model.sourceRoot};
    if (!importGraph(module, model.declare({.rows = 1, .length = model.batch.length}), layout, options))
      return nullptr;
  }
  if (!importUpdate(module, layout, model.sourceRoot))
    return nullptr;
  // Nothing is derived from the parameters as yet, so `prepare` computes nothing; programs call it all the same.
  if (!importGraph(module, Graph{}, layout, {.name = "prepare"}))
    return nullptr;

  int64_t vocab = 0;
  for (mlir::BlockArgument argument : step.getArguments()) {
    auto name = step.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "burin.name");
    auto bounds = step.getArgAttrOfType<mlir::DenseI64ArrayAttr>(argument.getArgNumber(), "burin.bounds");
    if (name.getValue() == "tokens" && bounds)
      vocab = bounds[1];
  }
  module->setAttr("burin.vocab", b.getI64IntegerAttr(vocab));
  return owned;
}

} // namespace burin
