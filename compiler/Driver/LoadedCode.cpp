//===- LoadedCode.cpp - Object code in this process -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ORC's linking layer without LLJIT around it: LLJIT asks the target for a data
// layout and makes a compiler for IR, and there is no IR here. Kernels have no
// constructors, thread-local variables or unwind tables, so that no platform
// support is needed either.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/LoadedCode.h"

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace flashtile {

struct LoadedCode::Implementation {
  explicit Implementation(
      std::unique_ptr<orc::ExecutorProcessControl> processControl)
      : session(std::move(processControl)), layer(session),
        library(session.createBareJITDylib("kernels")) {
    // An error is returned by the lookup that met it, as text; by default all
    // of them go to stderr as well.
    session.setErrorReporter(
        [](Error error) { consumeError(std::move(error)); });
  }
  ~Implementation() {
    // Frees the code. It fails where memory cannot be unmapped: nothing is left
    // to be done about that.
    consumeError(session.endSession());
  }

  orc::ExecutionSession session;
  orc::ObjectLinkingLayer layer;
  orc::JITDylib &library;
};

LoadedCode::LoadedCode(std::unique_ptr<Implementation> implementation)
    : implementation(std::move(implementation)) {}

LoadedCode::~LoadedCode() = default;

Expected<std::unique_ptr<LoadedCode>>
LoadedCode::load(StringRef object,
                 ArrayRef<std::pair<StringRef, void *>> callbacks) {
  // Links on the thread that asks: the default starts threads.
  auto control = orc::SelfExecutorProcessControl::Create(
      nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
  if (!control)
    return control.takeError();
  auto made = std::make_unique<Implementation>(std::move(*control));
  orc::SymbolMap symbols;
  for (auto [name, address] : callbacks)
    symbols[made->session.intern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                           JITSymbolFlags::Exported};
  if (Error error =
          made->library.define(orc::absoluteSymbols(std::move(symbols))))
    return std::move(error);
  // ELF puts nothing in front of the names of C.
  auto process = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0');
  if (!process)
    return process.takeError();
  made->library.addGenerator(std::move(*process));
  if (Error error = made->layer.add(
          made->library, MemoryBuffer::getMemBufferCopy(object, "kernels")))
    return std::move(error);
  return std::unique_ptr<LoadedCode>(new LoadedCode(std::move(made)));
}

Expected<std::vector<void *>> LoadedCode::lookup(ArrayRef<StringRef> names) {
  orc::ExecutionSession &session = implementation->session;
  orc::SymbolLookupSet wanted;
  for (StringRef name : names)
    wanted.add(session.intern(name));
  auto found = session.lookup(
      {{&implementation->library, orc::JITDylibLookupFlags::MatchAllSymbols}},
      std::move(wanted));
  if (!found)
    return found.takeError();
  std::vector<void *> addresses;
  for (StringRef name : names)
    addresses.push_back(
        (*found)[session.intern(name)].getAddress().toPtr<void *>());
  return addresses;
}

} // namespace flashtile
