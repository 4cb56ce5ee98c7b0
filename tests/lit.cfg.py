# Settings that every lit test shares. Tools are found through PATH: the build's
# own first, then LLVM's (FileCheck, not, split-file), so that a RUN line can be
# pasted into a shell that has the same PATH.

import ctypes
import os
import shutil

import lit.formats

config.name = "FlashTile"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt", "README.md"]
config.test_source_root = os.path.dirname(__file__)

# FLASHTILE_CHECK_ROUNDTRIP=1 makes every fa-opt also print what it read, as
# text and as bytecode, read that back and compare. Runs that expect diagnostics
# stay as they are: their modules do not verify, or a second reading would repeat
# diagnostics that the first was expected to give once.
roundtrip = os.environ.get("FLASHTILE_CHECK_ROUNDTRIP", "0") not in ("", "0")

# Both kinds of run may go on at once, and so must not share %t.
config.test_exec_root = os.path.join(
    config.flashtile_build_root, "tests", "roundtrip" if roundtrip else ""
)

config.environment["PATH"] = os.pathsep.join(
    [
        config.flashtile_tools_dir,
        config.llvm_tools_dir,
        os.environ.get("PATH", ""),
    ]
)
# Tests neither use nor fill the cache of whoever runs them.
config.environment["FLASHTILE_CACHE"] = "off"
# Colours and stray defaults of the developer's shell must not change a result.
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

config.substitutions.append(("%flashtile_src", config.flashtile_source_root))
config.substitutions.append(
    ("%forward", os.path.join(config.flashtile_source_root, "kernels", "flash_attention_forward.mlir"))
)
config.substitutions.append(("%mlir_include", config.mlir_include_dir))
config.substitutions.append(("%python", config.python))
if roundtrip:
    config.substitutions.append(
        (
            r"(?<![\w/-])fa-opt(?![\w/-])(?![^|]*--?verify-diagnostics)",
            "fa-opt --verify-roundtrip",
        )
    )
    config.available_features.add("roundtrip")

# ptxas needs no GPU: it checks the PTX of a test by assembling it.
ptxas = shutil.which("ptxas")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
if os.path.exists("/dev/nvidia0"):
    config.available_features.add("cuda-device")
# Opened, not searched for: toolkits have a stub to link with.
try:
    ctypes.CDLL("libcuda.so.1")
except OSError:
    config.available_features.add("no-cuda-driver")
if "address" in config.flashtile_sanitize:
    config.available_features.add("asan")
