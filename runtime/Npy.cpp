//===- Npy.cpp - Tensors in NumPy's files ---------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Npy.h"

#include "compiler/Support/EnumCheck.h"
#include "compiler/Support/Error.h"
#include "runtime/AtomicFile.h"
#include "runtime/NpyHeader.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

using namespace flashtile;

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "elements are stored as they lie in memory");

/// NumPy itself stops at 64 dimensions.
static constexpr size_t maxRank = 64;

namespace {

/// The element type of a file: one of ours, or bits without a meaning.
struct FileType {
  std::optional<DType> dtype;
  size_t size; ///< of an element, in bytes
};

/// An open .npy file whose header has been read.
class NpyFile {
public:
  explicit NpyFile(const std::string &path);

  [[noreturn]] void fail(ErrorCode code, const std::string &reason) const {
    throw Error(code, "'" + path + "': " + reason);
  }
  /// Reads `size` bytes, which are what `what` needs.
  void read(void *data, size_t size, const std::string &what);
  FileType fileType() const;

  NpyHeader header;
  uint64_t remaining = 0; ///< bytes of the file that have not been read

private:
  void open();
  void readHeader();

  std::string path;
  std::ifstream stream;
};

} // namespace

NpyFile::NpyFile(const std::string &path) : path(path) {
  open();
  readHeader();
}

void NpyFile::open() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found)
    fail(ErrorCode::NotFound, "no such file");
  // A pipe could be read too, but not checked against its header first.
  if (!error && !fs::is_regular_file(status))
    fail(ErrorCode::Io, "expected a regular file");
  errno = 0;
  stream.open(path, std::ios::binary);
  if (!error && stream)
    remaining = fs::file_size(path, error);
  if (error || !stream)
    fail(ErrorCode::Io,
         "cannot open: " +
             (error ? error : std::error_code(errno, std::generic_category()))
                 .message());
}

void NpyFile::read(void *data, size_t size, const std::string &what) {
  if (size > remaining)
    fail(ErrorCode::Io, "truncated: expected " + std::to_string(size) +
                            " bytes of " + what + ", but got " +
                            std::to_string(remaining));
  stream.read(static_cast<char *>(data), static_cast<std::streamsize>(size));
  if (!stream)
    fail(ErrorCode::Io, "cannot read the " + what);
  remaining -= size;
}

void NpyFile::readHeader() {
  unsigned char start[8], length[4] = {};
  read(start, sizeof(start), "magic and version");
  static constexpr unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
  if (!std::equal(magic, magic + 6, start))
    fail(ErrorCode::Io, "not a .npy file: it does not start with \\x93NUMPY");
  const unsigned major = start[6], minor = start[7];
  if (major < 1 || major > 3 || minor != 0)
    fail(ErrorCode::Io, "expected format 1.0, 2.0 or 3.0, but got " +
                            std::to_string(major) + "." +
                            std::to_string(minor));
  read(length, major == 1 ? 2 : 4, "header length");
  const size_t size =
      length[0] | length[1] << 8 | length[2] << 16 | size_t(length[3]) << 24;
  // Checked before the allocation, as `size` can be anything.
  if (size > remaining)
    fail(ErrorCode::Io, "truncated: expected a header of " +
                            std::to_string(size) + " bytes, but got " +
                            std::to_string(remaining));
  std::string text(size, '\0');
  read(text.data(), size, "header");
  try {
    header = NpyHeader::parse(text);
  } catch (const Error &error) {
    fail(error.code(), error.what());
  }
  if (header.shape.size() > maxRank)
    fail(ErrorCode::Io, "expected at most " + std::to_string(maxRank) +
                            " dimensions, but got " +
                            std::to_string(header.shape.size()));
}

FileType NpyFile::fileType() const {
  const std::string &descr = header.descr;
  const std::string kind = descr.substr(std::min<size_t>(1, descr.size()));
  const bool isByte = !kind.empty() && kind.substr(1) == "1";
  const char order = descr.empty() ? '\0' : descr[0];
  if (order == '>' && !isByte)
    fail(ErrorCode::Io, "expected little-endian data, but got '" + descr + "'");
  if (order == '<' || order == '=' || (order == '>' && isByte) ||
      (order == '|' && (isByte || kind == "V2"))) {
    static constexpr struct {
      const char *kind;
      std::optional<DType> dtype;
      size_t size;
    } table[] = {
        {"f8", DType::F64, 8},   {"f4", DType::F32, 4},
        {"f2", DType::F16, 2},   {"b1", DType::I1, 1},
        {"i1", DType::I8, 1},    {"i2", DType::I16, 2},
        {"i4", DType::I32, 4},   {"i8", DType::I64, 8},
        {"u1", std::nullopt, 1}, {"u2", std::nullopt, 2},
        {"V1", std::nullopt, 1}, {"V2", std::nullopt, 2},
    };
    for (const auto &entry : table)
      if (kind == entry.kind)
        return {entry.dtype, entry.size};
  }
  std::string printable;
  for (char c : descr.substr(0, 20))
    printable += c >= ' ' && c <= '~' ? c : '?';
  fail(ErrorCode::InvalidArgument,
       "expected element type f2, f4, f8, i1, i2, i4, i8, b1, u1 or u2, but "
       "got '" +
           printable + "'");
}

/// bf16 and fp8, which have no type of their own in NumPy.
static bool isForeignToNumpy(DType dtype) {
  return isFloat(dtype) && elementSize(dtype) <= 2 && dtype != DType::F16;
}

Tensor flashtile::readNpy(const std::string &path,
                          const NpyReadOptions &options) {
  NpyFile file(path);
  const FileType found = file.fileType();
  const std::optional<DType> wanted = options.dtype;

  // The type as which the bytes are read; the result may be a rounding of it.
  std::optional<DType> stored = found.dtype;
  if (!stored && wanted && isForeignToNumpy(*wanted) &&
      elementSize(*wanted) == found.size)
    stored = wanted;
  const bool isRounded = wanted && stored == DType::F32 && isFloat(*wanted) &&
                         elementSize(*wanted) < elementSize(DType::F32);
  if (!stored && !wanted)
    file.fail(ErrorCode::InvalidArgument,
              "element type '" + file.header.descr +
                  "' has no meaning of its own; ask for " +
                  (found.size == 2 ? "bf16" : "f8E4M3FN or f8E5M2") +
                  " to read it as bits");
  if (wanted && stored != wanted && !isRounded)
    file.fail(ErrorCode::InvalidArgument,
              "expected elements of type " + toString(*wanted) + ", but got '" +
                  file.header.descr + "'");

  Shape shape = file.header.shape;
  if (file.header.isFortranOrder)
    std::reverse(shape.begin(), shape.end());
  uint64_t bytes = 0;
  try {
    bytes = static_cast<uint64_t>(checkedElementCount(shape, *stored)) *
            elementSize(*stored);
  } catch (const Error &error) {
    file.fail(ErrorCode::Io, error.what());
  }
  if (bytes > file.remaining)
    file.fail(ErrorCode::Io, "truncated: expected " + std::to_string(bytes) +
                                 " bytes for shape " +
                                 toString(file.header.shape) + " of '" +
                                 file.header.descr + "', but got " +
                                 std::to_string(file.remaining));

  Tensor tensor = Tensor::empty(shape, *stored);
  file.read(tensor.rawData(), bytes, "data");
  if (stored == DType::I1) {
    // A bool that is neither 0 nor 1 is undefined behaviour in C++.
    auto *values = static_cast<uint8_t *>(tensor.rawData());
    for (uint64_t i = 0; i < bytes; ++i)
      values[i] = values[i] != 0;
  }
  if (file.header.isFortranOrder) {
    Shape order(shape.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = static_cast<int64_t>(order.size() - 1 - i);
    tensor = tensor.permute(order).contiguous();
  }
  return isRounded ? tensor.to(*wanted) : tensor;
}

static const char *descrOf(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return "<f8";
  case DType::F32:
    return "<f4";
  case DType::F16:
    return "<f2";
  case DType::BF16:
    return "<u2";
  case DType::F8E4M3FN:
  case DType::F8E5M2:
    return "|u1";
  case DType::I1:
    return "|b1";
  case DType::I8:
    return "|i1";
  case DType::I16:
    return "<i2";
  case DType::I32:
    return "<i4";
  case DType::I64:
    return "<i8";
  }
  __builtin_unreachable();
}

static void checkRank(const Tensor &tensor, const std::string &failure) {
  if (tensor.shape().size() > maxRank)
    throw Error(
        ErrorCode::InvalidArgument,
        failure + ": a .npy file has at most " + std::to_string(maxRank) +
            " dimensions, but the tensor has " + std::to_string(tensor.rank()));
}

static void checkNarrow(const NpyWriteOptions &options) {
  checkEnum("narrow", options.narrow, {"AsBits", "AsFloat32"});
}

void flashtile::writeNpy(const std::string &path, const Tensor &tensor,
                         const NpyWriteOptions &options) {
  checkNarrow(options);
  checkRank(tensor, "cannot write '" + path + "'");
  AtomicFile file(path);
  writeNpy(file, tensor, options);
  file.commit();
}

void flashtile::writeNpy(AtomicFile &file, const Tensor &tensor,
                         const NpyWriteOptions &options) {
  checkNarrow(options);
  Tensor stored = tensor.to(Device::cpu());
  if (options.narrow == NpyNarrow::AsFloat32 &&
      isForeignToNumpy(stored.dtype()))
    stored = stored.to(DType::F32);
  stored = stored.contiguous();
  checkRank(stored, "cannot write");

  NpyHeader header;
  header.descr = descrOf(stored.dtype());
  header.shape = stored.shape();
  const std::string start = header.print();
  file.write(start.data(), start.size());
  file.write(stored.rawData(), stored.nbytes());
}
