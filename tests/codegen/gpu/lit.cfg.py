# How the .mlir files of this folder are run. Parameters: burin_opt, filecheck (the programs) and output (a folder to write into).
import lit.formats

config.name = "codegen.gpu"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
config.test_exec_root = lit_config.params["output"]
config.substitutions.append((r"\bburin-opt\b", lit_config.params["burin_opt"]))
config.substitutions.append((r"\bFileCheck\b", lit_config.params["filecheck"]))
