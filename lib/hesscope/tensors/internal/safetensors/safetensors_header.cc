// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/tensors/internal/json_events.h>
#include <hesscope/tensors/internal/safetensors/safetensors_header.h>

namespace hesscope::io {
namespace {

class HeaderEvents final : public JsonEvents {
 public:
  HeaderEvents(const std::string& where, const std::uint64_t& position, const ReadLimits& limits)
      : where_(where), position_(position), limits_(limits) {}

  std::vector<SafetensorsEntry> take_entries() { return std::move(entries_); }

  void null() override { refuse_value("null"); }

  void boolean(bool) override { refuse_value("true or false"); }

  void negative(std::int64_t value) override { refuse_value(fmt::format("the number {}", value)); }

  void real(const std::string& text) override { refuse_value(fmt::format("the number {}", text)); }

  void whole(std::uint64_t value) override {
    if (!is_in_array_) refuse_value(fmt::format("the number {}", value));
    if (field_ == Field::kOffsets) {
      if (num_offsets_ == 2) refuse("'data_offsets' holds more than two numbers");
      (num_offsets_++ == 0 ? entry().begin : entry().end) = value;
      return;
    }
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      refuse(fmt::format("the extent {} is beyond 2^63", value));
    }
    if (entry().shape.size() == limits_.max_rank) {
      refuse(fmt::format("has more than {} dimensions", limits_.max_rank));
    }
    entry().shape.push_back(static_cast<std::int64_t>(value));
  }

  void string(const std::string& text) override {
    if (level_ != Level::kMetadata && !(field_ == Field::kType && !is_in_array_)) {
      refuse_value(fmt::format("the text '{}'", escaped(text)));
    }
    if (level_ != Level::kMetadata) entry().type = text;
    field_ = Field::kNone;
  }

  void start_object() override {
    if (level_ == Level::kNothing) {
      level_ = Level::kRoot;
    } else if (level_ == Level::kRoot) {
      level_ = is_metadata_ ? Level::kMetadata : Level::kTensor;
    } else {
      refuse_value("an object");
    }
  }

  void key(const std::string& text) override {
    switch (level_) {
      case Level::kRoot:
        start_entry(text);
        break;
      case Level::kMetadata:
        if (!metadata_keys_.insert(text).second) {
          refuse(fmt::format("key '{}' of its metadata occurs twice", escaped(text)));
        }
        break;
      default:
        start_field(text);
    }
  }

  void end_object() override {
    if (level_ == Level::kTensor) {
      for (const char* name : {"dtype", "shape", "data_offsets"}) {
        if (!fields_.contains(name)) refuse(fmt::format("has no '{}'", name));
      }
    }
    name_.reset();
    level_ = level_ == Level::kRoot ? Level::kNothing : Level::kRoot;
  }

  void start_array() override {
    const bool is_expected = field_ == Field::kShape || field_ == Field::kOffsets;
    if (!is_expected || is_in_array_) refuse_value("an array");
    is_in_array_ = true;
  }

  void end_array() override {
    if (field_ == Field::kOffsets && num_offsets_ != 2) refuse("'data_offsets' needs two numbers");
    is_in_array_ = false;
    field_ = Field::kNone;
  }

  void not_json() override { refuse("it is not JSON"); }

 private:
  enum class Level { kNothing, kRoot, kMetadata, kTensor };
  enum class Field { kNone, kType, kShape, kOffsets };

  SafetensorsEntry& entry() { return entries_.back(); }

  [[noreturn]] void refuse(const std::string& what) const {
    const std::string tensor =
        name_ && !is_metadata_ ? fmt::format(" tensor '{}':", escaped(*name_)) : "";
    throw InputError(fmt::format("{}:{} {} (safetensors header, near byte {} of the file)",
                                 where_,
                                 tensor,
                                 what,
                                 position_));
  }

  [[noreturn]] void refuse_value(const std::string& found) const {
    const char* expected = "an object of tensors";
    if (level_ == Level::kRoot) expected = "an object of dtype, shape and data_offsets";
    if (is_metadata_) expected = "an object of texts for '__metadata__'";
    if (level_ == Level::kTensor) {
      expected = field_ == Field::kType ? "a text for 'dtype'"
                 : is_in_array_         ? "whole numbers from 0 on in 'shape' and 'data_offsets'"
                                        : "an array of numbers for 'shape' and 'data_offsets'";
    }
    refuse(fmt::format("{} is there, where {} is expected", found, expected));
  }

  void start_entry(const std::string& name) {
    is_metadata_ = name == "__metadata__";
    name_ = name;
    if (!is_printable_utf8(name)) refuse("its name is not UTF-8 text without control characters");
    if (!names_.insert(name).second) refuse("the name occurs twice");
    if (is_metadata_) return;
    if (entries_.size() == limits_.max_tensors) {
      refuse(fmt::format("there are more than {} tensors", limits_.max_tensors));
    }
    entries_.push_back({.name = name, .offset = position_});
    fields_.clear();
    num_offsets_ = 0;
  }

  void start_field(const std::string& name) {
    field_ = name == "dtype"          ? Field::kType
             : name == "shape"        ? Field::kShape
             : name == "data_offsets" ? Field::kOffsets
                                      : Field::kNone;
    if (field_ == Field::kNone) refuse(fmt::format("has an unknown field '{}'", escaped(name)));
    if (!fields_.insert(name).second) refuse(fmt::format("has '{}' twice", name));
  }

  const std::string& where_;
  const std::uint64_t& position_;
  const ReadLimits& limits_;
  Level level_ = Level::kNothing;
  Field field_ = Field::kNone;
  bool is_in_array_ = false;
  bool is_metadata_ = false;
  int num_offsets_ = 0;
  std::optional<std::string> name_;  ///< of the current entry
  std::set<std::string> fields_;     ///< of that entry, seen so far
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> metadata_keys_;
  std::vector<SafetensorsEntry> entries_;
};

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view text,
                                                       const std::string& where,
                                                       std::uint64_t offset,
                                                       const ReadLimits& limits) {
  std::uint64_t position = offset;
  HeaderEvents events(where, position, limits);
  parse_json_object(text, where, position, events);
  return events.take_entries();
}

}  // namespace hesscope::io
