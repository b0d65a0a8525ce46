// RUN: not burin-opt %s --to-stage fused 2>&1 | FileCheck %s --check-prefix=NO-START
// RUN: not burin-opt %s --from-stage imported --to-stage fuse 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not burin-opt %s --from-stage imported --to-stage fused --without burin-plan 2>&1 | FileCheck %s --check-prefix=NEEDED
// RUN: not burin-opt %s --from-stage imported --to-stage fused --without burin-plam 2>&1 | FileCheck %s --check-prefix=NO-PASS
// RUN: not burin-opt %s --from-stage native --to-stage object -o %t.o 2>&1 | FileCheck %s --check-prefix=NO-TABLE
// RUN: not burin-opt %s --from-stage fused --to-stage imported 2>&1 | FileCheck %s --check-prefix=BACK
// RUN: burin-opt %s --from-stage imported --to-stage fused | FileCheck %s --check-prefix=MARKED
// RUN: burin-opt --list-stages | FileCheck %s --check-prefix=LIST
// RUN: burin-opt --list-cpus | FileCheck %s --check-prefix=CPUS
// RUN: burin-opt --help | FileCheck %s --check-prefix=HELP

// A module that does not say which stage it has passed needs to be told of.
// NO-START: error: the input does not say which stage it has passed; --from-stage does

// UNKNOWN: error: there is no stage 'fuse'; the stages are imported fused

// BACK: error: the module has passed stage 'fused' and cannot go back to 'imported'

// Passes that later stages rely on stay.
// NEEDED: error: pass 'burin-plan' cannot be left out
// NO-PASS: error: no stage runs a pass 'burin-plam'

// An object needs the model's tables.
// NO-TABLE: error: the module lacks 'burin.model'

// What a stage leaves says so, and is continued without being told.
// MARKED: burin.stage = "fused"

// LIST:      imported:
// LIST-NEXT: promise:
// LIST:      fused:
// LIST:      joint:
// LIST:      grouped:
// LIST:      planned:
// LIST:      tiled:
// LIST:      native:
// LIST:      object:

// CPUS: native
// CPUS: x86-64-v4

// Every pass is documented.
// HELP: --burin-differentiate
// HELP: --burin-fuse-attention
// HELP: --burin-plan
module {}
