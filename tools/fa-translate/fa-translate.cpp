//===- fa-translate.cpp - Tile programs to LLVM IR, assembly, objects -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler as a filter: reads kernels in the tile dialect and writes what
// one of the later stages makes of them. The output file appears whole or not
// at all.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compiler.h"
#include "compiler/Driver/GpuReport.h"
#include "compiler/Driver/PtxAssembler.h"
#include "compiler/Support/Error.h"
#include "runtime/AtomicFile.h"
#include "runtime/EnvOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <vector>

using namespace flashtile;
using llvm::StringRef;
using llvm::Twine;
namespace cl = llvm::cl;

namespace {

/// Whole numbers. The compiler judges their range; of other text, the message
/// says what would be right.
class CountParser : public cl::parser<unsigned> {
public:
  using cl::parser<unsigned>::parser;

  bool parse(cl::Option &option, StringRef, StringRef text, unsigned &value) {
    if (!text.getAsInteger(10, value))
      return false;
    return option.error("expected a number in " + option.ValueStr +
                        ", but got '" + text + "'");
  }
};
using CountOption = cl::opt<unsigned, /*ExternalStorage=*/false, CountParser>;

struct CommandLine {
  cl::OptionCategory category{"fa-translate options"};
  cl::opt<std::string> input{cl::Positional, cl::desc("FILE ('-' for stdin)"),
                             cl::init("-"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Output file ('-' for stdout)"),
                              cl::value_desc("FILE"), cl::init("-"),
                              cl::cat(category)};
  cl::opt<std::string> target{
      "target", cl::desc("What to compile for: cpu, sm_80 or sm_90a"),
      cl::value_desc("TARGET"), cl::init("cpu"), cl::cat(category)};
  cl::opt<std::string> emit{
      "emit",
      cl::desc("What to write: llvm-dialect, llvm, asm or obj; on gpu "
               "targets llvm-dialect, llvm, ptx or cubin, which takes ptxas"),
      cl::value_desc("FORM"), cl::init("llvm"), cl::cat(category)};
  cl::opt<std::string> cpu{
      "mcpu",
      cl::desc("Processor of the cpu target: host, or a name of LLVM's"),
      cl::value_desc("CPU"), cl::init("host"), cl::cat(category)};
  CountOption numStages{
      "num-stages", cl::desc("Buffers of dot operands in loops on gpu targets"),
      cl::value_desc("1-8"), cl::init(2), cl::cat(category)};
  CountOption numWarps{"num-warps",
                       cl::desc("Warps of a program on gpu targets"),
                       cl::value_desc("1-16"), cl::init(4), cl::cat(category)};
  cl::opt<std::string> persistent{
      "persistent",
      cl::desc("How blocks take one program after the other on sm_90a: auto, "
               "off, static or dynamic, which takes a counter in memory"),
      cl::value_desc("HOW"), cl::init("auto"), cl::cat(category)};
  CountOption programsAtOnce{
      "programs-at-once",
      cl::desc("Programs of one warpgroup that may run as one block on sm_90a: "
               "0 as registers allow, 1 each by itself, 2 or 3"),
      cl::value_desc("0-3"), cl::init(0), cl::cat(category)};
  cl::opt<bool> plain{
      "plain",
      cl::desc("On gpu targets, write the functions that take arguments of any "
               "alignment, named <kernel>__plain, instead of those that "
               "launches try first; they are modules of their own"),
      cl::cat(category)};
  cl::opt<bool> report{
      "report",
      cl::desc("Tell stderr what the compilation took and decided; with "
               "--emit=cubin registers, spills and occupancy, too"),
      cl::cat(category)};
  cl::opt<bool> listKernels{
      "list-kernels", cl::desc("Write the kernels' arguments and grids only"),
      cl::cat(category)};
};

} // namespace

/// The tool has no more to say than one error; what the compiler reports has
/// its place and severity already.
static int fail(const Twine &twine) {
  const std::string message = twine.str();
  if (StringRef(message).contains(": error: "))
    llvm::errs() << message << '\n';
  else
    llvm::WithColor::error(llvm::errs(), "fa-translate") << message << '\n';
  return EXIT_FAILURE;
}

static std::optional<OutputKind> outputKind(StringRef name) {
  return llvm::StringSwitch<std::optional<OutputKind>>(name)
      .Case("llvm-dialect", OutputKind::LLVMDialect)
      .Case("llvm", OutputKind::LLVMIR)
      .Case("asm", OutputKind::Assembly)
      .Case("obj", OutputKind::Object)
      .Cases({"ptx", "cubin"}, OutputKind::Ptx)
      .Default(std::nullopt);
}

static std::string describeKernels(const InspectResult &module) {
  std::string text;
  for (const KernelInfo &kernel : module.kernels)
    text += kernel.signature() + " grid" + kernel.gridText() + "\n";
  return text;
}

/// Devices and pipes cannot be replaced by renaming a file to their name.
static bool isSpecialFile(const std::string &path) {
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(path, status) &&
         llvm::sys::fs::exists(status) &&
         !llvm::sys::fs::is_regular_file(status);
}

static int writeOutput(const std::string &path, StringRef content) {
  if (path == "-" || isSpecialFile(path)) {
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (!error) {
      stream << content;
      stream.flush();
      error = stream.error();
      stream.clear_error();
    }
    return error ? fail("cannot write '" + path + "': " + error.message())
                 : EXIT_SUCCESS;
  }
  try {
    AtomicFile file(path);
    file.write(content.data(), content.size());
    file.commit();
    return EXIT_SUCCESS;
  } catch (const Error &error) {
    return fail(error.what());
  }
}

/// The ptxas to take; "" with an error where there is none, or a variable of
/// the environment is wrong.
static std::string ptxasPath(std::string &error) {
  try {
    return findPtxas(EnvOptions::read().ptxas, error);
  } catch (const Error &wrong) {
    error = wrong.what();
    return {};
  }
}

/// Code that no GPU can launch is not worth the minutes that ptxas may take.
static std::string whyNoBlockFits(const std::string &target,
                                  const TranslateResult &result) {
  const int64_t limit =
      MultiprocessorLimits::ofTarget(target).sharedBytesPerBlock;
  for (const ArtifactKernel &kernel : result.kernels)
    for (const GpuEntry &entry : kernel.entries)
      if (entry.sharedBytes > limit)
        return "kernel '" + kernel.info.name + "' needs " +
               std::to_string(entry.sharedBytes) +
               " bytes of shared memory, but a block of " + target +
               " has at most " + std::to_string(limit) +
               "; '--emit=ptx --report' lists what they are for";
  return "";
}

/// Replaces the PTX of `result` by a cubin, or sets the error.
static void assemble(const std::string &target, TranslateResult &result) {
  result.error = whyNoBlockFits(target, result);
  if (!result.error.empty())
    return;
  const std::string ptxas = ptxasPath(result.error);
  if (ptxas.empty())
    return;
  AssembledPtx assembled = assemblePtx(result.output, target, ptxas);
  result.error = std::move(assembled.error);
  result.output = std::move(assembled.cubin);
  result.report.stages.push_back({"ptxas", assembled.milliseconds});
  assembled.log.addTo(result.kernels);
  for (const std::string &advice : assembled.log.advice)
    result.report.warnings.push_back(advice);
}

static std::string reportText(const std::string &target,
                              const TranslateResult &result) {
  std::string text;
  for (const ArtifactKernel &kernel : result.kernels) {
    text += "kernel " + kernel.info.signature() + " grid" +
            kernel.info.gridText() + "\n";
    for (const GpuEntry &entry : kernel.entries) {
      GpuEntryReport report;
      static_cast<GpuEntry &>(report) = entry;
      report.limits = MultiprocessorLimits::ofTarget(target);
      text += report.toString();
    }
  }
  return text + "module: " + std::to_string(result.output.size()) + " bytes\n" +
         result.report.toString();
}

/// What is wrong with the first option that is given and has no effect on the
/// target; "" where there is none.
static std::string whyIneffective(const CommandLine &flags) {
  const struct {
    const cl::Option &option;
    std::vector<StringRef> targets; ///< that it is for
  } options[] = {{flags.cpu, {"cpu"}},
                 {flags.numWarps, {"sm_80", "sm_90a"}},
                 {flags.numStages, {"sm_80", "sm_90a"}},
                 {flags.plain, {"sm_80", "sm_90a"}},
                 {flags.persistent, {"sm_90a"}},
                 {flags.programsAtOnce, {"sm_90a"}}};
  for (const auto &[option, targets] : options)
    if (option.getNumOccurrences() &&
        !llvm::is_contained(targets, flags.target.getValue()))
      return ("'--" + option.ArgStr + "' has no effect on target '" +
              flags.target + "', only on " + llvm::join(targets, " and "))
          .str();
  return "";
}

static int translate(const CommandLine &flags) {
  const bool cpu = flags.target == "cpu";
  const bool cubin = flags.emit == "cubin";
  if (!cpu && flags.target != "sm_80" && flags.target != "sm_90a")
    return fail("unknown target '" + flags.target +
                "'; expected cpu, sm_80 or sm_90a");
  const std::optional<OutputKind> kind = outputKind(flags.emit);
  const bool onCpuOnly =
      kind == OutputKind::Assembly || kind == OutputKind::Object;
  if (!kind || (cpu ? kind == OutputKind::Ptx : onCpuOnly))
    return fail("target '" + flags.target + "' cannot emit '" + flags.emit +
                "'; expected " +
                (cpu ? "llvm-dialect, llvm, asm or obj"
                     : "llvm-dialect, llvm, ptx or cubin"));
  if (!flags.listKernels && (*kind == OutputKind::Object || cubin) &&
      flags.output == "-" && llvm::sys::Process::StandardOutIsDisplayed())
    return fail("will not write " +
                Twine(cubin ? "a cubin" : "an object file") +
                " to a terminal; use -o FILE");

  if (const std::string reason = whyIneffective(flags);
      !flags.listKernels && !reason.empty())
    return fail(reason);

  auto input = llvm::MemoryBuffer::getFileOrSTDIN(flags.input);
  if (!input)
    return fail("cannot read '" + flags.input +
                "': " + input.getError().message());
  const StringRef text = (*input)->getBuffer();
  const StringRef name =
      flags.input == "-" ? "<stdin>" : StringRef(flags.input);

  if (flags.listKernels) {
    const InspectResult module = inspectKernels(text, name);
    return module.error.empty()
               ? writeOutput(flags.output, describeKernels(module))
               : fail(module.error);
  }
  CompilerOptions options;
  options.target = flags.target;
  options.cpu = flags.cpu;
  options.numWarps = flags.numWarps;
  options.numStages = flags.numStages;
  options.persistent = flags.persistent;
  options.programsAtOnce = flags.programsAtOnce;
  options.plain = flags.plain;
  TranslateResult result = cpu ? translateForCpu(text, name, options, *kind)
                               : translateForGpu(text, name, options, *kind);
  if (result.error.empty() && cubin)
    assemble(flags.target, result);
  if (!result.error.empty())
    return fail(result.error);
  if (flags.report)
    llvm::errs() << reportText(flags.target, result);
  return writeOutput(flags.output, result.output);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  CommandLine flags;
  cl::HideUnrelatedOptions(flags.category);
  cl::ParseCommandLineOptions(
      argc, argv, "Translates kernels of the tile dialect to later forms\n");
  return translate(flags);
}
