// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/core/suggest.h>
#include <hesscope/dataset/internal/netcdf_layout.h>
#include <hesscope/dataset/internal/result_listing.h>
#include <hesscope/dataset/internal/result_server.h>
#include <hesscope/dataset/result_reader.h>
#include <hesscope/hdf5/internal/descriptor_driver.h>
#include <hesscope/hdf5/internal/hdf5_handle.h>
#include <hesscope/hdf5/internal/hdf5_superblock.h>
#include <hesscope/isolation/internal/isolated_file.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/read_checks.h>

namespace hesscope::io {
namespace {

constexpr std::string_view kSchemaAttribute = "hesscope_schema_version";

std::filesystem::path existing(std::filesystem::path path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  throw InputError(fmt::format("{}: no such file", path.string()));
}

// Names are shown to users, and accepted from them.
void check_name(const std::string& path, const std::string& kind, const std::string& name) {
  if (is_printable_utf8(name)) return;
  throw InputError(fmt::format("{}: {} '{}': its name is not UTF-8 text without control characters",
                               path,
                               kind,
                               escaped(name)));
}

void check_names(const std::string& path, const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    check_name(path, "group", group.name);
    for (const Attribute& attribute : group.attributes) {
      check_name(path, "attribute", attribute.name);
    }
    for (const Dimension& dimension : group.dimensions) {
      check_name(path, "dimension", dimension.name);
    }
    for (const Variable& variable : group.variables) {
      check_name(path, "variable", variable.name);
      for (const std::string& dimension : variable.dimensions) {
        check_name(path, "dimension", dimension);
      }
    }
  }
}

// A later major version may use the same names with other meanings. For a reader that takes a
// missing status as `ok`, versions 1 and 2 are the same.
void check_schema(const std::string& path, const std::vector<Group>& groups) {
  constexpr std::array<std::string_view, 2> kMajors = {"1.", kResultSchemaVersion.substr(0, 2)};
  for (const Attribute& attribute : groups.front().attributes) {
    if (attribute.name != kSchemaAttribute) continue;
    const auto* const version = std::get_if<std::string>(&attribute.value);
    const auto is_of = [version](std::string_view major) { return version->starts_with(major); };
    if (version != nullptr && std::any_of(kMajors.begin(), kMajors.end(), is_of)) continue;
    throw InputError(
        fmt::format("{}: is of another schema of results ({} {}) than this program knows ({})",
                    path,
                    kSchemaAttribute,
                    version != nullptr ? printable(*version) : "of another type",
                    kResultSchemaVersion));
  }
}

const Dimension* find_dimension(const Group& group, const std::string& name) {
  const auto found = std::ranges::find(group.dimensions, name, &Dimension::name);
  return found == group.dimensions.end() ? nullptr : &*found;
}

// Code that reads two variables of a group along one dimension may rely on their equal lengths.
void check_dimensions(const std::string& path, const std::vector<Group>& groups) {
  for (const Group& group : groups) {
    for (const Variable& variable : group.variables) {
      for (std::size_t axis = 0; axis < variable.dimensions.size(); ++axis) {
        const std::string& name = variable.dimensions[axis];
        const Dimension* const own = find_dimension(group, name);
        const Dimension* const dimension =
            own != nullptr ? own : find_dimension(groups.front(), name);
        if (dimension == nullptr ||
            static_cast<std::uint64_t>(dimension->size) == variable.shape[axis]) {
          continue;
        }
        throw InputError(
            fmt::format("{}: variable '{}/{}': its extent along dimension '{}' is {}, but that "
                        "dimension has {} entries; compute the result again",
                        path,
                        group.name,
                        variable.name,
                        name,
                        variable.shape[axis],
                        dimension->size));
      }
    }
  }
}

}  // namespace

struct ResultReader::Impl {
  explicit Impl(std::filesystem::path file_path)
      : path(existing(std::move(file_path))),
        input(std::make_shared<InputFile>(path, "a hesscope result")),
        file(input,
             {.name = "HDF5", .holds = "variables", .remedy = "compute the result again"},
             limits,
             ResultListing::kMaxBytes,
             [input = input, limits = limits] { return serve_result(input, limits); }) {
    auto decoded = decode_result_listing(file.listing());
    if (!decoded) file.refuse_listing();
    listing = std::move(*decoded);
    if (listing.groups.empty()) file.refuse_listing();  // not even a root
    check_schema(path.string(), listing.groups);
    check_names(path.string(), listing.groups);
    check_dimensions(path.string(), listing.groups);
  }

  struct Place {
    std::uint64_t index;  ///< among the variables of all groups
    const Variable* variable;
    std::string name;  ///< for messages
  };

  Place require(const std::string& group,
                const std::string& name,
                std::initializer_list<VariableType> types) const;

  /// Everything, or one slice along the first dimension.
  std::vector<double> read(const Place& place, std::optional<std::uint64_t> slice) const;

  std::filesystem::path path;
  std::shared_ptr<const InputFile> input;
  ReadLimits limits;
  IsolatedFile file;
  ResultListing listing;
};

ResultReader::Impl::Place ResultReader::Impl::require(
    const std::string& group,
    const std::string& name,
    std::initializer_list<VariableType> types) const {
  std::vector<std::string> known;
  std::uint64_t index = 0;
  for (const Group& candidate : listing.groups) {
    for (const Variable& variable : candidate.variables) {
      ++index;
      if (candidate.name != group) continue;
      known.push_back(variable.name);
      if (variable.name != name) continue;
      if (std::find(types.begin(), types.end(), variable.type) != types.end()) {
        return {index - 1, &variable, fmt::format("variable '{}/{}'", group, name)};
      }
      throw InputError(
          fmt::format("{}: variable '{}/{}': its values are of another type than asked for",
                      path.string(),
                      group,
                      name));
    }
  }
  throw InputError(fmt::format(
      "{}: there is no variable '{}/{}'{}", path.string(), group, name, did_you_mean(name, known)));
}

std::vector<double> ResultReader::Impl::read(const Place& place,
                                             std::optional<std::uint64_t> slice) const {
  const std::string& obstacle = listing.obstacles[place.index];
  if (!obstacle.empty()) throw InputError(obstacle);
  std::vector<std::uint64_t> shape = place.variable->shape;
  if (slice) {
    if (shape.empty() || *slice >= shape[0]) {
      throw InputError(fmt::format("{}: {}: there is no slice {}, its shape is {}",
                                   path.string(),
                                   place.name,
                                   *slice,
                                   shape_text(std::vector<hsize_t>(shape.begin(), shape.end()))));
    }
    shape[0] = 1;
  }
  const std::vector<std::int64_t> extents(shape.begin(), shape.end());
  const std::string where = fmt::format("{}: {}", path.string(), place.name);
  const std::size_t count = checked_num_elements(where, extents, limits);
  if (count == 0) return {};
  check_expansion(where, count * netcdf::stored_size(place.variable->type), input->size(), limits);
  std::vector<double> values = file.read({.index = place.index,
                                          .is_slice = slice ? 1U : 0U,
                                          .slice = slice.value_or(0),
                                          .num_elements = count},
                                         place.name);
  input->require_unchanged();
  return values;
}

bool is_result_file(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none) && is_result_file(InputFile(path));
}

bool is_result_file(const InputFile& file) {
  if (!find_superblock(file).has_value()) return false;
  require_no_writer(file);  // its content may not be in the file yet
  constexpr std::size_t kMaxSearched = 4 << 20;
  const bool is_small = file.size() <= kMaxSearched;  // then this is faster than a process
  if (is_small && file.text_at(0, kMaxSearched).find(kSchemaAttribute) == std::string::npos) {
    return false;
  }
  // It may be anything, even a hostile checkpoint.
  constexpr double kMaxSeconds = 5;
  const Answer answer = ask_isolated(file, {.max_seconds = kMaxSeconds}, [&] {
    const QuietHdf5 quiet;
    const Hid opened = open_result_file(file);
    if (!opened) require_no_writer(file);  // the writer may be known by now
    return opened && H5Aexists(opened.get(), kSchemaAttribute.data()) > 0;
  });
  if (answer != Answer::kNone) return answer == Answer::kYes;
  throw InputError(
      fmt::format("{}: cannot be told to be a hesscope result or not: the process "
                  "that reads it crashed, or gave no answer in {} s; try again, or "
                  "remove the file",
                  file.path().string(),
                  kMaxSeconds));
}

ResultReader::ResultReader(std::filesystem::path path)
    : impl_(std::make_unique<Impl>(std::move(path))) {}

ResultReader::~ResultReader() = default;
ResultReader::ResultReader(ResultReader&&) noexcept = default;

const ResultReader::Impl& ResultReader::impl() const {
  if (impl_ == nullptr) throw PreconditionError("ResultReader: it was moved from");
  return *impl_;
}

const std::filesystem::path& ResultReader::path() const { return impl().path; }

const std::vector<Group>& ResultReader::groups() const& { return impl().listing.groups; }

const Group* ResultReader::find_group(const std::string& name) const {
  const auto found = std::ranges::find(impl().listing.groups, name, &Group::name);
  return found == impl().listing.groups.end() ? nullptr : &*found;
}

const Variable* ResultReader::find(const std::string& group, const std::string& name) const {
  const Group* const found = find_group(group);
  return found == nullptr ? nullptr : found->find(name);
}

const AttributeValue* ResultReader::find_attribute(const std::string& group,
                                                   const std::string& name) const {
  const Group* const found = find_group(group);
  return found == nullptr ? nullptr : found->find_attribute(name);
}

Variable ResultReader::read(const std::string& group, const std::string& name) const {
  using enum VariableType;
  Variable found = *impl().require(group, name, {kDouble, kInt64, kInt8, kText}).variable;
  if (found.type == kDouble) {
    found.values = read_doubles(group, name);
  } else if (found.type == kText) {
    found.values = read_text(group, name);
  } else {
    std::vector<std::int64_t> values = read_integers(group, name);
    if (found.type == kInt64) {
      found.values = std::move(values);
    } else {
      found.values = std::vector<std::int8_t>(values.begin(), values.end());
    }
  }
  return found;
}

std::vector<double> ResultReader::read_doubles(const std::string& group,
                                               const std::string& name) const {
  return impl().read(impl().require(group, name, {VariableType::kDouble}), std::nullopt);
}

std::vector<double> ResultReader::read_double_slice(const std::string& group,
                                                    const std::string& name,
                                                    std::uint64_t index) const {
  return impl().read(impl().require(group, name, {VariableType::kDouble}), index);
}

std::vector<std::int64_t> ResultReader::read_integers(const std::string& group,
                                                      const std::string& name) const {
  const auto place = impl().require(group, name, {VariableType::kInt64, VariableType::kInt8});
  const std::vector<double> bits = impl().read(place, std::nullopt);
  std::vector<std::int64_t> values(bits.size());
  std::ranges::transform(
      bits, values.begin(), [](double value) { return std::bit_cast<std::int64_t>(value); });
  return values;
}

std::vector<std::string> ResultReader::read_text(const std::string& group,
                                                 const std::string& name) const {
  const auto place = impl().require(group, name, {VariableType::kText});
  const std::string& obstacle = impl().listing.obstacles[place.index];
  if (!obstacle.empty()) throw InputError(obstacle);
  return std::get<std::vector<std::string>>(place.variable->values);
}

}  // namespace hesscope::io
