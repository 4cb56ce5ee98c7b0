//===- KernelBuilder.cpp - Builds kernels from C++ ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules, the kernel that a thread is writing, its arguments, and its end.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/KernelBuilder.h"
#include "compiler/Frontend/Emitter.h"
#include "compiler/Frontend/FrontendInternal.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"

using namespace flashtile;
using namespace flashtile::dsl;
using namespace flashtile::dsl::detail;

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

// A pool of threads per kernel would cost more than it gives.
ModuleState::ModuleState() : context(mlir::MLIRContext::Threading::DISABLED) {
  context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect, mlir::scf::SCFDialect>();
  module = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
}

KernelModule::KernelModule() : state(std::make_shared<ModuleState>()) {}

/// Runs `action` and gives the diagnostics that it emits, one a line.
template <typename Function>
static std::string diagnosticsOf(mlir::MLIRContext *context,
                                 Function &&action) {
  std::string text;
  mlir::ScopedDiagnosticHandler handler(
      context, [&](mlir::Diagnostic &diagnostic) {
        if (!text.empty())
          text += "\n";
        if (auto loc = diagnostic.getLocation()
                           ->findInstanceOf<mlir::FileLineColLoc>())
          text += message(loc.getFilename().getValue(), ":", loc.getLine(), ":",
                          loc.getColumn(), ": ");
        text += diagnostic.str();
      });
  action();
  return text;
}

KernelModule KernelModule::parse(const std::string &text,
                                 const std::string &source) {
  KernelModule result;
  mlir::MLIRContext *context = &result.state->context;
  mlir::OwningOpRef<mlir::ModuleOp> parsed;
  std::string diagnostics = diagnosticsOf(context, [&] {
    parsed = mlir::parseSourceString<mlir::ModuleOp>(
        text, mlir::ParserConfig(context), source);
  });
  if (!parsed)
    throw Error(ErrorCode::Compile, diagnostics);
  result.state->module = std::move(parsed);
  return result;
}

std::string KernelModule::text(bool withLocations) const {
  mlir::OpPrintingFlags flags;
  if (withLocations)
    flags.enableDebugInfo();
  std::string result;
  llvm::raw_string_ostream stream(result);
  state->module->print(stream, flags);
  stream << "\n";
  return result;
}

std::vector<std::string> KernelModule::kernelNames() const {
  std::vector<std::string> names;
  for (auto kernel : state->module->getOps<tile::KernelOp>())
    names.push_back(kernel.getSymName().str());
  return names;
}

mlir::ModuleOp dsl::getModuleOp(const KernelModule &module) {
  return *ModuleAccess::state(module)->module;
}

//===----------------------------------------------------------------------===//
// The kernel being written
//===----------------------------------------------------------------------===//

static std::vector<std::weak_ptr<KernelState>> &openKernels() {
  static thread_local std::vector<std::weak_ptr<KernelState>> kernels;
  return kernels;
}

/// The innermost open kernel, or null; forgets those that are closed. A kernel
/// given up after an error stays as long as its builder lives, so that what
/// follows does not go to another kernel.
static std::shared_ptr<KernelState> innermostKernel() {
  auto &kernels = openKernels();
  while (!kernels.empty()) {
    auto kernel = kernels.back().lock();
    if (kernel && kernel->status != KernelStatus::Built && kernel->builderLives)
      return kernel;
    kernels.pop_back();
  }
  return nullptr;
}

void detail::pushCurrentKernel(const std::shared_ptr<KernelState> &kernel) {
  innermostKernel();
  openKernels().push_back(kernel);
}

std::shared_ptr<KernelState> detail::currentKernel(SourceLocation location) {
  if (auto kernel = innermostKernel())
    return kernel;
  throw Error(ErrorCode::Compile,
              "expected a 'KernelBuilder' that is open on this thread",
              location);
}

KernelState::KernelState(KernelModule owner, std::string kernelName,
                         SourceLocation location)
    : module(std::move(owner)), name(std::move(kernelName)),
      builder(&ModuleAccess::state(module)->context) {
  mlir::MLIRContext *context = builder.getContext();
  op = tile::KernelOp::create(builder, toMlir(location, context), name,
                              llvm::ArrayRef<mlir::Type>(),
                              llvm::ArrayRef<llvm::StringRef>(),
                              mlir::AffineMap::getConstantMap(1, context));
  builder.setInsertionPointToEnd(&entry());
}

mlir::Value KernelState::constant(mlir::TypedAttr value,
                                  mlir::Location location) {
  mlir::Value &known = constants[value];
  if (known)
    return known;
  mlir::OpBuilder::InsertionGuard guard(builder);
  if (lastConstant)
    builder.setInsertionPointAfter(lastConstant);
  else
    builder.setInsertionPointToStart(&entry());
  auto op = mlir::arith::ConstantOp::create(builder, location, value);
  lastConstant = op;
  return known = op;
}

void KernelState::eraseUnusedConstants() {
  for (auto &[value, constant] : constants)
    if (constant.use_empty())
      constant.getDefiningOp()->erase();
  constants.clear();
}

unsigned KernelState::gridDims() {
  return llvm::count_if(entry().getArgumentTypes(),
                        llvm::IsaPred<mlir::IntegerType>);
}

//===----------------------------------------------------------------------===//
// KernelBuilder
//===----------------------------------------------------------------------===//

static bool isIdentifier(llvm::StringRef name) {
  auto start = [](char c) { return llvm::isAlpha(c) || c == '_'; };
  return !name.empty() && start(name.front()) &&
         llvm::all_of(name,
                      [&](char c) { return start(c) || llvm::isDigit(c); });
}

KernelBuilder::KernelBuilder(const KernelModule &module,
                             const std::string &name, SourceLocation location) {
  if (!isIdentifier(name))
    throw Error(ErrorCode::Compile,
                "expected a kernel's name of letters, digits and '_', but got "
                "'" +
                    name + "'",
                location);
  for (const std::string &other : module.kernelNames())
    if (other == name)
      throw Error(ErrorCode::Compile,
                  "expected a kernel's name that is new to the module, but '" +
                      name + "' exists already",
                  location);
  state = std::make_shared<KernelState>(module, name, location);
  pushCurrentKernel(state);
}

KernelBuilder::KernelBuilder(const std::string &name, SourceLocation location)
    : KernelBuilder(KernelModule(), name, location) {}

KernelBuilder::~KernelBuilder() {
  state->builderLives = false;
  if (state->status == KernelStatus::Open)
    state->status = KernelStatus::GivenUp;
}

static Value addArgument(const Emitter &emit, const std::string &name,
                         mlir::Type type) {
  KernelState &kernel = *emit.state;
  if (!isIdentifier(name))
    emit.fail("expected an argument's name of letters, digits and '_', but got "
              "'",
              name, "'");
  if (llvm::is_contained(kernel.argumentNames, name))
    emit.fail("expected distinct argument names, but '", name,
              "' occurs twice");
  kernel.argumentNames.push_back(name);
  return emit.wrap(kernel.entry().addArgument(type, emit.loc));
}

Value KernelBuilder::pointer(const std::string &name, ElementType type,
                             SourceLocation location) {
  Emitter emit(location, state);
  return addArgument(emit, name,
                     tile::PtrType::get(toMlir(type, emit.b.getContext())));
}

Value KernelBuilder::scalar(const std::string &name, ElementType type,
                            SourceLocation location) {
  Emitter emit(location, state);
  if (isFloat(type) && type != ElementType::F32 && type != ElementType::F64)
    emit.fail("expected argument '", name,
              "' to be an integer, f32 or f64, but got ",
              llvm::StringRef(elementTypeName(type)));
  return addArgument(emit, name, toMlir(type, emit.b.getContext()));
}

/// Erases what only computed the grid.
static void eraseUnused(llvm::ArrayRef<mlir::Operation *> operations) {
  llvm::SmallSetVector<mlir::Operation *, 8> left(operations.begin(),
                                                  operations.end());
  for (bool changed = true; changed;) {
    changed = false;
    for (mlir::Operation *op : left)
      if (op->use_empty() && mlir::isMemoryEffectFree(op)) {
        left.remove(op);
        op->erase();
        changed = true;
        break;
      }
  }
}

KernelModule KernelBuilder::build(SourceLocation location) {
  Emitter emit(location, state);
  if (emit.b.getInsertionBlock() != &state->entry())
    emit.fail("expected 'build' after the loops and branches of '", state->name,
              "', but it is called inside one");
  tile::KernelOp kernel = *state->op;
  mlir::MLIRContext *context = emit.b.getContext();
  tile::ReturnOp::create(emit.b, emit.loc);
  state->status = KernelStatus::Built;
  kernel.setFunctionType(
      emit.b.getFunctionType(state->entry().getArgumentTypes(), {}));
  kernel.setArgNamesAttr(emit.b.getStrArrayAttr(llvm::to_vector(
      llvm::map_range(state->argumentNames, [](const std::string &n) {
        return llvm::StringRef(n);
      }))));
  if (state->grid.empty())
    state->grid.push_back(mlir::getAffineConstantExpr(1, context));
  kernel.setGridAttr(mlir::AffineMapAttr::get(
      mlir::AffineMap::get(state->gridDims(), 0, state->grid, context)));
  eraseUnused(state->gridOps);
  state->eraseUnusedConstants();

  mlir::ModuleOp module = getModuleOp(state->module);
  module.push_back(state->op.release());
  mlir::LogicalResult verified = mlir::success();
  std::string diagnostics =
      diagnosticsOf(context, [&] { verified = mlir::verify(kernel); });
  if (mlir::failed(verified)) {
    kernel.erase();
    throw Error(ErrorCode::Internal,
                "the kernel '" + state->name +
                    "' does not verify: " + diagnostics,
                location);
  }
  return state->module;
}
