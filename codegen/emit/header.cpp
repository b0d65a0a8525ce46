#include "codegen/emit/header.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace burin {

std::string modelHeader(const ModelTable &model) {
  std::string upper = llvm::StringRef(model.symbol).upper();
  auto step = llvm::find_if(model.entries, [](const EntryTable &entry) { return entry.name == "step"; });
  int64_t batch = step == model.entries.end() ? 0 : step->batch,
          length = step == model.entries.end() ? 0 : step->length;
  std::string text;
  auto line = [&](const llvm::Twine &content) { text += (content + "\n").str(); };
  auto number = [&](llvm::StringRef name, int64_t value, llvm::StringRef comment) {
    line(llvm::formatv("#define {0}_{1} INT64_C({2}) /* {3} */", upper, name, value, comment).str());
  };

  line("/* The model '" + model.name + "' compiled for " + model.target.getCpu().getValue() +
       (model.dtype == "f32" ? "" : ", products in " + model.dtype) + ", by Burin " + model.revision + ".");
  line(" * Link the object of the same name, and libburin_runtime to run it: see burin_runtime.h. Valid as C99 and "
       "C++. */");
  line("#ifndef BURIN_MODEL_" + upper + "_H");
  line("#define BURIN_MODEL_" + upper + "_H");
  line("");
  line("#include \"abi/burin.h\"");
  line("");
  number("PARAMETERS", model.parameterCount, "trained elements");
  number("BATCH", batch, "sequences that a step takes");
  number("LENGTH", length, "tokens of a sequence");
  number("VOCAB", model.vocab, "ids are in [0, vocab); 0: the model takes no ids");
  line("");
  line("/* Bytes of each buffer, allocated once; nothing else is allocated in a run. */");
  number("PARAMETER_BYTES", model.bytes[BURIN_PARAMETERS], "master weights");
  number("GRADIENT_BYTES", model.bytes[BURIN_GRADIENTS], "as the weights");
  number("STATE_BYTES", model.bytes[BURIN_STATE], "the optimizer's moments");
  number("DERIVED_BYTES", model.bytes[BURIN_DERIVED], "what the entry 'prepare' makes of the weights");
  number("ARENA_BYTES", model.bytes[BURIN_ARENA], "activations and scratch between launches");
  number("INPUT_BYTES", model.bytes[BURIN_INPUTS], "arguments of an entry");
  number("OUTPUT_BYTES", model.bytes[BURIN_OUTPUTS], "results of an entry");
  number("SCRATCH_BYTES", model.scratchBytes, "for each thread; on a GPU launches say it");
  line("");
  line(llvm::formatv(
           "#define {0}_FLOPS_PER_STEP {1:F0} /* of matrix products: 2MNK, forward and backward, causal half only */",
           upper, model.flopsPerStep)
           .str());
  line("");
  line("#ifdef __cplusplus");
  line("extern \"C\" {");
  line("#endif");
  line("extern const burin_model " + model.symbol + "_model;");
  line("#ifdef __cplusplus");
  line("}");
  line("#endif");
  line("#endif");
  return text;
}

} // namespace burin
