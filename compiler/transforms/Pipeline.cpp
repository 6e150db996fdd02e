//===- Pipeline.cpp - The passes as a flat list ---------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace eider::transforms;

void eider::transforms::buildTensorPipeline(OpPassManager &manager,
                                            const PipelineOptions &options) {
  manager.addPass(createSpecialize(options.dims));
  manager.addPass(createDecompose());
  manager.addPass(createPlaceTransposes());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createLegalize(options.target, options.codec));
  manager.addPass(createPartition());
  manager.addPass(createCanonicalizerPass());
}

void eider::transforms::buildVariantPipeline(OpPassManager &manager, VariantKind variant) {
  manager.addPass(createLowerToSimt(variant));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createWidenAgain());
}

void eider::transforms::registerPasses() {
  registerPass([] { return createSpecialize(); });
  registerPass([] { return createDecompose(); });
  registerPass([] { return createPlaceTransposes(); });
  registerPass([] { return createPartition(); });
  registerPass([] { return createAssignSchedule(); });
  registerPass([] { return createRowsAsF16(); });
  registerPass([] { return createJoin(); });
  registerPass([] { return createLegalize(); });
  registerPass([] { return createLowerToSimt(); });
  registerPass([] { return createWidenAgain(); });
  registerCanonicalizerPass();
  registerCSEPass();
}
