//===- Session.cpp - One compilation --------------------------------- ===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contexts are single-threaded: many compilations run side by side, each on
// the thread of its caller.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Session.h"

#include "compiler/Target/CPU/CodeGen.h"
#include "compiler/Target/NVPTX/PtxCodeGen.h"
#include "dialects/Tile/IR/TileDialect.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace flashtile {

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registry
      .insert<tile::TileDialect, tilegpu::TileGPUDialect, arith::ArithDialect,
              cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
              math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect,
              scf::SCFDialect, vector::VectorDialect>();
  cpu::registerLLVMTranslations(registry);
  gpu::registerNVVMTranslations(registry);
  return registry;
}

/// "file:line:col: " of the innermost place that has one.
static std::string locationPrefix(Location location) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto place = location->findInstanceOf<FileLineColLoc>())
    stream << place.getFilename().getValue() << ':' << place.getLine() << ':'
           << place.getColumn() << ": ";
  return text;
}

namespace {
/// What passes say of their decisions, as lines of the report.
class ReportStreamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit ReportStreamer(CompileReport &report) : report(report) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string text = locationPrefix(remark.getLocation());
    llvm::raw_string_ostream stream(text);
    stream << "remark: " << remark.getCombinedCategoryName() << ':';
    for (const remark::detail::Remark::Arg &argument : remark.getArgs())
      stream << ' ' << argument.val;
    // A decision on several functions of one kernel is one line.
    if (!llvm::is_contained(report.remarks, text))
      report.remarks.push_back(std::move(text));
  }

private:
  CompileReport &report;
};
} // namespace

Session::Session(std::string_view fileName, const CompilerOptions &options,
                 CompileReport &report)
    : fileName(fileName), options(options), report(report),
      mlirContext(makeRegistry(), MLIRContext::Threading::DISABLED) {
  // The place says which operation; a kernel printed whole buries the message.
  mlirContext.printOpOnDiagnostic(false);
  handler = mlirContext.getDiagEngine().registerHandler(
      [this](Diagnostic &diagnostic) { record(diagnostic); });
  remark::RemarkCategories categories;
  categories.passed = categories.missed = ".*";
  // Fails for contexts that have such a streamer already, and for categories
  // that are no regular expression.
  (void)remark::enableOptimizationRemarks(
      mlirContext, std::make_unique<ReportStreamer>(report),
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

Session::~Session() { mlirContext.getDiagEngine().eraseHandler(handler); }

void Session::record(Diagnostic &diagnostic) {
  std::string text = locationPrefix(diagnostic.getLocation());
  llvm::raw_string_ostream stream(text);
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Remark:
    stream << "remark: " << diagnostic;
    report.remarks.push_back(text);
    return;
  case DiagnosticSeverity::Warning:
    stream << "warning: " << diagnostic;
    report.warnings.push_back(text);
    return;
  case DiagnosticSeverity::Note:
  case DiagnosticSeverity::Error:
    stream << "error: " << diagnostic << '\n';
    errors += text;
    for (Diagnostic &note : diagnostic.getNotes()) {
      errors += locationPrefix(note.getLocation());
      llvm::raw_string_ostream(errors) << "note: " << note << '\n';
    }
  }
}

std::string Session::takeErrors() {
  while (!errors.empty() && errors.back() == '\n')
    errors.pop_back();
  return std::exchange(errors, {});
}

OwningOpRef<ModuleOp> Session::parse(std::string_view text) {
  OwningOpRef<ModuleOp> module;
  time("parse", [&] {
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(
        llvm::MemoryBuffer::getMemBufferCopy(
            llvm::StringRef(text.data(), text.size()), fileName),
        llvm::SMLoc());
    module = parseSourceFile<ModuleOp>(
        sources, ParserConfig(&mlirContext, /*verifyAfterParse=*/true));
  });
  if (module)
    dump("input", "mlir",
         [&](llvm::raw_ostream &stream) { module->print(stream); });
  return module;
}

void Session::time(llvm::StringRef stage, llvm::function_ref<void()> body) {
  auto begin = std::chrono::steady_clock::now();
  body();
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  report.stages.push_back({stage.str(), elapsed.count()});
}

LogicalResult Session::run(ModuleOp module, llvm::StringRef stage,
                           llvm::function_ref<void(OpPassManager &)> build) {
  LogicalResult result = failure();
  time(stage, [&] {
    PassManager manager(&mlirContext, ModuleOp::getOperationName());
    manager.enableVerifier(options.verifyEach);
    build(manager);
    result = manager.run(module);
  });
  if (succeeded(result))
    dump(stage, "mlir",
         [&](llvm::raw_ostream &stream) { module.print(stream); });
  return result;
}

void Session::dump(llvm::StringRef stage, llvm::StringRef extension,
                   llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (options.dumpFolder.empty() || dumpFailed)
    return;
  llvm::SmallString<256> path(options.dumpFolder);
  std::error_code failed = llvm::sys::fs::create_directories(path);
  std::string number = std::to_string(dumps++);
  llvm::sys::path::append(
      path, std::string(2 - std::min<size_t>(2, number.size()), '0') + number +
                "-" + stage + "." + extension);
  if (!failed) {
    llvm::raw_fd_ostream stream(path, failed);
    if (!failed)
      print(stream);
  }
  dumpFailed = static_cast<bool>(failed);
  if (failed)
    report.warnings.push_back("cannot write dump '" + std::string(path) +
                              "': " + failed.message());
}

//===----------------------------------------------------------------------===//
// Description of kernels
//===----------------------------------------------------------------------===//

namespace {
/// Writes an affine expression in postfix form.
class PostfixWriter : public AffineExprVisitor<PostfixWriter> {
public:
  PostfixWriter(GridExpr &grid, unsigned numDimensions)
      : grid(grid), numDimensions(numDimensions) {}

  void visitAddExpr(AffineBinaryOpExpr e) { binary(e, GridExpr::Op::Add); }
  void visitMulExpr(AffineBinaryOpExpr e) { binary(e, GridExpr::Op::Multiply); }
  void visitModExpr(AffineBinaryOpExpr e) { binary(e, GridExpr::Op::Mod); }
  void visitFloorDivExpr(AffineBinaryOpExpr e) {
    binary(e, GridExpr::Op::FloorDiv);
  }
  void visitCeilDivExpr(AffineBinaryOpExpr e) {
    binary(e, GridExpr::Op::CeilDiv);
  }
  void visitConstantExpr(AffineConstantExpr e) {
    grid.steps.push_back({GridExpr::Op::Constant, e.getValue()});
  }
  void visitDimExpr(AffineDimExpr e) {
    grid.steps.push_back({GridExpr::Op::Argument, int64_t(e.getPosition())});
  }
  void visitSymbolExpr(AffineSymbolExpr e) {
    grid.steps.push_back(
        {GridExpr::Op::Argument, int64_t(numDimensions + e.getPosition())});
  }

private:
  void binary(AffineBinaryOpExpr e, GridExpr::Op op) {
    visit(e.getLHS());
    visit(e.getRHS());
    grid.steps.push_back({op, 0});
  }
  GridExpr &grid;
  unsigned numDimensions;
};
} // namespace

GridExpr expressionOf(AffineExpr expression, unsigned numDimensions) {
  GridExpr result;
  PostfixWriter(result, numDimensions).visit(expression);
  return result;
}

static ElementType elementTypeOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return parseElementType(name).value_or(ElementType::F32);
}

static bool isAnyPointer(Type type) {
  return isa<tile::PtrType, tile::BlockPtrType>(getElementTypeOrSelf(type));
}

/// Arguments that some store or atomic may reach: a search from those back
/// through whatever pointers their pointers come from.
static llvm::DenseSet<Value> writtenArguments(tile::KernelOp kernel) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> pending;
  auto visit = [&](ValueRange values) {
    for (Value value : values)
      if (isAnyPointer(value.getType()) && seen.insert(value).second)
        pending.push_back(value);
  };
  kernel.walk([&](Operation *op) {
    // Of tilegpu, in kernels that are written with layouts.
    if (isa<tile::StoreOp, tile::AtomicAddOp, tilegpu::StoreOp,
            tilegpu::AtomicAddOp>(op))
      visit(op->getOperands());
    if (auto store = dyn_cast<tilegpu::TmaStoreOp>(op))
      if (auto map = store.getMap().getDefiningOp<tilegpu::TensorMapOp>())
        visit(kernel.getArgument(map.getArgument()));
  });
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Operation *origin = value.getDefiningOp();
    if (!origin)
      origin = cast<BlockArgument>(value).getOwner()->getParentOp();
    if (origin == kernel)
      continue;
    // Of loops and branches: what goes in, and what any region hands on.
    visit(origin->getOperands());
    for (Region &region : origin->getRegions())
      for (Block &block : region)
        visit(block.getTerminator()->getOperands());
  }
  return seen;
}

KernelInfo describeKernel(Operation *operation) {
  auto kernel = cast<tile::KernelOp>(operation);
  const llvm::DenseSet<Value> written = writtenArguments(kernel);
  KernelInfo info;
  info.name = kernel.getSymName().str();
  for (auto [position, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto pointer = dyn_cast<tile::PtrType>(type);
    info.arguments.push_back(
        {kernel.getArgName(position).str(), bool(pointer),
         elementTypeOf(pointer ? pointer.getPointeeType() : type),
         written.contains(kernel.getArgument(position))});
  }
  for (AffineExpr extent : kernel.getGrid().getResults())
    info.grid.push_back(expressionOf(extent, kernel.getGrid().getNumDims()));
  return info;
}

} // namespace flashtile
