// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/format_registry.h>
#include <hesscope/tensors/internal/json_events.h>
#include <hesscope/tensors/internal/sharded_reader.h>

namespace hesscope::io {
namespace {

constexpr std::size_t kMaxShards = 500;  // all are open at a time
constexpr std::string_view kMapKey = "weight_map";

/// A message about the index itself.
std::string about_index(const std::string& where, const std::string& what, std::uint64_t byte) {
  return fmt::format(
      "{}: {} (index of a checkpoint in several files, near byte {})", where, what, byte);
}

/// The contents of an index.
struct WeightMap {
  struct Entry {
    std::set<std::string> files;  ///< which contain a tensor, or a group of them
    std::uint64_t byte = 0;       ///< approximate position in the index
  };

  std::map<std::string, Entry> entries;
  std::map<std::string, std::uint64_t> files;  ///< all of them, with the byte of the first mention
};

/// Collects "weight_map"; other keys are skipped.
class IndexEvents final : public JsonEvents {
 public:
  IndexEvents(const std::string& where, const std::uint64_t& position, const ReadLimits& limits)
      : where_(where), position_(position), limits_(limits) {}

  bool has_map() const { return has_map_; }

  WeightMap take_map() { return std::move(map_); }

  void null() override { other_value(); }

  void boolean(bool) override { other_value(); }

  void negative(std::int64_t) override { other_value(); }

  void whole(std::uint64_t) override { other_value(); }

  void real(const std::string&) override { other_value(); }

  void string(const std::string& text) override {
    if (!is_in_map_) return;
    if (depth_ == 1) refuse_value();
    // The name is from an untrusted file: nothing outside the index's folder is ever opened.
    if (text.empty() || text == "." || text == ".." || text.find('/') != std::string::npos ||
        !is_printable_utf8(text)) {
      refuse(fmt::format("the index has '{}' in '{}', which is not the name of a file next to it",
                         escaped(entry_),
                         escaped(text)));
    }
    map_.files.emplace(text, position_);
    if (map_.files.size() > kMaxShards) {
      refuse(fmt::format("it names more than {} files", kMaxShards));
    }
    map_.entries[entry_].files.insert(text);
  }

  void start_object() override {
    if (is_in_map_ && depth_ > 1) refuse_value();
    enter();
    if (depth_ == 2 && is_in_map_) has_map_ = true;
  }

  void key(const std::string& text) override {
    if (depth_ == 1) {
      if (!keys_.insert(text).second) refuse(fmt::format("'{}' occurs twice", escaped(text)));
      is_in_map_ = text == kMapKey;
    } else if (depth_ == 2 && is_in_map_) {
      if (!is_printable_utf8(text)) {
        refuse(fmt::format("the name '{}' is not UTF-8 text without control characters",
                           escaped(text)));
      }
      if (map_.entries.contains(text)) refuse(fmt::format("'{}' occurs twice", text));
      if (map_.entries.size() == limits_.max_tensors) {
        refuse(fmt::format("there are more than {} tensors", limits_.max_tensors));
      }
      entry_ = text;
      map_.entries[entry_].byte = position_;
    }
  }

  void end_object() override { leave(); }

  void start_array() override {
    if (is_in_map_ && depth_ != 2) refuse_value();
    enter();
  }

  void end_array() override { leave(); }

  void not_json() override { refuse("it is not JSON"); }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(about_index(where_, what, position_));
  }

  [[noreturn]] void refuse_value() const {
    refuse("'weight_map' must be an object of names and the file, or files, that hold them");
  }

  void other_value() {
    if (is_in_map_) refuse_value();
  }

  void enter() {
    constexpr std::size_t kMaxDepth = 16;
    if (++depth_ > kMaxDepth) refuse(fmt::format("it is nested more than {} deep", kMaxDepth));
  }

  void leave() {
    if (--depth_ == 1) is_in_map_ = false;
  }

  const std::string& where_;
  const std::uint64_t& position_;
  const ReadLimits& limits_;
  std::size_t depth_ = 0;
  bool is_in_map_ = false;
  bool has_map_ = false;
  std::string entry_;
  std::set<std::string> keys_;
  WeightMap map_;
};

WeightMap read_index(const InputFile& file, const ReadLimits& limits) {
  const std::string where = file.path().string();
  if (file.size() > limits.max_header_bytes) {
    throw InputError(fmt::format(
        "{}: is JSON that ends at byte {}; an index of a checkpoint is read up to byte {}",
        where,
        file.size(),
        limits.max_header_bytes));
  }
  const std::string text = file.text_at(0, static_cast<std::size_t>(file.size()));
  std::uint64_t position = 0;
  IndexEvents events(where, position, limits);
  parse_json_object(text, where, position, events);
  if (!events.has_map()) {
    throw InputError(
        fmt::format("{}: is JSON without a '{}' (up to its end at byte {}), so no index of a "
                    "checkpoint in several files; name the checkpoint itself",
                    where,
                    kMapKey,
                    position));
  }
  return events.take_map();
}

/// @param byte  of the index, near which the file is named.
TensorFile open_shard(const InputFile& index,
                      const std::string& name,
                      std::uint64_t byte,
                      const ReadLimits& limits) {
  const std::filesystem::path path = index.path().parent_path() / name;
  try {
    const auto file = std::make_shared<InputFile>(path, InputFile::kCheckpoint, index.stop());
    const FormatKind* const format = recognised_format(*file, limits);
    // Does not quote its beginning: an index may name a link to any file of its reader.
    if (format == nullptr) throw InputError(path.string() + ": is of no known format");
    if (format->open == &open_shard_index) throw InputError(path.string() + ": is an index itself");
    return {path, format->name, format->open(file, limits)};
  } catch (const InputError& error) {
    throw InputError(fmt::format(
        "{} (a part of {}, near byte {} of it)", error.what(), index.path().string(), byte));
  }
}

class ShardedSource final : public TensorSource {
 public:
  ShardedSource(std::shared_ptr<const InputFile> index, const ReadLimits& limits)
      : index_(index->path().string()), files_({std::move(index)}) {
    const WeightMap map = read_index(*files_.front(), limits);
    for (const auto& [name, byte] : map.files) {
      shards_.push_back(open_shard(*files_.front(), name, byte, limits));
      add_files(shards_.back());
      std::map<std::size_t, std::size_t> ties;  // from the shard's ties to those of all shards
      for (const TensorInfo& tensor : shards_.back().tensors()) {
        hold(tensor.name, byte, limits);
        tensors_.push_back(tensor);
        if (!tensor.tie) continue;
        const auto [known, is_new] = ties.emplace(*tensor.tie, num_ties_);
        if (is_new) ++num_ties_;
        tensors_.back().tie = known->second;
      }
      for (const UnreadableTensor& tensor : shards_.back().unreadable()) {
        hold(tensor.name, byte, limits);
        unreadable_.push_back(tensor);
      }
    }
    require_entries(map);
  }

  std::span<const TensorInfo> tensors() const override { return tensors_; }

  std::span<const UnreadableTensor> unreadable() const override { return unreadable_; }

  std::vector<double> read(std::size_t index) const override {
    for (const TensorFile& shard : shards_) {
      if (index < shard.tensors().size()) return shard.read(shard.tensors()[index].name);
      index -= shard.tensors().size();
    }
    throw PreconditionError("ShardedSource: there is no tensor of this index");
  }

  std::span<const std::shared_ptr<const InputFile>> files() const override { return files_; }

 private:
  // The shard and the files that it names, which other shards may name, too.
  void add_files(const TensorFile& shard) {
    for (const auto& file : shard.files()) {
      const bool is_known = std::ranges::any_of(
          files_, [&](const auto& other) { return other->path() == file->path(); });
      if (!is_known) files_.push_back(file);
    }
  }

  /// Records that the last file opened holds a tensor of this name, readable or not.
  /// @param byte  of the index, near which the file is named.
  void hold(const std::string& tensor, std::uint64_t byte, const ReadLimits& limits) {
    const std::string file = shards_.back().path().filename().string();
    if (holders_.size() == limits.max_tensors && !holders_.contains(tensor)) {
      throw InputError(about_index(
          index_,
          fmt::format("there are more than {} tensors, with those of {}", limits.max_tensors, file),
          byte));
    }
    const auto [before, is_new] = holders_.emplace(tensor, shards_.size() - 1);
    if (!is_new) {
      throw InputError(about_index(index_,
                                   fmt::format("tensor '{}' is in {} and in {}",
                                               tensor,
                                               shards_[before->second].path().filename().string(),
                                               file),
                                   byte));
    }
  }

  /// Checks that the files hold what the index says: the tensor, or for "/layers/dense/vars" one in
  /// this group.
  void require_entries(const WeightMap& map) const {
    std::set<std::pair<std::string, std::string>> held;  // file, tensor
    for (const TensorFile& shard : shards_) {
      const std::string file = shard.path().filename().string();
      for (const TensorInfo& tensor : shard.tensors()) held.emplace(file, tensor.name);
      for (const UnreadableTensor& tensor : shard.unreadable()) held.emplace(file, tensor.name);
    }
    for (const auto& [entry, place] : map.entries) {
      const std::string group = (entry.starts_with('/') ? entry.substr(1) : entry) + "/";
      for (const std::string& file : place.files) {
        const auto first = held.lower_bound({file, group});
        const bool has_group =
            first != held.end() && first->first == file && first->second.starts_with(group);
        if (has_group || held.contains({file, entry})) continue;
        throw InputError(about_index(
            index_,
            fmt::format("the index has '{}' in '{}', which does not hold it", entry, file),
            place.byte));
      }
    }
  }

  std::string index_;  // the opened file
  std::vector<std::shared_ptr<const InputFile>> files_;
  std::vector<TensorFile> shards_;  // in the order of their names
  std::size_t num_ties_ = 0;        // in all shards
  std::vector<TensorInfo> tensors_;
  std::vector<UnreadableTensor> unreadable_;
  std::map<std::string, std::size_t> holders_;  // for all tensors, by name: index in shards_
};

}  // namespace

bool recognises_shard_index(const InputFile& file) {
  constexpr std::size_t kLongestPadding = 1024;
  const std::string start = file.text_at(0, kLongestPadding);
  const std::size_t brace = start.find_first_not_of(" \t\n\r");
  if (brace == std::string::npos || start[brace] != '{') return false;
  const std::size_t next = start.find_first_not_of(" \t\n\r", brace + 1);
  return next != std::string::npos && (start[next] == '"' || start[next] == '}');
}

std::unique_ptr<TensorSource> open_shard_index(std::shared_ptr<const InputFile> file,
                                               const ReadLimits& limits) {
  return std::make_unique<ShardedSource>(std::move(file), limits);
}

}  // namespace hesscope::io
