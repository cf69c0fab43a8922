#include "ir/Pipelines/Pipelines.h"

#include "ir/Access/Passes.h"
#include "ir/Cleanup/Cleanup.h"
#include "ir/Cleanup/ResolveExtents.h"
#include "ir/Codegen/Passes.h"
#include "ir/Conversion/Passes.h"
#include "ir/Dispatch/Passes.h"
#include "ir/Import/Passes.h"
#include "ir/Memory/Passes.h"
#include "ir/Pipelines/VerifyStage.h"
#include "ir/Plim/Plim.h"
#include "ir/Schedule/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace plim::ir;

namespace {

/// Upstream's tosa-to-linalg-pipeline but for its canonicalisation.
void addTosaToLinalg(OpPassManager &function) {
  function.addPass(tosa::createTosaOptionalDecompositionsPass());
  function.addPass(createCanonicalizer(Extents::Unchecked));
  function.addPass(tosa::createTosaInferShapesPass());
  function.addPass(tosa::createTosaMakeBroadcastablePass());
  function.addPass(tosa::createTosaToLinalgNamed());
  function.addPass(createCanonicalizer(Extents::Unchecked));
  function.addPass(tosa::createTosaLayerwiseConstantFoldPass());
  function.addPass(tosa::createTosaMakeBroadcastablePass());
  function.addPass(tosa::createTosaToLinalg());
}

/// Guarded data are protected by binding, and those of a kernel may be the same memory. Devices
/// take what is on tensors.
bool formsDispatchesOfKernels(const PipelineOptions &options) {
  return !options.oracle && !options.guarded;
}

int64_t inlineBytesOf(const PipelineOptions &options) {
  return options.oracle || options.guarded ? 0 : options.inlineConstantBytes;
}

struct CommandLineOptions : PassPipelineOptions<CommandLineOptions> {
  Option<std::string> policy{*this, "policy", llvm::cl::init("auto")};
  Option<bool> oracle{*this, "oracle", llvm::cl::init(false)};
  Option<bool> strict{*this, "strict", llvm::cl::init(false)};
  Option<int64_t> inlineConstantBytes{*this, "inline-constant-bytes", llvm::cl::init(64)};
  Option<bool> guarded{*this, "guarded", llvm::cl::init(false)};
  Option<int64_t> stackReserveBytes{*this, "stack-reserve-bytes", llvm::cl::init(0)};
  Option<std::string> specializedFunction{*this, "specialize"};
  ListOption<int64_t> specializedExtents{*this, "extents"};
  ListOption<std::string> devices{*this, "devices"};
  Option<std::string> preferredDevice{*this, "preferred-device"};
  ListOption<std::string> deviceMemories{*this, "device-memories"};
  Option<bool> standalone{*this, "standalone", llvm::cl::init(false)};

  PipelineOptions toOptions() const {
    PipelineOptions options;
    options.policy = policy;
    options.oracle = oracle;
    options.strict = strict;
    options.inlineConstantBytes = inlineConstantBytes;
    options.guarded = guarded;
    options.stackReserveBytes = stackReserveBytes;
    options.specializedFunction = specializedFunction;
    options.specializedExtents.assign(specializedExtents.begin(), specializedExtents.end());
    options.devices.assign(devices.begin(), devices.end());
    options.preferredDevice = preferredDevice;
    options.deviceMemories.assign(deviceMemories.begin(), deviceMemories.end());
    options.standalone = standalone;
    options.verifyStages = true;
    return options;
  }
};

template <typename BuildT>
void registerPipeline(StringRef name, StringRef description, BuildT build) {
  PassPipelineRegistration<CommandLineOptions>(
      name, description, [build](OpPassManager &manager, const CommandLineOptions &options) {
        build(manager, options.toOptions());
      });
}

void buildImport(OpPassManager &manager, const PipelineOptions &) {
  // Before anything upstream says in its words what it cannot do.
  manager.addPass(createPlimCheckOperations());
  // Annotations next: hardly any pass upstream keeps those of an allocation.
  manager.addPass(createPlimImportAllocations());
  manager.addPass(createTosaToMLProgram());
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createPlimNormalize());
  // Also before the first canonicalisation: a comparison of a tensor with itself would be a
  // constant whose extents nobody knows.
  function.addPass(createPlimElementwiseToLinalg());
  // Control flow first: the conversions behind it cannot convert a tosa.yield.
  function.addPass(createTosaToSCFPass());
  addTosaToLinalg(function);
  TosaToArithPassOptions rescale;
  rescale.includeApplyRescale = true;
  function.addPass(createTosaToArithPass(rescale));
  function.addPass(createTosaToTensorPass());
  manager.addNestedPass<func::FuncOp>(createPlimElementwiseToLinalg());
  manager.addPass(createInlinerPass({}, [](OpPassManager &callable) {
    callable.addPass(createCanonicalizer(Extents::Unchecked));
  }));
  // Structured control flow only from here on: upstream's release of buffers corrupts memory on
  // conditional branches.
  manager.addNestedPass<func::FuncOp>(createLiftControlFlowToSCFPass());
  manager.addPass(createSymbolDCEPass());
  manager.addNestedPass<func::FuncOp>(createPlimDecompose());
  manager.addPass(createPlimImport());
  manager.addNestedPass<func::FuncOp>(createPlimWidenStorageFloats());
  addCleanup(manager, Extents::Unchecked);
  manager.addNestedPass<func::FuncOp>(createPlimCheckArithmetic());
  manager.addNestedPass<func::FuncOp>(createPlimCheckShapes());
  manager.addNestedPass<func::FuncOp>(createResolveExtents());
}

void buildDispatch(OpPassManager &manager, const PipelineOptions &options) {
  // What Codegen does across dispatches comes first: layouts, reshapes, panels of constants.
  // Guarded data are copies of the host's, made at the link; devices have compilers of their own.
  const bool prepares = !options.oracle && !options.guarded && !options.standalone &&
                        options.devices.empty() && !StringRef(options.policy).starts_with("fixed");
  // Devices know products of narrow numbers and zero points by their own ways.
  if (!options.oracle && options.devices.empty()) {
    manager.addPass(createPlimFuseOperands());
    manager.addPass(createPlimSeparateZeroPoints());
  }
  if (!options.oracle) {
    manager.addNestedPass<func::FuncOp>(createPlimInterleaveParts());
    manager.addNestedPass<func::FuncOp>(createPlimPropagateReshapes());
  }
  if (prepares) {
    PlimPropagateLayoutsOptions layouts;
    layouts.strict = options.strict;
    manager.addPass(createPlimPropagateLayouts(layouts));
  }
  if (!options.oracle) {
    PlimCollapseProductsOptions collapse;
    collapse.strict = options.strict;
    manager.addNestedPass<func::FuncOp>(createPlimCollapseProducts(collapse));
    manager.addNestedPass<func::FuncOp>(createPlimFuseElementwise());
    if (options.devices.empty()) {
      manager.addNestedPass<func::FuncOp>(createPlimCollapseReductions());
      PlimUnrollReductionsOptions unroll;
      unroll.strict = options.strict;
      manager.addNestedPass<func::FuncOp>(createPlimUnrollReductions(unroll));
      manager.addNestedPass<func::FuncOp>(createPlimFuseSiblings());
    }
  }
  if (prepares) {
    PlimKeepQuantizedOptions keep;
    keep.strict = options.strict;
    manager.addPass(createPlimKeepQuantized(keep));
    PlimPackConstantsOptions pack;
    pack.strict = options.strict;
    manager.addPass(createPlimPackConstants(pack));
    PlimPrepareConstantsOptions prepare;
    prepare.inlineConstantBytes = inlineBytesOf(options);
    manager.addPass(createPlimPrepareConstants(prepare));
  }
  // Behind what constants are prepared: the code for certain extents finds those of the code for
  // all of them.
  if (!options.specializedFunction.empty()) {
    PlimSpecializeExtentsOptions specialize;
    specialize.functionName = options.specializedFunction;
    llvm::append_range(specialize.extents, options.specializedExtents);
    manager.addPass(createPlimSpecializeExtents(specialize));
  }
  // Behind that: extents that are known need no rest. Devices split by themselves.
  if (!options.oracle && options.devices.empty()) {
    PlimSplitReductionsOptions split;
    split.strict = options.strict;
    manager.addNestedPass<func::FuncOp>(createPlimSplitReductions(split));
    // What partial results take can be planned where it depends on the arguments alone.
    manager.addNestedPass<func::FuncOp>(createResolveExtents());
  }
  if (!options.oracle && options.devices.empty())
    manager.addNestedPass<func::FuncOp>(createPlimAlternateUpdates());
  // Before dispatches are formed: a decoupled splat is a fill, which dispatch formation takes
  // inside.
  manager.addNestedPass<func::FuncOp>(createPlimDecoupleConstantWrites());
  addCleanup(manager);
  // Devices are given what loops compute, not loops.
  if (!options.oracle && options.devices.empty()) {
    PlimOutlineForallsOptions foralls;
    foralls.inlineConstantBytes = inlineBytesOf(options);
    manager.addPass(createPlimOutlineForalls(foralls));
  }
  if (!options.oracle)
    manager.addPass(createPlimViewSlices());

  PlimFormDispatchesOptions form;
  form.fuse = !options.oracle;
  form.fuseForCaches = form.fuse && options.devices.empty();
  form.inlineConstantBytes = inlineBytesOf(options);
  manager.addPass(createPlimFormDispatches(form));
  addCleanup(manager);
  PlimAssignDevicesOptions assign;
  llvm::append_range(assign.devices, options.devices);
  assign.preferred = options.preferredDevice;
  assign.hostOnly = options.oracle;
  manager.addPass(createPlimAssignDevices(assign));
  if (!options.oracle) {
    manager.addPass(createPlimMergeDispatches());
    if (!options.strict && options.devices.empty())
      manager.addPass(createPlimInferBorders());
  }
  if (formsDispatchesOfKernels(options))
    manager.addPass(createPlimOutlineBufferOps());
}

void buildAccess(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createPlimInferAccess());
  // Dispatches that access decides about: loops of kernels, and what devices take.
  if (formsDispatchesOfKernels(options)) {
    PlimOutlineParallelLoopsOptions loops;
    loops.strict = options.strict;
    manager.addPass(createPlimOutlineParallelLoops(loops));
  }
  manager.addNestedPass<func::FuncOp>(createPlimCountOperations());
  manager.addPass(createPlimOutlineDeviceCode(options.compileForDevice));
  manager.addPass(createPlimBindArguments());
}

/// On tensors, which it tiles, fuses and vectorises better than buffers, where every pass would
/// have to prove again that nothing aliases.
void buildCodegen(OpPassManager &manager, const PipelineOptions &options) {
  if (options.oracle)
    return;
  OpPassManager &kernel = manager.nest<func::FuncOp>();
  if (!options.strict)
    kernel.addPass(createPlimWidenAccumulators());
  kernel.addPass(createPlimChooseWorkgroups());
  kernel.addPass(createPlimTileWorkgroups());
  kernel.addPass(createPlimTileBorders());
  kernel.addPass(createPlimTileInsertions());
  addCleanup(kernel);
  kernel.addPass(createPlimFuseInTiles());
  if (!options.strict) {
    kernel.addPass(createPlimDivideProducts());
    kernel.addPass(createPlimSkipMasked());
    kernel.addPass(createPlimOnlineSoftmax());
  }
  PlimChoosePanelsOptions panels;
  panels.strict = options.strict;
  kernel.addPass(createPlimChoosePanels(panels));
  kernel.addPass(createPlimPackPanels());
  kernel.addPass(createPlimTransposeCopies());
  kernel.addPass(createPlimComputeInPlace());
  kernel.addPass(createPlimPadScratch());
  kernel.addPass(createPlimOrderLoops());
  if (!options.strict)
    kernel.addPass(createPlimChunkSums());
  kernel.addPass(createPlimChooseRegisterTiles());
  kernel.addPass(createPlimRegisterTile());
  PlimVectorizeTilesOptions tiles;
  tiles.strict = options.strict;
  kernel.addPass(createPlimVectorizeTiles(tiles));
  if (!options.strict)
    kernel.addPass(createPlimSkipBorders());
  kernel.addPass(createPlimFillBorders());
  addCleanup(kernel);
  PlimPrepareLoopsOptions prepare;
  prepare.strict = options.strict;
  kernel.addPass(createPlimPrepareLoops(prepare));
  if (!options.strict)
    kernel.addPass(createPlimDivideByInvariant());
  kernel.addPass(createPlimVectorizeChoices());
  PlimVectorizeRowsOptions rows;
  rows.strict = options.strict;
  kernel.addPass(createPlimVectorizeRows(rows));
}

void buildMemory(OpPassManager &manager, const PipelineOptions &options) {
  manager.addPass(createPlimSeparateDestinations());
  manager.addPass(createPlimProtectPartialWrites());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.allowReturnAllocsFromLoops = true;
  bufferize.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.unknownTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  manager.addPass(createPlimOrderConstants());
  addCleanup(manager);
  if (options.standalone) {
    manager.addPass(createPlimHoistCarriedBuffers());
    addCleanup(manager);
  }
  manager.addPass(createPlimReleaseBuffers());
  // First: what follows would move a realloc behind the uses of its result.
  manager.addNestedPass<func::FuncOp>(memref::createExpandReallocPass());
  // A buffer lives no longer than it is used: the shorter, the more share the same memory.
  manager.addNestedPass<func::FuncOp>(bufferization::createOptimizeAllocationLivenessPass());

  // Before anything has a place: buffers that live at the same time get different ones. The oracle
  // runs in the order of the source.
  if (!options.oracle && !options.standalone)
    manager.addPass(createPlimGroupDispatches());

  manager.addPass(createPlimInferAccessors());
  PlimPlaceAllocationsOptions place;
  place.policy = options.policy;
  place.stackReserveBytes = options.stackReserveBytes;
  llvm::append_range(place.deviceMemories, options.deviceMemories);
  manager.addPass(createPlimPlaceAllocations(place));
  PlimPlanMemoryOptions plan;
  plan.policy = options.policy;
  plan.scratchInSlab = options.standalone;
  manager.addPass(createPlimPlanMemory(plan));
  addCleanup(manager);
}

void buildSchedule(OpPassManager &manager, const PipelineOptions &options) {
  if (options.oracle)
    return;
  if (!options.standalone)
    manager.addPass(createPlimSchedule());
  manager.addNestedPass<func::FuncOp>(createPlimLowerTileProducts());
  // The rest of what Codegen does with vectors: where a result is in memory says where its lines
  // begin.
  manager.addNestedPass<func::FuncOp>(createPlimVectorizeElementwise());
}

void buildConversionOfWhole(OpPassManager &manager, const PipelineOptions &options) {
  PlimOutlineDataOptions outline;
  outline.inlineConstantBytes = inlineBytesOf(options);
  outline.guarded = options.guarded;
  manager.addPass(createPlimOutlineData(outline));
  manager.addPass(createPlimDistributeWorkgroups()); // what is left of Codegen
}

void buildConversionOfParts(OpPassManager &manager, const PipelineOptions &options) {
  // From linalg and vectors to loops.
  OpPassManager &function = manager.nest<func::FuncOp>();
  if (!options.oracle)
    function.addPass(createPlimPrefetchPanels());
  function.addPass(createPlimExpandCopies());
  function.addPass(createPlimExpandTransfers());
  function.addPass(createConvertLinalgToLoopsPass());
  // Unrolled: the other way is through buffers on the stack, allocated inside loops.
  function.addPass(createConvertVectorToSCFPass(VectorTransferToSCFOptions().enableFullUnroll()));
  function.addPass(memref::createExpandOpsPass());
  function.addPass(createForallToForLoopPass());
  function.addPass(createForallToParallelLoopPass());
  function.addPass(createPlimLowerChecks());
  function.addPass(memref::createExpandStridedMetadataPass());
  function.addPass(createLowerAffinePass());
  addCleanup(manager);
  OpPassManager &code = manager.nest<func::FuncOp>();
  // Once more: canonicalisation makes conversions from integers of those that are rounded behind.
  code.addPass(createPlimWidenStorageFloats());
  code.addPass(createPlimDefineArithmetic());
  if (!options.standalone)
    code.addPass(createPlimPollStops());
  manager.addPass(createPlimVerifyPlacement());
  manager.addPass(createSCFToControlFlowPass());

  manager.addPass(createPlimLowerRuntime());
  manager.addPass(createConvertMathToFuncs());
  manager.addPass(createPlimLowerToLLVM());
  manager.addPass(createReconcileUnrealizedCastsPass());
  // Before the clean-up folds an offset of zero, which is a buffer too.
  PlimAnnotateAliasesOptions aliases;
  aliases.inlined = options.standalone;
  manager.addPass(createPlimAnnotateAliases(aliases));
  addCleanup(manager);
}

void buildConversion(OpPassManager &manager, const PipelineOptions &options) {
  buildConversionOfWhole(manager, options);
  buildConversionOfParts(manager, options);
}

constexpr Stage allStages[] = {
    {"Import", buildImport},         {"Dispatch", buildDispatch}, {"Access", buildAccess},
    {"Codegen", buildCodegen},       {"Memory", buildMemory},     {"Schedule", buildSchedule},
    {"Conversion", buildConversion},
};

void addStages(OpPassManager &manager, const PipelineOptions &options, size_t begin, size_t end) {
  for (const Stage &stage : ArrayRef(allStages).slice(begin, end - begin))
    addStage(manager, stage, options);
}

} // namespace

ArrayRef<Stage> plim::ir::stages() { return allStages; }

void plim::ir::addStage(OpPassManager &manager, const Stage &stage,
                        const PipelineOptions &options) {
  stage.build(manager, options);
  if (options.verifyStages)
    manager.addPass(createVerifyStage(stage.name));
}

void plim::ir::addConversionOfWhole(OpPassManager &manager, const PipelineOptions &options) {
  buildConversionOfWhole(manager, options);
}

void plim::ir::addConversionOfParts(OpPassManager &manager, const PipelineOptions &options) {
  addStage(manager, {allStages[std::size(allStages) - 1].name, buildConversionOfParts}, options);
}

void plim::ir::buildTensorPipeline(OpPassManager &manager, const PipelineOptions &options) {
  addStages(manager, options, 0, 4);
}

void plim::ir::buildBufferPipeline(OpPassManager &manager, const PipelineOptions &options) {
  addStages(manager, options, 4, 6);
}

void plim::ir::buildLoweringPipeline(OpPassManager &manager, const PipelineOptions &options) {
  addStages(manager, options, 6, 7);
}

void plim::ir::buildLoadPipeline(OpPassManager &manager, const PipelineOptions &options) {
  buildTensorPipeline(manager, options);
  buildBufferPipeline(manager, options);
  buildLoweringPipeline(manager, options);
}

void plim::ir::registerPassesAndPipelines() {
  registerPlimImportPasses();
  registerPlimDispatchPasses();
  registerPlimAccessPasses();
  registerPlimCodegenPasses();
  registerPlimMemoryPasses();
  registerPlimSchedulePasses();
  registerPlimConversionPasses();
  registerPass([] { return createResolveExtents(); });
  registerPass([] { return createVerifyStage(); });
  registerPipeline("plim-tensor-pipeline", "From source to dispatches on tensors",
                   buildTensorPipeline);
  registerPipeline("plim-buffer-pipeline", "From dispatches on tensors to placed buffers",
                   buildBufferPipeline);
  registerPipeline("plim-lowering-pipeline", "From placed buffers to the LLVM dialect",
                   buildLoweringPipeline);
  registerPipeline("plim-load-pipeline", "The whole load pipeline", buildLoadPipeline);
}
