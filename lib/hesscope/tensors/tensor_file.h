// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints and data files of any format: a list of named tensors, read one at a time.
//
//   io::TensorFile file = io::open_tensor_file("step-000250.npz");
//   for (const io::TensorInfo& t : file.tensors()) ...            // names, shapes, types: no data
//   std::vector<double> w = file.read("layers.0.P");              // row-major, as double
//
// The format is recognised by content, never by the file's name. To add a format, implement
// TensorSource in one pair of files and add one line to format_registry.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include <hesscope/core/shape.h>
#include <hesscope/storage/read_limits.h>

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
  bool is_transposed = false;  ///< relative to the file: TensorRule::transpose
  /// Tensors of a file with the same number are views of the same elements: tied weights.
  std::optional<std::size_t> tie = {};

  /// Product of the shape; 1 for a scalar. -1 if an extent is negative or the product overflows,
  /// which does not occur in a TensorFile.
  std::int64_t num_elements() const;

  bool operator==(const TensorInfo&) const = default;
};

/// A tensor that is present but is not an array of real numbers.
struct UnreadableTensor {
  std::string name;
  std::string reason;  ///< "its elements are torch.ComplexFloatStorage"
  /// Known not to be a parameter of another type: a text, or an integer used by a graph's
  /// computations.
  bool is_no_parameter = false;
};

/// A number, a truth value or a text that a file holds in addition to its tensors.
struct FileValue {
  std::string name;  ///< as tensors are named: "optimizer_state_dict.param_groups.0.lr"
  std::variant<bool, std::int64_t, double, std::string> value;

  bool operator==(const FileValue&) const = default;
};

class InputFile;

/// What one format reader provides. Not thread-safe.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  /// In the file's own order.
  virtual std::span<const TensorInfo> tensors() const = 0;

  /// In the file's own order.
  virtual std::span<const UnreadableTensor> unreadable() const { return {}; }

  /// A number apart from the tensors, named as they are: "optimizer_state_dict.param_groups.0.lr".
  virtual std::optional<double> number(std::string_view /*name*/) const { return std::nullopt; }

  /// Values apart from the tensors, in the file's own order; if there are very many, only the first
  /// ones.
  virtual std::vector<FileValue> values() const { return {}; }

  /// The name of tensors()[index] in the file itself, if it is shown under another name here.
  virtual std::string stored_name(std::size_t index) const { return tensors()[index].name; }

  /// Names of tensors of the file that are left out here because somebody said so.
  virtual std::span<const std::string> left_out() const { return {}; }

  /// Elements of tensors()[index], row-major (C order), converted to double.
  /// @throws InputError naming file, tensor and, if known, byte offset: damaged data, a checksum
  ///         that does not match, an integer that double cannot represent (|i| > 2^53).
  virtual std::vector<double> read(std::size_t index) const = 0;

  /// The files that contain the tensors, each once: the opened one, then those that it names, in
  /// the order of their names, each followed by those that it names itself.
  virtual std::span<const std::shared_ptr<const InputFile>> files() const = 0;
};

/// An open checkpoint or data file, or the part of it whose names begin with a key. Cheap to copy.
/// Readers keep their place in the file: copies of one object are not for several threads at a
/// time.
class TensorFile {
 public:
  /// @param whole  what whole() returns, if `source` presents a file differently from how it is
  ///               stored.
  /// @throws PreconditionError without a source; InputError naming file and tensor if a name is
  ///         empty or occurs twice, an extent is negative, or the number of elements overflows.
  TensorFile(std::filesystem::path path,
             std::string_view format,
             std::shared_ptr<const TensorSource> source,
             std::shared_ptr<const TensorFile> whole = nullptr);

  const std::filesystem::path& path() const { return path_; }

  /// Name of the format as the registry lists it: "npz", "hdf5".
  std::string_view format() const { return format_; }

  /// The key given to part(); empty for the whole file.
  const std::string& key() const { return key_; }

  /// The path, followed by the key if there is one; for messages.
  std::string where() const;

  std::span<const TensorInfo> tensors() const;

  std::span<const UnreadableTensor> unreadable() const;

  /// See TensorSource::left_out.
  std::span<const std::string> left_out() const { return source_->left_out(); }

  /// The tensor of this name, or nullptr.
  const TensorInfo* find(std::string_view name) const;

  /// See TensorSource::read. @throws InputError also if there is no tensor of this name (the
  /// message suggests the nearest one and lists the names), if it is unreadable(), if the source
  /// returns a number of elements that does not fit the shape, or if a file has changed since it
  /// was opened: data and digest always refer to the same state of the files.
  std::vector<double> read(std::string_view name) const;

  /// See TensorSource::files.
  std::span<const std::shared_ptr<const InputFile>> files() const { return source_->files(); }

  /// Paths of files() except the first.
  std::vector<std::filesystem::path> other_files() const;

  /// See TensorSource::number.
  std::optional<double> number(std::string_view name) const;

  /// See TensorSource::values; only those under key(), with the key removed.
  std::vector<FileValue> values() const;

  /// The name of this tensor in whole(). @throws PreconditionError if there is no such tensor.
  std::string stored_name(std::string_view name) const;

  /// The part of this file under `key`, with the key removed: under "model_state_dict" the tensor
  /// model_state_dict.layers.0.P is called layers.0.P. A slash separates like a dot. An empty key
  /// stands for everything.
  /// @throws InputError if there is nothing under the key (the message says what there is).
  TensorFile part(std::string_view key) const;

  /// The whole file as it is stored; this object may be a part, or a view with other names.
  TensorFile whole() const;

 private:
  struct Part;  // the source's tensors in this part, under their names in it
  using Places = std::unordered_map<std::string_view, std::size_t>;  // by name, in tensors()

  static std::shared_ptr<const Places> places_of(std::span<const TensorInfo> tensors);

  std::filesystem::path path_;
  std::string_view format_;
  std::shared_ptr<const TensorSource> source_;
  std::string key_;
  std::shared_ptr<const Part> part_;  // of a key
  std::shared_ptr<const Places> places_;
  std::shared_ptr<const TensorFile> whole_;  // of a view
};

/// @throws InputError naming the first unreadable tensor, if there is one.
void require_readable(const TensorFile& file);

/// The same, but ignores what is known not to be a parameter (UnreadableTensor).
void require_readable_numbers(const TensorFile& file);

/// Opens a file of any registered format.
/// @throws InputError naming the file: missing, a directory, unreadable, of no known format (with
///         the list of known ones), damaged, or without any readable tensor.
/// @cost   reads metadata only.
TensorFile open_tensor_file(const std::filesystem::path& path, const ReadLimits& limits = {});

/// The same for a file that is already open. @throws PreconditionError also for null.
TensorFile open_tensor_file(std::shared_ptr<const InputFile> file, const ReadLimits& limits = {});

/// Hexadecimal SHA-256 of everything that the tensors are read from: that of the file; if it names
/// others, that of what `sha256sum FILE OTHERS...` prints in their folder. The bytes are read from
/// the open files, whatever has become of their names. @throws InputError as above, and as
/// TensorFile::read() if a file has changed.
std::string sha256_of(const TensorFile& file);

}  // namespace hesscope::io
