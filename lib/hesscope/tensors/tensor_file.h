// SPDX-License-Identifier: BSD-3-Clause
//
// Checkpoints and data files, whatever their format: a list of named tensors, read one at a time.
//
//   io::TensorFile file = io::open_tensor_file("step-000250.npz");
//   for (const io::TensorInfo& t : file.tensors()) ...            // names, shapes, types: no data
//   std::vector<double> w = file.read("layers.0.P");              // row-major, as double
//
// The format is recognised by content, never by the file's name. Adding a format is one file pair
// implementing TensorSource and one line in format_registry.cc.
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
  bool is_transposed = false;  ///< of what the file holds: TensorRule::transpose
  /// Tensors of a file with the same number are views of the same elements: tied weights.
  std::optional<std::size_t> tie = {};

  /// Product of the shape; 1 for a scalar. -1 where an extent is negative or the product overflows,
  /// as in no TensorFile.
  std::int64_t num_elements() const;

  bool operator==(const TensorInfo&) const = default;
};

/// A tensor that is there but is no array of real numbers.
struct UnreadableTensor {
  std::string name;
  std::string reason;  ///< "its elements are torch.ComplexFloatStorage"
  /// No parameter in another type: a remark among the numbers, an integer that a graph computes
  /// with.
  bool is_no_parameter = false;
};

/// A number, a truth value or a text that a file holds besides its tensors.
struct FileValue {
  std::string name;  ///< as tensors are named: "optimizer_state_dict.param_groups.0.lr"
  std::variant<bool, std::int64_t, double, std::string> value;

  bool operator==(const FileValue&) const = default;
};

class InputFile;

/// What one format reader provides. Not for several threads at once.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  /// In the file's own order.
  virtual std::span<const TensorInfo> tensors() const = 0;

  /// In the file's own order.
  virtual std::span<const UnreadableTensor> unreadable() const { return {}; }

  /// A number besides the tensors, named as they are: "optimizer_state_dict.param_groups.0.lr".
  virtual std::optional<double> number(std::string_view /*name*/) const { return std::nullopt; }

  /// What there is besides the tensors, in the file's own order; of very many only the first.
  virtual std::vector<FileValue> values() const { return {}; }

  /// What the file itself calls tensors()[index], where this shows it under another name.
  virtual std::string stored_name(std::size_t index) const { return tensors()[index].name; }

  /// Elements of tensors()[index], row-major (C order), converted to double.
  /// @throws InputError naming file, tensor and, where known, byte offset: damaged data, a checksum
  ///         that does not match, an integer that double cannot hold (|i| > 2^53).
  virtual std::vector<double> read(std::size_t index) const = 0;

  /// Files that the tensors lie in, each once: the one opened, and those it names, in the order of
  /// their names, each in front of those that it names itself.
  virtual std::span<const std::shared_ptr<const InputFile>> files() const = 0;
};

/// An opened checkpoint or data file, or the part of it whose names begin with a key. Cheap to
/// copy.
class TensorFile {
 public:
  /// @param whole  what whole() is to be where `source` shows a file otherwise than it is.
  /// @throws PreconditionError without a source; InputError naming file and tensor where a name is
  ///         empty or there twice, an extent is negative, or the number of elements overflows.
  TensorFile(std::filesystem::path path,
             std::string_view format,
             std::shared_ptr<const TensorSource> source,
             std::shared_ptr<const TensorFile> whole = nullptr);

  const std::filesystem::path& path() const { return path_; }

  /// Name of the format as the registry lists it: "npz", "hdf5".
  std::string_view format() const { return format_; }

  /// What part() was asked for; empty for the whole file.
  const std::string& key() const { return key_; }

  /// The path, and the key if there is one: for messages.
  std::string where() const;

  std::span<const TensorInfo> tensors() const;

  std::span<const UnreadableTensor> unreadable() const;

  /// The tensor of this name, or nullptr.
  const TensorInfo* find(std::string_view name) const;

  /// See TensorSource::read. @throws InputError also when there is no tensor of this name (the
  /// message suggests the nearest one and lists what there is), when it is unreadable(), when the
  /// source gives another number of elements than its shape says, or when a file changed since it
  /// was opened: what is read, and the digest, are of one state of the files.
  std::vector<double> read(std::string_view name) const;

  /// See TensorSource::files.
  std::span<const std::shared_ptr<const InputFile>> files() const { return source_->files(); }

  /// Paths of files() but the first.
  std::vector<std::filesystem::path> other_files() const;

  /// See TensorSource::number.
  std::optional<double> number(std::string_view name) const;

  /// See TensorSource::values; those under key(), without it.
  std::vector<FileValue> values() const;

  /// What whole() calls the tensor of this name. @throws PreconditionError when there is none.
  std::string stored_name(std::string_view name) const;

  /// What stands under `key` in this file, without it: under "model_state_dict" the tensor
  /// model_state_dict.layers.0.P is layers.0.P. A slash separates like a dot. An empty key is
  /// everything.
  /// @throws InputError when nothing stands under it (the message says what there is).
  TensorFile part(std::string_view key) const;

  /// The whole file as it is, of which this may be a part or a view under other names.
  TensorFile whole() const;

 private:
  struct Part;  // the source's tensors that are in it, under their names there
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

/// The same of those that are no text.
void require_readable_numbers(const TensorFile& file);

/// Opens a file in any registered format.
/// @throws InputError naming the file: missing, a directory, unreadable, of no known format (with
///         the list of known ones), damaged, or without any but unreadable() tensors.
/// @cost   reads metadata only.
TensorFile open_tensor_file(const std::filesystem::path& path, const ReadLimits& limits = {});

/// The same of a file that is open already. @throws PreconditionError also for null.
TensorFile open_tensor_file(std::shared_ptr<const InputFile> file, const ReadLimits& limits = {});

/// Hexadecimal SHA-256 of all that the tensors are read from: of the file; where it names others,
/// of what `sha256sum FILE OTHERS...` prints in their folder. The names of the files do not matter
/// any more: they are those that are open. @throws InputError as above, and as TensorFile::read()
/// for a file that changed.
std::string sha256_of(const TensorFile& file);

}  // namespace hesscope::io
