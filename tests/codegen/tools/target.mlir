// A target written by hand is held to what the code generator knows, before LLVM ends the process.
// RUN: sed 's/cpu = "[^"]*"/cpu = "z80"/' %s | not burin-opt - --from-stage imported --to-stage fused 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: sed 's/features = ""/features = "+warp"/' %s | not burin-opt - --from-stage imported --to-stage fused 2>&1 | FileCheck %s --check-prefix=FEATURE
// RUN: sed 's/lanes = 8/lanes = 3/' %s | not burin-opt - --from-stage imported --to-stage fused 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: sed 's/l2 = [0-9]*/l2 = 0/' %s | not burin-opt - --from-stage imported --to-stage fused 2>&1 | FileCheck %s --check-prefix=CACHE
// RUN: burin-opt %s --from-stage imported --to-stage fused

// CPU: error: -: burin.target: unknown CPU 'z80': expected one of the names that 'burin-opt --list-cpus' prints
// FEATURE: error: -: burin.target: unknown feature '+warp'
// LANES: error: -: burin.target: lanes = 3: expected 4, 8 or 16
// CACHE: error: -: burin.target: a cache of 0 bytes
module attributes {burin.target = #burin.target<cpu = "x86-64-v3", features = "", lanes = 8, registers = 16, l1 = 32768, l2 = 524288>} {}
