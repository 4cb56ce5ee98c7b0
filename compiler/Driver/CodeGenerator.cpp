//===- CodeGenerator.cpp - Which LLVM generates code, and for what --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CodeGenerator.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <cstring>
#include <map>

#include <link.h>

using namespace flashtile;

namespace {
/// An address, and the build id of the loaded object that holds it.
struct BuildIdSearch {
  uintptr_t address;
  std::string buildId;
};
} // namespace

/// The build id among the notes of a segment, or nothing.
static std::string buildIdAmong(llvm::ArrayRef<uint8_t> notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes.data(), sizeof note);
    const uint64_t nameSize = llvm::alignTo<4>(uint64_t(note.n_namesz));
    const uint64_t bytes = llvm::alignTo<4>(uint64_t(note.n_descsz));
    notes = notes.drop_front(sizeof note);
    if (nameSize + bytes > notes.size())
      break;
    const bool isGnu =
        note.n_namesz == 4 && !std::memcmp(notes.data(), "GNU", 4);
    if (isGnu && note.n_type == NT_GNU_BUILD_ID)
      return llvm::toHex(notes.slice(nameSize, note.n_descsz));
    notes = notes.drop_front(nameSize + bytes);
  }
  return {};
}

static int visitObject(dl_phdr_info *object, size_t, void *opaque) {
  auto &search = *static_cast<BuildIdSearch *>(opaque);
  const llvm::ArrayRef<ElfW(Phdr)> segments(object->dlpi_phdr,
                                            object->dlpi_phnum);
  const bool holds = llvm::any_of(segments, [&](const ElfW(Phdr) & segment) {
    const uintptr_t offset =
        search.address - object->dlpi_addr - segment.p_vaddr;
    return segment.p_type == PT_LOAD && offset < segment.p_memsz;
  });
  if (!holds)
    return 0;
  for (const ElfW(Phdr) &segment : segments)
    if (segment.p_type == PT_NOTE && search.buildId.empty())
      search.buildId = buildIdAmong({reinterpret_cast<const uint8_t *>(
                                         object->dlpi_addr + segment.p_vaddr),
                                     segment.p_memsz});
  return 1;
}

const std::string &flashtile::llvmIdentity() {
  static const std::string identity = [] {
    // Any function of LLVM does: this one is in the library that has them all.
    BuildIdSearch search = {
        reinterpret_cast<uintptr_t>(&llvm::sys::getHostCPUFeatures), {}};
    dl_iterate_phdr(visitObject, &search);
    return std::string(LLVM_VERSION_STRING) + " " + search.buildId;
  }();
  return identity;
}

const std::string &flashtile::hostProcessor() {
  // The answer does not change, and in a virtual machine each question costs.
  static const std::string processor = [] {
    llvm::SubtargetFeatures features;
    // A map without an order: sorted, the same features give the same text.
    std::map<std::string, bool> sorted;
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      sorted.emplace(feature.first().str(), feature.second);
    for (const auto &[name, enabled] : sorted)
      features.AddFeature(name, enabled);
    return llvm::sys::getHostCPUName().str() + " " + features.getString();
  }();
  return processor;
}
