// The structural ops: what groups, launches and tiles are made of. Model ops live in passes/ops.
#ifndef BURIN_IR_WORDS_TD
#define BURIN_IR_WORDS_TD

include "passes/ir/base.td"

def Burin_TargetAttr : AttrDef<Burin_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "facts about the machine that shape tiles";
  let description = [{
    Sits on the module as `burin.target`, so that a test can write its machine in text. `lanes`: f32 elements of a vector register; `registers`:
    vector registers; `l1`, `l2`: bytes of cache per core; `cells`: the fewest of a launch that share its work out well. `cpu` and `features` are LLVM's
    names; passes/ only hands them on.
  }];
  let parameters = (ins "::mlir::StringAttr":$cpu, "::mlir::StringAttr":$features, "int64_t":$lanes, "int64_t":$registers, "int64_t":$l1, "int64_t":$l2,
                        DefaultValuedParameter<"int64_t", "16">:$cells);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    // Vectors side by side in a block of a product that stays in registers, and in a row of a packed panel: as many as leave rows enough
    // to use each of them again.
    int64_t getPanelVectors() const { return getRegisters() >= 32 ? 3 : 2; }
    // Whether hundreds of cells run at a time rather than a few.
    bool runsManyCells() const { return getCells() > 32; }
    // Bytes between rows that keep them apart in the nearest memory: a cache's line, or the part of one that a single access takes where
    // many run at a time.
    int64_t getRowGap() const { return runsManyCells() ? 16 : 64; }
    // Whether a cell's matrices of what an op makes for its group alone lie in scratch: in no more than an eighth of the second cache.
    bool keepsInScratch(::llvm::ArrayRef<::mlir::Value> interim) const;
    // Whether a cell may pack pieces of a right side for itself: where many cells run at a time each would copy the same.
    bool packsPieces() const { return !runsManyCells(); }
    // Whether a cell reads the left side of a product in bf16 where it lies: where many cells run at a time it is copied near first.
    bool readsLeftInPlace() const { return !runsManyCells(); }
    // Columns of a packed panel.
    int64_t getPanelWidth() const { return getLanes() * getPanelVectors(); }
  }];
}

// The right side of products: f32, or rounded to bf16.
def Burin_PanelsTensor : StaticShapeTensorOf<[F32, BF16]>;
def Burin_StoredTensor : StaticShapeTensorOf<[F32, I32, BF16]>;

def Burin_GroupOp : Burin_PureOp<"group", [IsolatedFromAbove, SingleBlock]> {
  let summary = "the ops that one launch computes";
  let description = [{
    Operands and results are whole tensors stored row by row; the body computes the results from the operands with ops of the
    dialect and ends in `burin.yield`. Views at its borders (reshape, transpose) say how operands are read and results written.
    `kind` names the tile form: `rows`, `columns`, `contraction`, `pack`, `self`.

    A tensor of f32 may lie in memory in bf16: the operand's or result's type says so. The body sees f32; what it yields is rounded to the nearest, ties to even.

    ```mlir
    %y = burin.group "rows" (%x, %r) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> {
    ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>):
      %s = burin.add %a, %b : tensor<8x16xf32>, tensor<8x16xf32>
      burin.yield %s : tensor<8x16xf32>
    }
    ```
  }];
  let arguments = (ins StrAttr:$kind, Variadic<Burin_StoredTensor>:$inputs);
  let results = (outs Variadic<Burin_StoredTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind ` ` `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) $body";
  let hasVerifier = 1;
}

def Burin_YieldOp : Op<Burin_Dialect, "yield", [Pure, Terminator, ReturnLike]> {
  let summary = "end a region with its results";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{}]>];
}

def Burin_CopyOp : Burin_PureOp<"copy", [SameOperandsAndResultType, DeclareOpInterfaceMethods<Burin_Elementwise, ["scalar"]>]> {
  let summary = "the same elements in memory of their own";
  let description = [{
    group/ makes copies where a reader needs another order of the elements than strides can give, and where an entry returns a value twice.

    ```mlir
    %y = burin.copy %x : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins Burin_Tensor:$x);
  let results = (outs Burin_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let extraClassDefinition = [{
    ::mlir::Value $cppClass::scalar(::mlir::OpBuilder &, ::mlir::Location, ::mlir::ValueRange operands, ::llvm::function_ref<::mlir::Value()>) {
      return operands.front();
    }
  }];
}

def Burin_PackPanelsOp : Burin_PureOp<"pack_panels", []> {
  let summary = "a matrix in the layout that contractions read fastest";
  let description = [{
    matrix is (..., k, n), or (..., n, k) with `transposed`; the result is (..., n / width rounded up, k, width), zero beyond column n. group/ puts it before
    each product: a panel is read once for every row of the other side, so copying it pays, and a transposed side is turned on the way.

    In bf16 elements are rounded to the nearest, ties to even, and neighbours along k stand in pairs, as dot instructions take them: the result is
    (..., n / width rounded up, k / 2 rounded up, 2 width), where [p, i, 2 j + s] is element (2 i + s, p width + j), zero beyond k.

    ```mlir
    %p = burin.pack_panels %w transposed : tensor<704x256xf32> -> tensor<15x256x48xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$matrix, UnitAttr:$transposed);
  let results = (outs Burin_PanelsTensor:$panels);
  let assemblyFormat = "$matrix (`transposed` $transposed^)? attr-dict `:` type($matrix) `->` type($panels)";
}

def Burin_ProductOp : Burin_PureOp<"product", []> {
  let summary = "a matrix product whose right side is packed";
  let description = [{
    c[..., m, n] = sum over k of a[..., m, k] b[..., k, n], b given as `burin.pack_panels` leaves it; with `transposed`, a is (..., k, m). What group/ makes of
    contractions. A rank-3 right side is shared by all leading dimensions of a. With panels of bf16, a is rounded to bf16 as well; products are exact and summed in f32.

    ```mlir
    %c = burin.product %a, %p : (tensor<2048x256xf32>, tensor<15x256x48xf32>) -> tensor<2048x704xf32>
    ```
  }];
  let arguments = (ins Burin_F32Tensor:$a, Burin_PanelsTensor:$panels, UnitAttr:$transposed);
  let results = (outs Burin_F32Tensor:$c);
  let assemblyFormat = "$a `,` $panels (`transposed` $transposed^)? attr-dict `:` functional-type(operands, results)";
}

def Burin_LaunchOp : Op<Burin_Dialect, "launch", []> {
  let summary = "run a kernel over its cells";
  let description = [{
    `buffers` and `offsets` say for each tensor argument of the kernel where it starts: a buffer (burin_buffer's number) and a byte offset.

    ```mlir
    burin.launch @matmul_0 cells 32 buffers [0, 4, 4] offsets [0, 1024, 66560] flops 2.68e8 bytes 4.7e6 what "matmul"
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, I64Attr:$cells, DenseI64ArrayAttr:$buffers, DenseI64ArrayAttr:$offsets, F64Attr:$flops,
                       F64Attr:$bytes, StrAttr:$what);
  let assemblyFormat = "$kernel `cells` $cells `buffers` $buffers `offsets` $offsets `flops` $flops `bytes` $bytes `what` $what attr-dict";
}

def Burin_ContractOp : Op<Burin_Dialect, "contract", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "c = a b, or c += a b, on tiles";
  let description = [{
    c is (m, n), a is (m, k), b is (k, n) or packed: (n / width rounded up, k, width) as `burin.pack` leaves it, or a slice of the depth of that. All sizes and strides are static, offsets may
    be dynamic. The last dimension of b and c has stride 1; a may have any strides (stride 0 excluded). With `accumulate`, c is added to; without it c is written. Tiles do not overlap.
    Sums run over k in order, in f32.

    In bf16, a is (m, k) with adjacent columns and an even k, b is packed, and pairs of columns of a meet the pairs of b's rows (`burin.pack_panels`).

    `ahead` is a tile of f32 or bf16, its last dimension of stride 1, that is read soon; a machine may bring it near meanwhile. It is not read here.

    ```mlir
    burin.contract %c, %a, %b accumulate : memref<64x96xf32, strided<[256, 1], offset: ?>>, memref<64x256xf32, strided<[256, 1], offset: ?>>, memref<2x256x48xf32>
    ```
  }];
  let arguments = (ins AnyMemRef:$c, AnyMemRef:$a, AnyMemRef:$b, Optional<AnyMemRef>:$ahead, UnitAttr:$accumulate);
  let assemblyFormat = [{
    $c `,` $a `,` $b (`accumulate` $accumulate^)? (`ahead` $ahead^)? attr-dict `:` type($c) `,` type($a) `,` type($b) (`,` type($ahead)^)?
  }];
  let hasVerifier = 1;
}

def Burin_PackOp : Op<Burin_Dialect, "pack", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "copy a tile into panels";
  let description = [{
    source is (k, n) with any static strides; panels is (n / width rounded up, k, width), contiguous: panels[p, i, j] = source[i, p * width + j], zero where
    p * width + j is beyond n. Panels of bf16 hold pairs, as `burin.pack_panels` says; their source is f32 or bf16.
  }];
  let arguments = (ins AnyMemRef:$source, AnyMemRef:$panels);
  let assemblyFormat = "$source `,` $panels attr-dict `:` type($source) `,` type($panels)";
  let hasVerifier = 1;
}

def Burin_SwapLanesOp : Op<Burin_Dialect, "swap_lanes", [Pure, SameOperandsAndResultType]> {
  let summary = "the value that the neighbour in the pair (2i, 2i+1) holds";
  let description = [{
    Only inside a `linalg.generic`: the element at index j of the last loop receives what the element at index j xor 1 computes. That loop's extent is even.
  }];
  let arguments = (ins AnyTypeOf<[F32, I32]>:$value);
  let results = (outs AnyTypeOf<[F32, I32]>:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif
