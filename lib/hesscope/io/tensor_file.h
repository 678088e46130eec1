// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints and data files, whatever their format: a list of named tensors, read one at a time.
//
//   io::TensorFile file = io::open_tensor_file("step-000250.npz");
//   for (const io::TensorInfo& t : file.tensors()) ...            // names, shapes, types: no data
//   read std::vector<double> w = file.read("layers.0.P");              // row-major, converted to
//   double
//
// The format is told by content, never by the file's name. Adding a format is one file pair
// implementing TensorSource and one line in format_registry.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hesscope::io {

enum class ElementType {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kFloat16,
  kBFloat16,
  kFloat32,
  kFloat64,
};

/// "float64", "int32", ...
std::string_view to_string(ElementType type);

/// Bytes of one stored element.
std::size_t size_of(ElementType type);

struct TensorInfo {
  std::string name;
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  ElementType type = ElementType::kFloat64;

  /// Product of the shape; 1 for a scalar.
  std::int64_t num_elements() const;
};

/// "(2, 4, 3)", "(5,)", "()": as NumPy prints shapes.
std::string shape_text(std::span<const std::int64_t> shape);

/// Bounds checked before anything is allocated. A file beyond one of them is refused.
struct ReadLimits {
  std::uint64_t max_tensor_bytes = std::uint64_t{8} << 30;  ///< of one tensor, as float64
  std::uint64_t max_expansion =
      1100;  ///< decoded / stored bytes, beyond 1 MiB decoded (deflate reaches 1032)
  std::size_t max_tensors = 100'000;
  std::size_t max_rank = 32;
  std::size_t max_header_bytes = 16 << 20;  ///< metadata of one tensor or of the file
};

/// What one format reader provides. Not for several threads at once.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  /// In the file's own order.
  virtual std::span<const TensorInfo> tensors() const = 0;

  /// Elements of tensors()[index], row-major (C order), converted to double.
  /// @throws InputError naming file, tensor and, where known, byte offset: damaged data, a checksum
  /// that
  ///         does not match, an integer that double cannot hold (|i| > 2^53).
  virtual std::vector<double> read(std::size_t index) const = 0;
};

/// An opened checkpoint or data file.
class TensorFile {
 public:
  TensorFile(std::filesystem::path path,
             std::string_view format,
             std::unique_ptr<TensorSource> source);

  const std::filesystem::path& path() const { return path_; }

  /// Name of the format as the registry lists it: "npz", "hdf5".
  std::string_view format() const { return format_; }

  std::span<const TensorInfo> tensors() const { return source_->tensors(); }

  /// The tensor of this name, or nullptr.
  const TensorInfo* find(std::string_view name) const;

  /// See TensorSource::read. @throws InputError also when there is no tensor of this name (the
  /// message suggests the nearest one and lists what there is).
  std::vector<double> read(std::string_view name) const;

 private:
  std::filesystem::path path_;
  std::string_view format_;
  std::unique_ptr<TensorSource> source_;
};

/// Opens a file in any registered format.
/// @throws InputError naming the file: missing, a directory, unreadable, of no known format (with
/// the
///         list of known ones), or damaged.
/// @cost   reads metadata only.
TensorFile open_tensor_file(const std::filesystem::path& path, const ReadLimits& limits = {});

/// Hexadecimal SHA-256 of the file's bytes. @throws InputError if it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

/// Hexadecimal SHA-256 of a byte string.
std::string sha256_of_text(std::string_view text);

/// Hexadecimal SHA-256 of numbers as 64-bit floats, low bytes first.
std::string sha256_of_numbers(std::span<const double> numbers);

}  // namespace hesscope::io
