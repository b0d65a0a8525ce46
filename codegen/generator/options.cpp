#include "options.h"

#include <variant>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

namespace burin {
namespace {

// Where an option's value goes says how it is written: a bool takes none, a list may be given several times.
using Field = std::variant<bool GeneratorOptions::*, int64_t GeneratorOptions::*, std::string GeneratorOptions::*,
                           std::vector<std::string> GeneratorOptions::*>;

struct Option {
  llvm::StringRef name, value, help;
  Field field;
};

const Option table[] = {
    {"model", "NAME",
     "the variant to compile, by its name in BURIN_MODEL (default: the one called --name, or the only one)",
     &GeneratorOptions::model},
    {"name", "NAME", "what files and the exported symbol are named after (default: the variant's name)",
     &GeneratorOptions::name},
    {"symbol", "NAME", "what files and the exported symbol are named after, where that is not --name",
     &GeneratorOptions::symbol},
    {"batch", "ROWS", "sequences that a step takes (needed)", &GeneratorOptions::batch},
    {"length", "TOKENS", "tokens of a sequence (needed)", &GeneratorOptions::length},
    {"cpu", "CPU", "native, x86-64, x86-64-v2, x86-64-v3, x86-64-v4 or LLVM's name of a CPU (default: native)",
     &GeneratorOptions::cpu},
    {"target", "TARGET",
     "in place of --cpu: nvptx (GPUs of compute capability 8.0 and later, in bf16 code of its own for 9.0), or "
     "nvptx:sm_80 or "
     "nvptx:sm_90a alone",
     &GeneratorOptions::target},
    {"dtype", "DTYPE", "what products take: f32, or operands rounded to bf16 and summed in f32 (default: f32)",
     &GeneratorOptions::dtype},
    {"out", "FOLDER", "where to write (default: here)", &GeneratorOptions::out},
    {"source-root", "FOLDER", "places below this folder are written relative to it", &GeneratorOptions::sourceRoot},
    {"stages", "", "also write the IR after every stage", &GeneratorOptions::stages},
    {"stop-after", "STAGE", "run no stage after this one; only after 'object', the last, an object is written",
     &GeneratorOptions::stopAfter},
    {"without", "PASS", "leave out an optimising pass; may be repeated", &GeneratorOptions::without},
    {"with", "PASS{OPTIONS}", "run a pass with options, as 'burin-fuse-linear-loss{always=true}'; may be repeated",
     &GeneratorOptions::with},
    {"remarks", "", "tell on stderr what was not fused, and why", &GeneratorOptions::remarks},
    {"table", "", "print a table of the stages", &GeneratorOptions::table},
    {"help", "", "print this", &GeneratorOptions::help},
};

bool assign(GeneratorOptions &options, const Option &option, llvm::StringRef value, std::string &error) {
  if (auto *text = std::get_if<std::string GeneratorOptions::*>(&option.field)) {
    options.*(*text) = value.str();
  } else if (auto *list = std::get_if<std::vector<std::string> GeneratorOptions::*>(&option.field)) {
    (options.*(*list)).push_back(value.str());
  } else if (value.getAsInteger(10, options.*std::get<int64_t GeneratorOptions::*>(option.field))) {
    error = ("--" + option.name + " takes a number, not '" + value + "'").str();
    return false;
  }
  return true;
}

} // namespace

bool parseOptions(int argc, char **argv, GeneratorOptions &options, std::string &error) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i], name = argument;
    bool dashed = name.consume_front("--");
    auto [key, joined] = name.split('=');
    const Option *option = nullptr;
    for (const Option &candidate : table)
      if (dashed && candidate.name == key)
        option = &candidate;
    if (!option) {
      error = ("unknown option '" + argument + "'; --help lists them").str();
      return false;
    }
    bool hasValue = name.contains('=');
    if (auto *flag = std::get_if<bool GeneratorOptions::*>(&option->field)) {
      if (hasValue) {
        error = ("--" + key + " takes no value").str();
        return false;
      }
      options.*(*flag) = true;
      continue;
    }
    llvm::StringRef value = hasValue ? joined : i + 1 < argc ? llvm::StringRef(argv[++i]) : llvm::StringRef();
    if (value.empty()) {
      error = ("--" + key + " needs a value: " + option->value).str();
      return false;
    }
    if (!assign(options, *option, value, error))
      return false;
  }
  return true;
}

std::string optionsHelp(const std::string &program) {
  std::string text = "compiles a model declared in C++ to an object and its header\nusage: " + program +
                     " --batch=ROWS --length=TOKENS [OPTION...]\n";
  for (const Option &option : table)
    text += llvm::formatv("  {0,-24} {1}\n",
                          ("--" + option.name + (option.value.empty() ? "" : "=") + option.value).str(), option.help);
  return text;
}

} // namespace burin
