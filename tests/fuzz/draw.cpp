// The drawing of draw.h: a pool of values that grows by random moves, joined into one loss at the end.
#include "tests/fuzz/draw.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace burin::fuzz {

namespace {

using test::Random;

constexpr int64_t oddSizes[] = {1, 2, 3, 5, 7, 13, 17, 31, 33, 65, 129};
constexpr int64_t smallSizes[] = {1, 2, 3, 4, 5, 6, 8, 16};
// Enough for several tiles in each direction; the evaluator is slow.
constexpr int64_t mostElements = 12000;

Shape allDims(int rank) {
  Shape dims;
  for (int i = 0; i < rank; ++i)
    dims.append(i);
  return dims;
}

class Drawing {
public:
  Drawing(Random &random, const DrawOptions &options) : random(random), options(options) {}

  Graph run() {
    start();
    const int64_t moves = below(options.odd_sizes ? 9 : 14) + 2;
    for (int64_t i = 0; i < moves; ++i)
      move();
    finish();
    return std::move(graph);
  }

private:
  // ---- chance

  int64_t below(int64_t n) { return random.integer(0, n); }
  bool oneIn(int64_t n) { return below(n) == 0; }
  template <typename List> auto pick(const List &list) {
    return *std::next(std::begin(list), below(static_cast<int64_t>(std::size(list))));
  }
  int64_t size() { return options.odd_sizes ? pick(oddSizes) : pick(smallSizes); }

  // `rank` sizes with a bearable product.
  Shape shape(int rank, int64_t most = mostElements) {
    Shape shape;
    for (int i = 0; i < rank; ++i) {
      int64_t dim = size();
      while (shape.size() * dim > most)
        dim = (dim + 1) / 2 > 1 ? dim / 2 : 1;
      shape.append(dim);
    }
    return shape;
  }

  // ---- leaves and values

  Text name(const char *stem) {
    Text text(stem);
    return text.append(std::to_string(names++));
  }

  Tensor learned(const Shape &shape) {
    // A tie: a parameter that is there already, wherever one fits.
    std::vector<Tensor> fitting;
    for (Tensor parameter : parameters)
      if (parameter.shape() == shape)
        fitting.push_back(parameter);
    if (!fitting.empty() && oneIn(3))
      return pick(fitting);
    parameters.push_back(graph.parameter(name("w"), shape, constant(0), oneIn(2)));
    return parameters.back();
  }
  Tensor given(const Shape &shape) { return graph.input(name("x"), shape, Dtype::f32); }
  Tensor leaf(const Shape &shape) { return oneIn(3) ? given(shape) : learned(shape); }
  Tensor integers(const Shape &shape, const char *stem = "i") { return graph.input(name(stem), shape, Dtype::i32); }

  void push(Tensor value) { (value.dtype() == Dtype::f32 ? reals : wholes).push_back(value); }

  // Mostly a late value, so that chains grow long; an early one now and then, so that values get several readers.
  Tensor recent(const std::vector<Tensor> &pool) {
    const int64_t count = static_cast<int64_t>(pool.size());
    return pool[static_cast<size_t>(oneIn(3) ? below(count) : count - 1 - below(std::min<int64_t>(count, 3)))];
  }
  Tensor value() { return recent(reals); }
  Tensor valueOfRank(int least, int most = Shape::max_rank) {
    std::vector<Tensor> fitting;
    for (Tensor each : reals)
      if (least <= each.shape().rank() && each.shape().rank() <= most)
        fitting.push_back(each);
    return fitting.empty() ? leaf(shape(static_cast<int>(least + below(std::min(most, 4) - least + 1))))
                           : recent(fitting);
  }

  // A shape that broadcasts to `to`: leading dimensions gone, others 1.
  Shape narrower(const Shape &to) {
    Shape result;
    const int first = oneIn(2) ? 0 : static_cast<int>(below(to.rank() + 1));
    for (int i = first; i < to.rank(); ++i)
      result.append(oneIn(3) ? 1 : to[i]);
    return oneIn(4) ? to : result;
  }

  // Something to meet `x` in an element-wise op: x itself, another value, or a leaf.
  Tensor partner(Tensor x) {
    if (oneIn(8))
      return x;
    if (!oneIn(3)) {
      std::vector<Tensor> fitting;
      for (Tensor each : x.dtype() == Dtype::f32 ? reals : wholes)
        if (fits(each.shape(), x.shape()))
          fitting.push_back(each);
      if (!fitting.empty())
        return pick(fitting);
    }
    if (x.dtype() == Dtype::i32)
      return integers(narrower(x.shape()));
    return leaf(narrower(x.shape()));
  }

  static bool fits(const Shape &a, const Shape &b) {
    try {
      return broadcast(a, b).size() <= mostElements;
    } catch (const ModelError &) {
      return false;
    }
  }

  // Positive and away from zero, for what divides, or goes into a root or logarithm.
  Tensor positive(Tensor x) {
    switch (below(4)) {
    case 0:
      return exp(tanh(x));
    case 1:
      return sigmoid(x);
    case 2:
      return add(mul(x, x), graph.input(name("positive"), {}, Dtype::f32));
    default:
      return maximum(x, graph.input(name("positive"), narrower(x.shape()), Dtype::f32));
    }
  }

  // ---- moves

  void start() {
    learnedFirst();
    if (oneIn(2))
      push(given(shape(static_cast<int>(below(4)))));
    if (oneIn(2))
      push(integers(shape(static_cast<int>(below(4)))));
    if (oneIn(3))
      lookUp();
  }
  void learnedFirst() { push(learned(shape(static_cast<int>(oneIn(8) ? below(2) : 2 + below(3))))); }

  void move() {
    // Unlike moves in like numbers: an op is not worth more attention for being one of many element-wise ones.
    switch (below(21)) {
    case 0:
    case 1:
      return unary();
    case 2:
    case 3:
    case 4:
      return binary();
    case 5:
      return choose();
    case 6:
    case 7:
      return reduce();
    case 8:
    case 9:
      return view();
    case 10:
    case 11:
      return product();
    case 12:
      return norm();
    case 13:
      return rotate();
    case 14:
      return soften();
    case 15:
    case 16:
      return attend();
    case 17:
      return layer();
    case 18:
      return lookUp();
    case 19:
      return cut();
    default:
      return whole();
    }
  }

  void unary() {
    const Tensor x = value();
    switch (below(13)) {
    case 0:
      return push(relu(x));
    case 1:
      return push(silu(x));
    case 2:
      return push(gelu(x, {.approximate = oneIn(2)}));
    case 3:
      return push(tanh(x));
    case 4:
      return push(sigmoid(x));
    case 5:
      return push(scale(x, random.uniform(-2, 2)));
    case 6:
      return push(exp(oneIn(2) ? tanh(x) : scale(x, 0.25)));
    case 7:
      return push(log(positive(x)));
    case 8:
      return push(sqrt(positive(x)));
    case 9:
      return push(past(valueOfRank(2)));
    case 10: {
      const Tensor root = relu(x);
      return push(mul(root, root));
    }
    case 11:
      return push(to_float(is_finite(x)));
    default:
      return push(sub(x, scale(x, 0.5)));
    }
  }

  void binary() {
    Tensor a = value(), b = partner(a);
    if (oneIn(2))
      std::swap(a, b);
    switch (below(7)) {
    case 0:
      return push(add(a, b));
    case 1:
      return push(sub(a, b));
    case 2:
      return push(mul(a, b));
    case 3:
      return push(div(a, positive(b)));
    case 4:
      return push(maximum(a, b));
    case 5:
      return push(minimum(a, b));
    default:
      return push(add(mul(a, b), a));
    }
  }

  Tensor condition(Tensor like) {
    switch (below(4)) {
    case 0:
      return integers(narrower(like.shape()), "keep");
    case 1:
      return greater_equal(like, partner(like));
    case 2:
      return is_finite(partner(like));
    default: {
      const Tensor i = integers(narrower(like.shape()));
      return greater_equal(i, partner(i));
    }
    }
  }

  void choose() {
    const Tensor a = value(), b = partner(a);
    push(where(condition(a), a, b));
  }

  void reduce() {
    const Tensor x = valueOfRank(1);
    const int rank = x.shape().rank();
    Shape dims;
    for (int i = 0; i < rank; ++i)
      if (oneIn(2))
        dims.append(i);
    if (dims.rank() == 0)
      dims.append(below(rank));
    const bool keep = oneIn(2);
    const Tensor reduced =
        oneIn(3) ? reduce_max(x, {.dims = dims, .keep_dims = keep}) : reduce_sum(x, {.dims = dims, .keep_dims = keep});
    push(reduced);
    // Back to where it came from, as norms do.
    if (keep && oneIn(2))
      push(oneIn(2) ? sub(x, reduced) : mul(x, reduced));
  }

  Shape permutation(int rank) {
    std::vector<int64_t> order;
    for (int i = 0; i < rank; ++i)
      order.insert(order.begin() + below(i + 1), i);
    Shape result;
    for (int64_t dim : order)
      result.append(dim);
    return result;
  }

  // The same elements under other dimensions: factors, in order, dealt to a new rank.
  Shape regrouped(const Shape &shape) {
    std::vector<int64_t> factors;
    for (int64_t dim : shape)
      for (int64_t prime = 2; dim > 1; ++prime)
        for (; dim % prime == 0; dim /= prime)
          factors.push_back(prime);
    Shape result;
    for (size_t i = 0; i < factors.size();) {
      int64_t dim = factors[i++];
      while (i < factors.size() && (result.rank() == 3 || oneIn(2)))
        dim *= factors[i++];
      result.append(dim);
      if (result.rank() < 3 && oneIn(5))
        result.append(1);
    }
    return result;
  }

  void view() {
    Tensor x = oneIn(6) && !wholes.empty() ? recent(wholes) : value();
    for (int64_t left = 1 + below(3); left > 0; --left)
      x = oneIn(2) ? reshape(x, regrouped(x.shape())) : transpose(x, permutation(x.shape().rank()));
    push(x);
  }

  // A matrix that stands right of a product with a shared right side.
  Tensor right(int64_t depth, bool transposed, int64_t columns) {
    return leaf(transposed ? Shape{columns, depth} : Shape{depth, columns});
  }

  void product() {
    const Tensor x = valueOfRank(2, 4);
    const Shape s = x.shape();
    const bool flip = oneIn(2);
    const int64_t columns = narrow(s);
    switch (below(5)) {
    case 0: // x^T y, of rank 2
      if (s.rank() == 2)
        return push(matmul(x, right(s[0], flip, narrow({s[1], 1})), {.transpose_a = true, .transpose_b = flip}));
      [[fallthrough]];
    case 1: // both batched, x with itself
      if (s.size() / s.back() * s.back(1) <= mostElements)
        return push(oneIn(2) || s.size() / s.back(1) * s.back() > mostElements ? matmul(x, x, {.transpose_b = true})
                                                                               : matmul(x, x, {.transpose_a = true}));
      [[fallthrough]];
    case 2: { // both batched, with another
      Shape other = s;
      const bool flipLeft = oneIn(2) && columns * s.back() <= mostElements / s.size() * s.back() * s.back(1);
      const int64_t depth = flipLeft ? s.back(1) : s.back();
      other[s.rank() - 2] = flip ? columns : depth;
      other[s.rank() - 1] = flip ? depth : columns;
      if (other.size() <= mostElements && s.size() / depth * columns <= mostElements)
        return push(matmul(x, leaf(other), {.transpose_a = flipLeft, .transpose_b = flip}));
      [[fallthrough]];
    }
    default:
      return push(matmul(x, right(s.back(), flip, columns), {.transpose_b = flip}));
    }
  }

  // Columns for a product with the rows of `shape`.
  int64_t narrow(const Shape &shape) {
    int64_t columns = size();
    while (columns > 1 && shape.size() / shape.back() * columns > mostElements)
      columns /= 2;
    return columns;
  }

  // Some rows of a tensor; or all of them, cut into the right sides of products, as a fused projection is.
  void cut() {
    const Tensor x = valueOfRank(1);
    const int64_t rows = x.shape()[0], start = below(rows), size = 1 + below(rows - start);
    if (oneIn(2) || x.shape().rank() < 2) {
      const Tensor some = slice(x, {.start = start, .size = size});
      return push(oneIn(3) && 2 * x.shape().size() <= mostElements ? concat(some, x) : some);
    }
    const int64_t columns = narrow(x.shape());
    const Tensor all = learned({2 * columns, x.shape().back()});
    const Tensor left = matmul(x, slice(all, {.start = 0, .size = columns}), {.transpose_b = true});
    const Tensor right = matmul(x, slice(all, {.start = columns, .size = columns}), {.transpose_b = true});
    push(oneIn(2) ? mul(left, right) : left);
    push(right);
  }

  void norm() {
    constexpr double epsilons[] = {1e-6, 1e-5, 1e-2};
    const Tensor x = valueOfRank(1), gain = learned({x.shape().back()});
    push(rms_norm(x, gain, {.eps = pick(epsilons)}));
  }

  Tensor positionsOf(const Shape &x) {
    const int64_t batch = x[0], length = x.back(1);
    return integers(oneIn(3) ? Shape{batch, length} : Shape{length}, "positions");
  }

  void rotate() {
    Tensor x = valueOfRank(3, 4);
    if (x.shape().back() % 2 != 0) {
      x = matmul(x, leaf({x.shape().back(), 2 * (1 + below(4))}));
    }
    constexpr double thetas[] = {10, 1e4};
    const Tensor at = positionsOf(x.shape());
    push(rope(x, at, {.theta = pick(thetas), .half_split = oneIn(2)}));
  }

  void soften() {
    const Tensor x = valueOfRank(1);
    push(softmax(oneIn(2) ? mask(x, integers(narrower(x.shape()), "keep")) : x));
  }

  // Work on scores (..., T, S), with q and k's positions where lengths agree.
  Tensor scoreWork(Tensor scores) {
    const Shape s = scores.shape();
    const int64_t rows = s.back(1), columns = s.back();
    const auto query = [&] { return integers({rows, 1}, "positions"); };
    const auto key = [&] { return integers({1, columns}, "positions"); };
    Tensor work = oneIn(4) ? scores : scale(scores, random.uniform(0.1, 0.6));
    if (oneIn(4))
      work = scale(tanh(work), 2); // softcap
    if (oneIn(4)) {                // ALiBi, or a bias that is given, or a learned one
      const int64_t kind = below(3);
      if (kind == 0) {
        Shape slopes = s;
        for (int i = 0; i < s.rank(); ++i)
          slopes[i] = i == s.rank() - 3 ? s[i] : 1;
        const Tensor i = query(), j = key(), distance = to_float(sub(j, i));
        work = add(work, mul(distance, scale(given(slopes), 0.1)));
      } else {
        const Shape bias = narrower(s);
        work = add(work, kind == 1 ? given(bias) : learned(bias));
      }
    }
    if (oneIn(6))
      work = mul(sigmoid(work), scores);
    switch (below(5)) {
    case 0:
      return work;
    case 1: { // causal
      const Tensor i = query(), j = key();
      return mask(work, greater_equal(i, j));
    }
    case 2: { // a window
      const Tensor i = query(), j = key();
      return mask(work, mul(greater_equal(i, j), greater_equal(add(j, integers({}, "positions")), i)));
    }
    case 3: // any mask, also one that hides everything
      return mask(work, integers(narrower(s), "keep"));
    default: { // chosen by where, not masked
      const Tensor i = query(), j = key();
      return where(greater_equal(i, j), work, scale(work, 0.5));
    }
    }
  }

  // softmax(f(q k^T)) v, with heads in leading dimensions or split off a wide tensor.
  void attend() {
    Tensor q = valueOfRank(2, 4);
    const bool split = q.shape().rank() == 3 && oneIn(2);
    const auto heads = [&](Tensor x) {
      if (!split)
        return x;
      const Shape s = x.shape();
      const int64_t count = s[2] % 2 == 0 ? 2 : s[2] % 3 == 0 ? 3 : 1;
      return transpose(reshape(x, {s[0], s[1], count, s[2] / count}), {0, 2, 1, 3});
    };
    const Shape wide = q.shape();
    Shape keys = wide;
    keys[wide.rank() - 2] = oneIn(2) ? wide.back(1) : size();
    while (keys.back(1) > 1 &&
           (keys.size() > mostElements || wide.size() / wide.back() * keys.back(1) > 2 * mostElements))
      keys[wide.rank() - 2] /= 2;
    Tensor k = keys == wide && oneIn(2) ? q : leaf(keys), v = oneIn(4) ? k : leaf(keys);
    q = heads(q), k = heads(k), v = heads(v);
    if (oneIn(4)) {
      const Tensor gain = learned({q.shape().back()});
      q = rms_norm(q, gain), k = rms_norm(k, gain);
    }
    if (q.shape().rank() >= 3 && q.shape().back() % 2 == 0 && k.shape() == q.shape() && oneIn(3)) {
      const Tensor at = positionsOf(q.shape());
      q = rope(q, at), k = rope(k, at);
    }
    if (oneIn(2))
      k = past(k), v = past(v);
    const Tensor scores = oneIn(2) ? matmul(q, k, {.transpose_b = true}) : matmul(q, swapped(k));
    const Tensor weights = softmax(scoreWork(scores));
    // Now and then a second reader that fusing must respect.
    if (oneIn(6))
      push(oneIn(2) ? weights : scores);
    Tensor mixed = matmul(weights, v);
    if (split)
      mixed = reshape(transpose(mixed, {0, 2, 1, 3}), wide);
    push(mixed);
  }

  static Tensor swapped(Tensor x) {
    Shape order = allDims(x.shape().rank());
    std::swap(order[order.rank() - 1], order[order.rank() - 2]);
    return transpose(x, order);
  }

  // Of x [rows, length, width].
  nn::Dropout dropoutOf(Tensor x) {
    return {.rate = random.uniform(0.1, 0.9),
            .rows = integers({x.shape()[0]}),
            .positions = integers({x.shape()[1]}),
            .key = integers({}, "keep")};
  }

  // A layer of dsl/nn, or a gate that is nearly one.
  void layer() {
    const Scope scope(pick(layerNames));
    const Scope numbered = scope / static_cast<int64_t>(names++);
    const int64_t kind = below(9);
    const Tensor x = kind <= 1 ? valueOfRank(3, 3) : valueOfRank(2, 4);
    const int64_t width = x.shape().back(), hidden = narrow(x.shape());
    const int64_t head = width % 2 == 0 ? 2 : width % 3 == 0 ? 3 : 1;
    nn::Attention attention{.heads = head};
    if ((width / head) % 2 == 0 && oneIn(2))
      attention.rope_theta = 1e4;
    if (kind <= 1 && oneIn(3))
      attention.valid = integers({x.shape()[0], x.shape()[1]}, "keep");
    if (kind <= 1 && oneIn(3))
      attention.dropout = dropoutOf(x);
    switch (kind) {
    case 0:
      return push(nn::attention(x, positionsOf(x.shape()), attention, numbered));
    case 1: {
      constexpr nn::Norm norms[] = {nn::Norm::none, nn::Norm::pre, nn::Norm::post};
      const nn::Block block{.attention = attention,
                            .norm = pick(norms),
                            .feed_forward = oneIn(3) ? nn::FeedForward::gelu : nn::FeedForward::swiglu,
                            .hidden = hidden};
      return push(nn::transformer_block(x, positionsOf(x.shape()), block, numbered));
    }
    case 2:
      return push(nn::swiglu(x, hidden, numbered));
    case 3:
      return push(nn::gelu_feed_forward(x, hidden, numbered, {.gelu = {.approximate = oneIn(2)}}));
    case 4:
      return push(nn::rms_norm(nn::linear(x, hidden, numbered / "linear"), numbered / "norm"));
    case 5:
      return push(nn::layer_norm(nn::linear(x, hidden, numbered / "linear", {.bias = true}), numbered / "norm",
                                 {.bias = oneIn(2)}));
    case 6:
      if (x.shape().rank() == 3 && oneIn(2))
        return push(nn::dropout(x, dropoutOf(x), numbered));
      [[fallthrough]];
    case 7: { // where each row stands, made of sines or learned
      const Tensor at = integers({x.shape().back(1)}, "ids");
      return push(add(x, width % 2 == 0 && oneIn(2)
                             ? nn::sinusoidal_positions(at, width, numbered)
                             : nn::learned_positions(at, size() + x.shape().back(1), width, numbered, constant(0))));
    }
    default: { // gated by other means; the weights lie either way, the inputs may differ
      const bool flip = oneIn(2);
      const Tensor other = oneIn(4) ? scale(x, 0.5) : x;
      const Tensor gate = matmul(x, right(width, flip, hidden), {.transpose_b = flip});
      const Tensor up = matmul(other, right(width, flip, hidden), {.transpose_b = flip});
      const Tensor root = relu(gate);
      const Tensor gated = oneIn(3) ? mul(mul(root, root), up) : oneIn(2) ? mul(silu(gate), up) : mul(up, silu(gate));
      if (oneIn(5))
        push(gate);
      return push(gated);
    }
    }
  }

  void lookUp() {
    const Shape ids = shape(static_cast<int>(below(3)), 300);
    const Tensor rows = learned({size(), size()});
    push(embedding(rows, integers(ids, "ids")));
  }

  // Integers, which positions and masks are made of.
  void whole() {
    if (wholes.empty() || oneIn(3))
      push(integers(shape(static_cast<int>(below(4)))));
    const Tensor a = recent(wholes), b = partner(a);
    switch (below(7)) {
    case 0:
      return push(add(a, b));
    case 1:
      return push(sub(a, b));
    case 2:
      return push(mul(a, minimum(b, integers({}, "keep"))));
    case 3:
      return push(maximum(a, b));
    case 4:
      return push(where(integers(narrower(a.shape()), "keep"), a, b));
    case 5:
      return push(greater_equal(a, b));
    default:
      return push(scale(to_float(a), 0.5));
    }
  }

  // ---- the loss

  // Each element counts differently, so that none can be wrong unseen.
  Tensor weighed(Tensor x) {
    const Tensor product = mul(x, given(x.shape()));
    return x.shape().rank() == 0 ? product : reduce_sum(product, {.dims = allDims(x.shape().rank())});
  }

  Tensor classified(Tensor x) {
    Tensor logits = x;
    if (x.shape().rank() >= 2 && oneIn(2)) {
      const bool flip = !oneIn(3);
      logits = matmul(x, right(x.shape().back(), flip, narrow(x.shape())), {.transpose_b = flip});
      if (oneIn(3))
        logits = reshape(logits, {logits.shape().size() / logits.shape().back(), logits.shape().back()});
    }
    Shape rows;
    for (int i = 0; i + 1 < logits.shape().rank(); ++i)
      rows.append(logits.shape()[i]);
    return cross_entropy(logits, integers(rows, "targets"));
  }

  void finish() {
    // What nobody reads as yet, and a little of the rest: otherwise most of the graph would be dead.
    std::set<int> read;
    for (const Node &node : graph.nodes)
      read.insert(node.operands.begin(), node.operands.end());
    std::vector<Tensor> ends;
    for (Tensor each : reals)
      if (!read.contains(each.id) || oneIn(8))
        ends.push_back(each);
    for (Tensor each : wholes)
      if (!read.contains(each.id) && oneIn(2))
        ends.push_back(scale(to_float(each), 0.25));
    if (ends.empty())
      ends.push_back(reals.back());
    Tensor loss{};
    for (Tensor end : ends) {
      const Tensor term = end.shape().rank() >= 1 && oneIn(3) ? classified(end) : weighed(end);
      loss = loss.graph ? add(loss, term) : term;
    }
    if (oneIn(4))
      loss = scale(loss, 0.5);
    graph.output("loss", loss);
    if (oneIn(3))
      graph.output("y", recent(reals));
  }

  static constexpr const char *layerNames[] = {"layer", "block"};

  Random &random;
  const DrawOptions &options;
  Graph graph;
  std::vector<Tensor> reals, wholes, parameters;
  int names = 0;
};

} // namespace

Graph drawGraph(Random &random, const DrawOptions &options) { return Drawing(random, options).run(); }

test::Values drawArgument(Random &random, std::string_view name, const std::vector<int64_t> &shape, bool integers,
                          int64_t lower, int64_t upper) {
  if (name.starts_with("positions")) {
    test::Values values(shape);
    if (random.integer(0, 4) == 0)
      return test::randomIntegers(random, shape, 0, 8);
    const int64_t first = random.integer(0, 4),
                  length = shape.empty() ? 1 : std::max(shape.back(), shape.size() > 1 ? shape[shape.size() - 2] : 1);
    for (int64_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(first + i % length);
    return values;
  }
  if (name.starts_with("keep"))
    return test::randomIntegers(random, shape, 0, 2);
  if (integers)
    return test::randomIntegers(random, shape, lower, upper);
  return name.starts_with("positive") ? test::randomReals(random, shape, 0.5, 1.5)
                                      : test::randomReals(random, shape, -1, 1);
}

} // namespace burin::fuzz
