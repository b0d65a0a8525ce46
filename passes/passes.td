// Every pass of passes/, in the order in which the stages run them (stages.cpp). Each description answers: needs, leaves, why here, example.
#ifndef BURIN_PASSES_TD
#define BURIN_PASSES_TD

include "mlir/Pass/PassBase.td"

// ---- fuse

def FuseAttention : Pass<"burin-fuse-attention", "::mlir::func::FuncOp"> {
  let summary = "turn softmax(f(q k^T)) v into one burin.attention that holds f";
  let description = [{
    Needs: named ops with static shapes (stage `imported`).
    Leaves: no score matrix that only a softmax and its product with v read; f (scale, mask, bias, softcap) is the region of the fused op,
    and so is a factor of the probabilities that no score reaches (dropout).
    Why here: before `burin-differentiate`, so that the fused op's own adjoint is used and the backward chain never has to be matched.
    Example: `tests/passes/fuse/attention.mlir`.
  }];
  let statistics = [Statistic<"fused", "fused", "attention chains fused">];
}

def FuseSwiglu : Pass<"burin-fuse-swiglu", "::mlir::func::FuncOp"> {
  let summary = "turn silu(x.gate) * (x.up) into one burin.swiglu";
  let description = [{
    Needs: named ops with static shapes (stage `imported`).
    Leaves: at most one `burin.swiglu` per gated MLP; everything else untouched.
    Why here: before `burin-differentiate`, so that the fused op's own adjoint is used and the backward chain never has to be matched.
    Example: `tests/passes/fuse/swiglu.mlir`.
  }];
  let statistics = [Statistic<"fused", "fused", "gated MLPs fused">];
}

def FuseLinearLoss : Pass<"burin-fuse-linear-loss", "::mlir::func::FuncOp"> {
  let summary = "turn cross_entropy(x.w^T) into one burin.linear_cross_entropy that works in chunks of rows";
  let description = [{
    Needs: named ops with static shapes (stage `imported`).
    Leaves: no logits that only the loss reads, where they would take more than `share` of the activations, or always with `always`.
    Why here: before `burin-differentiate`, so that the logits' gradient is never written out in full either.
    Example: `tests/passes/fuse/linear_loss.mlir`.
  }];
  let options = [
    Option<"share", "share", "double", "0.1", "fuse where the logits exceed this share of all activations, and 512 rows">,
    Option<"always", "always", "bool", "false", "fuse whatever the size">,
  ];
  let statistics = [Statistic<"fused", "fused", "losses fused with their linear layer">];
}

// ---- grad

def Differentiate : Pass<"burin-differentiate", "::mlir::func::FuncOp"> {
  let summary = "append the backward graph of an entry that carries `burin.differentiate`";
  let description = [{
    Needs: one scalar result named loss; every op between a parameter and it differentiable or without derivative.
    Leaves: one function from inputs, parameters and former gradients to the loss and the new gradients; kept values are plain operands.
    Why here: after the fusions, whose ops carry adjoints of their own; before grouping, which treats forward and backward alike.
    Example: `tests/passes/grad/differentiate.mlir`.
  }];
}

def Recompute : Pass<"burin-recompute", "::mlir::func::FuncOp"> {
  let summary = "compute values again in the backward graph instead of keeping them";
  let description = [{
    Needs: the joint function of `burin-differentiate`.
    Leaves: copies marked `burin.recompute` of element-wise ops whose operands are kept anyway, used by the backward part alone; with `products` also of
    layers whose results are wider than what they read, but for the last.
    Why here: only the joint function shows what lives from forward to backward. It runs again after `burin-expand`, when norms and gated layers are element-wise
    ops too; grouping then joins the copies with their readers.
    Example: `tests/passes/grad/recompute.mlir`.
  }];
  let options = [Option<"products", "products", "bool", "false",
                        "also the products of layers that widen, as the first of a feed-forward block: less memory for more time">];
  let statistics = [Statistic<"recomputed", "recomputed", "values recomputed">];
}

// ---- group

def Expand : Pass<"burin-expand", "::mlir::func::FuncOp"> {
  let summary = "replace ops that are shorthands by the simpler ops they stand for";
  let description = [{
    Needs: a joint or forward function.
    Leaves: element-wise ops, reductions, contractions, views and ops that tile themselves.
    Why here: adjoints are derived from the named ops; grouping wants parts small enough to be joined across them.
    Example: `tests/passes/group/expand.mlir`.
  }];
}

def Group : Pass<"burin-group", "::mlir::func::FuncOp"> {
  let summary = "partition an entry into groups, each computed by one launch";
  let description = [{
    Needs: an expanded function.
    Leaves: only `burin.group` ops on tensors that are stored row by row; views stand inside the groups that read or write through them.
    Why here: from here on every tensor between groups is memory; what stays inside a group never is.
    Example: `tests/passes/group/group.mlir`.
  }];
  let statistics = [Statistic<"groups", "groups", "groups made">, Statistic<"joined", "joined", "ops joined to another's group">];
}

// ---- plan

def Plan : Pass<"burin-plan", "::mlir::func::FuncOp"> {
  let summary = "give every tensor between groups a buffer and an offset";
  let description = [{
    Needs: a grouped function.
    Leaves: `burin.buffers` and `burin.offsets` on every group, `burin.bytes` on the function; live ranges in the arena never overlap.
    Why here: kernels only need shapes, but launches need addresses. From here on no new tensors.
    Example: `tests/passes/plan/plan.mlir`.
  }];
}

// ---- tile

def Tile : Pass<"burin-tile", "::mlir::ModuleOp"> {
  let summary = "turn each distinct group into one kernel of loops over tiles, and each entry into its list of launches";
  let description = [{
    Needs: planned entries and `burin.target`.
    Leaves: kernels (`burin.kernel`) in tile form and entries that hold only `burin.launch`; equal kernels exist once.
    Why here: last of the stages that any machine shares.
    Example: `tests/passes/tile/tile.mlir`.
  }];
  let statistics = [Statistic<"kernels", "kernels", "distinct kernels">, Statistic<"launches", "launches", "launches">];
}

#endif
