// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/extents.h>
#include <hesscope/core/name_list.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/internal/name_under.h>
#include <hesscope/tensors/tensor_file.h>

namespace hesscope::io {
namespace {

struct TypeProperties {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<TypeProperties, 13> kTypeProperties = {{
    {"bool", 1},
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
}};

const TypeProperties& properties(ElementType type) {
  return kTypeProperties.at(static_cast<std::size_t>(type));
}

}  // namespace

std::string_view to_string(ElementType type) { return properties(type).name; }

std::size_t size_of(ElementType type) { return properties(type).bytes; }

std::int64_t TensorInfo::num_elements() const { return detail::num_entries(shape).value_or(-1); }

struct TensorFile::Part {
  std::vector<TensorInfo> tensors;
  std::vector<std::size_t> indices;  // of these in the source
  std::vector<UnreadableTensor> unreadable;
};

namespace {

/// The first of `names`, for messages.
std::string listed(std::span<const std::string> names, std::string_view nothing) {
  constexpr std::size_t kMaxListed = 20;
  return names.empty() ? std::string(nothing) : first_names(names, kMaxListed);
}

/// Keys with one or two components under which there is something.
std::vector<std::string> keys_of(std::span<const TensorInfo> tensors) {
  std::vector<std::string> keys;
  for (const TensorInfo& tensor : tensors) {
    const std::size_t first = tensor.name.find_first_of("./");
    if (first == std::string::npos) continue;
    const std::size_t second = tensor.name.find_first_of("./", first + 1);
    for (const std::size_t end : {first, second}) {
      if (end == std::string::npos) continue;
      std::string key = tensor.name.substr(0, end);
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
    }
    if (keys.size() > 100) break;
  }
  return keys;
}

}  // namespace

namespace {

// Checks whatever a reader lists: a source may come from a program, or be a view of another.
void require_tensors(const std::string& where, std::span<const TensorInfo> tensors) {
  std::unordered_set<std::string_view> names;
  names.reserve(tensors.size());
  for (const TensorInfo& tensor : tensors) {
    if (tensor.name.empty()) throw InputError(fmt::format("{}: a tensor has no name", where));
    if (!names.insert(tensor.name).second) {
      throw InputError(fmt::format("{}: two tensors are named '{}'", where, tensor.name));
    }
    if (!detail::num_entries(tensor.shape)) {
      throw InputError(fmt::format("{}: tensor '{}' cannot have the shape {}",
                                   where,
                                   tensor.name,
                                   shape_text(tensor.shape)));
    }
  }
}

}  // namespace

TensorFile::TensorFile(std::filesystem::path path,
                       std::string_view format,
                       std::shared_ptr<const TensorSource> source,
                       std::shared_ptr<const TensorFile> whole)
    : path_(std::move(path)),
      format_(format),
      source_(std::move(source)),
      whole_(std::move(whole)) {
  if (source_ == nullptr) throw PreconditionError("TensorFile: source must not be null");
  require_tensors(path_.string(), source_->tensors());
  places_ = places_of(source_->tensors());
}

std::shared_ptr<const TensorFile::Places> TensorFile::places_of(
    std::span<const TensorInfo> tensors) {
  auto places = std::make_shared<Places>();
  places->reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) places->emplace(tensors[i].name, i);
  return places;
}

std::string TensorFile::where() const {
  return key_.empty() ? path_.string() : fmt::format("{}, under '{}'", path_.string(), key_);
}

TensorFile TensorFile::whole() const {
  return whole_ != nullptr ? *whole_ : TensorFile(path_, format_, source_);
}

std::span<const TensorInfo> TensorFile::tensors() const {
  return part_ != nullptr ? std::span<const TensorInfo>(part_->tensors) : source_->tensors();
}

std::span<const UnreadableTensor> TensorFile::unreadable() const {
  return part_ != nullptr ? std::span<const UnreadableTensor>(part_->unreadable)
                          : source_->unreadable();
}

const TensorInfo* TensorFile::find(std::string_view name) const {
  const auto found = places_->find(name);
  return found == places_->end() ? nullptr : &tensors()[found->second];
}

std::vector<double> TensorFile::read(std::string_view name) const {
  const auto all = tensors();
  if (const TensorInfo* const found = find(name)) {
    const auto index = static_cast<std::size_t>(found - all.data());
    const auto require_unchanged = [&] {
      for (const auto& file : files()) file->require_unchanged();
    };
    try {
      std::vector<double> values = source_->read(part_ != nullptr ? part_->indices[index] : index);
      require_unchanged();
      if (values.size() != static_cast<std::size_t>(found->num_elements())) {
        throw InputError(fmt::format(
            "{}: tensor '{}': its shape is {}, but the reader of the format {} gives {} "
            "numbers",
            where(),
            name,
            shape_text(found->shape),
            format_,
            values.size()));
      }
      return values;
    } catch (const InputError&) {
      require_unchanged();  // otherwise the message would report damage
      throw;
    }
  }
  for (const UnreadableTensor& tensor : unreadable()) {
    if (tensor.name != name) continue;
    throw InputError(fmt::format("{}: tensor '{}': {}; real numbers in an array are expected",
                                 where(),
                                 name,
                                 tensor.reason));
  }
  const std::vector<std::string> names = names_of(all);
  throw InputError(fmt::format("{}: there is no tensor '{}'{}; the file holds {}",
                               where(),
                               name,
                               did_you_mean(name, names),
                               listed(names, "no tensors")));
}

std::vector<std::filesystem::path> TensorFile::other_files() const {
  std::vector<std::filesystem::path> paths;
  for (const auto& file : files().subspan(1)) paths.push_back(file->path());
  return paths;
}

std::optional<double> TensorFile::number(std::string_view name) const {
  return source_->number(key_.empty() ? std::string(name) : fmt::format("{}.{}", key_, name));
}

std::vector<FileValue> TensorFile::values() const {
  std::vector<FileValue> all = source_->values();
  if (key_.empty()) return all;
  std::vector<FileValue> chosen;
  for (FileValue& each : all) {
    const std::string_view name = name_under(key_, each.name);
    if (!name.empty()) chosen.push_back({std::string(name), std::move(each.value)});
  }
  return chosen;
}

std::string TensorFile::stored_name(std::string_view name) const {
  const TensorInfo* const found = find(name);
  if (found == nullptr) {
    throw PreconditionError(fmt::format("TensorFile::stored_name: no tensor '{}'", name));
  }
  const auto index = static_cast<std::size_t>(found - tensors().data());
  return source_->stored_name(part_ != nullptr ? part_->indices[index] : index);
}

TensorFile TensorFile::part(std::string_view key) const {
  if (key.empty()) return *this;
  auto chosen = std::make_shared<Part>();
  const auto all = tensors();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string_view name = name_under(key, all[i].name);
    if (name.empty()) continue;
    chosen->tensors.push_back(all[i]);
    chosen->tensors.back().name = name;
    chosen->indices.push_back(part_ != nullptr ? part_->indices[i] : i);
  }
  for (const UnreadableTensor& tensor : unreadable()) {
    const std::string_view name = name_under(key, tensor.name);
    if (name.empty()) continue;
    chosen->unreadable.push_back(tensor);
    chosen->unreadable.back().name = name;
  }
  if (chosen->tensors.empty() && chosen->unreadable.empty()) {
    const std::vector<std::string> keys = keys_of(all);
    throw InputError(
        fmt::format("{}: there is nothing under '{}'{}; there is something under {}",
                    where(),
                    key,
                    did_you_mean(key, keys),
                    listed(keys, "no key: its tensors have plain names, so leave `key` out")));
  }
  TensorFile result = *this;
  result.key_ = key_.empty() ? std::string(key) : fmt::format("{}.{}", key_, key);
  result.places_ = places_of(chosen->tensors);
  result.part_ = std::move(chosen);
  return result;
}

namespace {

[[noreturn]] void refuse_unreadable(const TensorFile& file, const UnreadableTensor& tensor) {
  throw InputError(fmt::format(
      "{}: tensor '{}': {}; real numbers in an array are expected. A part of the file without it "
      "can be chosen by its key (`key`), or it can be ignored by a map of names (`map`)",
      file.where(),
      tensor.name,
      tensor.reason));
}

}  // namespace

void require_readable(const TensorFile& file) {
  if (!file.unreadable().empty()) refuse_unreadable(file, file.unreadable().front());
}

void require_readable_numbers(const TensorFile& file) {
  for (const UnreadableTensor& tensor : file.unreadable()) {
    if (!tensor.is_no_parameter) refuse_unreadable(file, tensor);
  }
}

std::string sha256_of(const TensorFile& file) { return sha256_of(file.files()); }

namespace {

[[noreturn]] void refuse_unknown(const InputFile& file) {
  const std::string where = file.path().string();
  if (file.size() == 0) throw InputError(where + ": the file is empty");
  if (file.path().extension() == ".toml") {
    throw InputError(where +
                     ": is a TOML file, as problem files are; a file of tensors is expected here");
  }
  std::vector<std::string> known;
  known.reserve(format_kinds().size());
  for (const FormatKind& format : format_kinds()) {
    known.push_back(fmt::format("{} ({}, {})", format.name, format.summary, format.extension));
  }
  throw InputError(
      fmt::format("{}: is of no known format (it begins with '{}'); known are {}. Convert it to "
                  ".npz from Python: "
                  "numpy.savez('FILE.npz', NAME=array, ...)",
                  where,
                  escaped(file.text_at(0, 8)),
                  fmt::join(known, ", ")));
}

// Checks what the reader of a program's own format may have forgotten.
// @throws PreconditionError.
void require_source(const FormatKind& format, const TensorSource* source) {
  const auto refuse = [&](const char* why) {
    throw PreconditionError(fmt::format("open_tensor_file: the format {} {}", format.name, why));
  };
  if (source == nullptr) refuse("opens nothing");
  const auto files = source->files();
  if (files.empty() || std::ranges::find(files, nullptr) != files.end()) {
    refuse("does not say which files its tensors lie in (TensorSource::files())");
  }
}

}  // namespace

TensorFile open_tensor_file(const std::filesystem::path& path, const ReadLimits& limits) {
  return open_tensor_file(std::make_shared<InputFile>(path), limits);
}

TensorFile open_tensor_file(std::shared_ptr<const InputFile> file, const ReadLimits& limits) {
  if (file == nullptr) throw PreconditionError("open_tensor_file: file must not be null");
  const FormatKind* const format = recognised_format(*file, limits);
  if (format == nullptr) refuse_unknown(*file);
  const std::filesystem::path path = file->path();
  std::unique_ptr<TensorSource> source = format->open(std::move(file), limits);
  require_source(*format, source.get());
  TensorFile opened(path, format->name, std::move(source));
  if (opened.tensors().empty() && !opened.unreadable().empty()) {
    const UnreadableTensor& first = opened.unreadable().front();
    throw InputError(fmt::format("{}: tensor '{}': {}", path.string(), first.name, first.reason));
  }
  return opened;
}

}  // namespace hesscope::io
