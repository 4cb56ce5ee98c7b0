//===- GpuEntries.cpp - From attributes of functions to artifacts ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/GpuEntries.h"

#include "compiler/Conversion/TileGPUToLLVM/Passes.h"
#include "compiler/Driver/Session.h"
#include "compiler/Target/NVPTX/PtxCodeGen.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace flashtile {

namespace {
/// Reads one function; the first thing that is wrong stays in `error`.
class EntryReader {
public:
  EntryReader(LLVM::LLVMFuncOp function, const KernelInfo &info)
      : function(function), info(info) {}

  GpuEntry read(int64_t defaultThreads);
  std::string error;

private:
  void fail(const Twine &problem) {
    if (error.empty())
      error = ("function '" + function.getSymName() + "': " + problem).str();
  }
  int64_t integer(StringRef name, int64_t otherwise, int64_t low, int64_t high);
  int64_t integer(DictionaryAttr map, StringRef name, int64_t otherwise);
  GridExpr expression(Attribute attribute, StringRef what);
  std::vector<GridExpr> expressions(DictionaryAttr map, StringRef name);
  TensorMapParameter tensorMap(DictionaryAttr map);
  void readTensorMaps(GpuEntry &entry);
  void readBuffers(GpuEntry &entry);
  void readRequirements(GpuEntry &entry);
  void readProgramsAtOnce(GpuEntry &entry);

  LLVM::LLVMFuncOp function;
  const KernelInfo &info;
};
} // namespace

int64_t EntryReader::integer(StringRef name, int64_t otherwise, int64_t low,
                             int64_t high) {
  Attribute attribute = function->getAttr(name);
  if (!attribute)
    return otherwise;
  auto value = dyn_cast<IntegerAttr>(attribute);
  if (value && value.getInt() >= low && value.getInt() <= high)
    return value.getInt();
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  fail("expected '" + name + "' to be an integer from " + Twine(low) + " to " +
       Twine(high) + ", but got " + text);
  return otherwise;
}

int64_t EntryReader::integer(DictionaryAttr map, StringRef name,
                             int64_t otherwise) {
  auto value = map.getAs<IntegerAttr>(name);
  if (!value)
    fail("expected an integer '" + name + "' of the tensor map");
  return value ? value.getInt() : otherwise;
}

GridExpr EntryReader::expression(Attribute attribute, StringRef what) {
  if (auto constant = dyn_cast_or_null<IntegerAttr>(attribute))
    return {{{GridExpr::Op::Constant, constant.getInt()}}};
  auto map = dyn_cast_or_null<AffineMapAttr>(attribute);
  if (!map || map.getValue().getNumResults() != 1) {
    fail("expected '" + what +
         "' of a tensor map to be integers or affine maps of one result");
    return {};
  }
  if (map.getValue().getNumInputs() > info.integerNames().size())
    fail("'" + what +
         "' of a tensor map has more inputs than the kernel has "
         "integer arguments, " +
         Twine(info.integerNames().size()));
  return expressionOf(map.getValue().getResult(0), map.getValue().getNumDims());
}

std::vector<GridExpr> EntryReader::expressions(DictionaryAttr map,
                                               StringRef name) {
  std::vector<GridExpr> result;
  auto list = map.getAs<ArrayAttr>(name);
  if (!list)
    fail("expected an array '" + name + "' of the tensor map");
  else
    for (Attribute element : list)
      result.push_back(expression(element, name));
  return result;
}

TensorMapParameter EntryReader::tensorMap(DictionaryAttr map) {
  TensorMapParameter result;
  result.argument = integer(map, "argument", 0);
  result.swizzleBytes = integer(map, "swizzle", 0);
  if (auto element = map.getAs<TypeAttr>("element")) {
    std::string name;
    llvm::raw_string_ostream(name) << element.getValue();
    if (std::optional<ElementType> type = parseElementType(name))
      result.element = *type;
    else
      fail("no tensor map has elements of type " + name);
  } else {
    fail("expected a type 'element' of the tensor map");
  }
  if (auto box = map.getAs<DenseI64ArrayAttr>("box"))
    result.box = box.asArrayRef().vec();
  else
    fail("expected array<i64> 'box' of the tensor map");
  result.extents = expressions(map, "extents");
  result.strides = expressions(map, "strides");
  if (Attribute offset = map.get("offset"))
    result.offset = expression(offset, "offset");
  if (Attribute padding = map.get("padding")) {
    auto text = dyn_cast<StringAttr>(padding);
    if (!text || (text != "zero" && text != "nan"))
      fail("expected 'padding' of the tensor map to be \"zero\" or \"nan\"");
    result.fillsNaN = text && text == "nan";
  }
  return result;
}

void EntryReader::readTensorMaps(GpuEntry &entry) {
  Attribute attribute = function->getAttr(tilegpu::kTensorMapsAttr);
  if (!attribute)
    return;
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list || list.size() > GpuEntry::maxTensorMaps)
    return fail("expected '" + Twine(tilegpu::kTensorMapsAttr) +
                "' to be an array of at most " +
                Twine(GpuEntry::maxTensorMaps) + " dictionaries");
  for (Attribute element : list) {
    auto map = dyn_cast<DictionaryAttr>(element);
    if (!map)
      return fail("expected '" + Twine(tilegpu::kTensorMapsAttr) +
                  "' to be an array of dictionaries");
    entry.tensorMaps.push_back(tensorMap(map));
  }
}

void EntryReader::readBuffers(GpuEntry &entry) {
  auto list = function->getAttrOfType<ArrayAttr>(gpu::kSharedBuffersAttr);
  if (!list)
    return;
  for (auto buffer : list.getAsRange<DictionaryAttr>()) {
    auto name = buffer.getAs<StringAttr>("name");
    auto offset = buffer.getAs<IntegerAttr>("offset");
    auto bytes = buffer.getAs<IntegerAttr>("bytes");
    if (!name || !offset || !bytes)
      return fail("expected 'name', 'offset' and 'bytes' of each of '" +
                  Twine(gpu::kSharedBuffersAttr) + "'");
    entry.sharedBuffers.push_back(
        {name.str(), offset.getInt(), bytes.getInt()});
  }
}

void EntryReader::readRequirements(GpuEntry &entry) {
  auto list = function->getAttrOfType<ArrayAttr>(tilegpu::kRequiresAttr);
  if (!list)
    return;
  for (auto requirement : list.getAsRange<DictionaryAttr>()) {
    auto argument = requirement.getAs<IntegerAttr>("argument");
    auto divisor = requirement.getAs<IntegerAttr>("divisor");
    if (!argument || !divisor)
      return fail("expected 'argument' and 'divisor' of each of '" +
                  Twine(tilegpu::kRequiresAttr) + "'");
    entry.requirements.push_back({argument.getInt(), divisor.getInt()});
  }
}

void EntryReader::readProgramsAtOnce(GpuEntry &entry) {
  Attribute attribute = function->getAttr(tilegpu::kProgramsAtOnceAttr);
  if (!attribute)
    return;
  auto counts = dyn_cast<DenseI64ArrayAttr>(attribute);
  if (!counts || counts.size() != int64_t(entry.programsAtOnce.size()) ||
      llvm::any_of(counts.asArrayRef(), [](int64_t count) {
        return count < 1 || count > GpuEntry::maxProgramsAtOnce;
      }))
    return fail("expected '" + Twine(tilegpu::kProgramsAtOnceAttr) +
                "' to be an array<i64> of three numbers from 1 to " +
                Twine(GpuEntry::maxProgramsAtOnce));
  llvm::copy(counts.asArrayRef(), entry.programsAtOnce.begin());
}

GpuEntry EntryReader::read(int64_t defaultThreads) {
  constexpr int64_t kMaxThreads = 1024, kMaxShared = 1 << 20;
  constexpr int64_t kMaxCluster = 16, kMaxPersistent = 64;
  GpuEntry entry;
  entry.symbol = gpu::ptxName(function.getSymName());
  if (auto maxntid = function->getAttrOfType<DenseI32ArrayAttr>(
          NVVM::NVVMDialect::getMaxntidAttrName()))
    if (!maxntid.empty())
      defaultThreads = maxntid[0];
  entry.numThreads =
      integer(tilegpu::kNumThreadsAttr, defaultThreads, 1, kMaxThreads);
  entry.sharedBytes = integer(gpu::kSharedBytesAttr, 0, 0, kMaxShared);
  entry.clusterBlocks = integer(tilegpu::kClusterAttr, 1, 1, kMaxCluster);
  entry.persistentBlocks =
      integer(tilegpu::kPersistentAttr, 0, 0, kMaxPersistent);
  entry.countsPrograms = function->hasAttr(tilegpu::kProgramCounterAttr);
  if (entry.countsPrograms && entry.persistentBlocks == 0)
    fail("expected '" + Twine(tilegpu::kPersistentAttr) + "' with '" +
         tilegpu::kProgramCounterAttr + "'");
  readTensorMaps(entry);
  readBuffers(entry);
  readRequirements(entry);
  readProgramsAtOnce(entry);
  constexpr size_t hiddenCount = 3;
  const size_t expected = info.arguments.size() + entry.tensorMaps.size() +
                          (entry.countsPrograms ? 1 : 0) + hiddenCount;
  if (function.getNumArguments() != expected)
    fail("expected " + Twine(expected) + " parameters: arguments, tensor maps" +
         (entry.countsPrograms ? ", a counter" : "") +
         " and three extents, but it has " + Twine(function.getNumArguments()));
  return entry;
}

std::string describeEntries(ModuleOp module, int64_t defaultThreads,
                            ArtifactKernel &kernel) {
  const std::string &name = kernel.info.name;
  for (const std::string &symbol : {name, name + tilegpu::kPlainSuffix}) {
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
    if (!function)
      continue;
    kernel.hasPlainElsewhere |= function->hasAttr(tilegpu::kPlainElsewhereAttr);
    EntryReader reader(function, kernel.info);
    kernel.entries.push_back(reader.read(defaultThreads));
    if (!reader.error.empty())
      return reader.error;
  }
  if (kernel.entries.empty())
    return "no function '" + name + "' came out of the gpu pipeline";
  return {};
}

} // namespace flashtile
