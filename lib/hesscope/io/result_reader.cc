// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#include <hesscope/core/error.h>
#include <hesscope/core/suggest.h>
#include <hesscope/io/hdf5_handle.h>
#include <hesscope/io/hdf5_query.h>
#include <hesscope/io/hdf5_reader.h>
#include <hesscope/io/input_file.h>
#include <hesscope/io/isolated_reader.h>
#include <hesscope/io/netcdf_layout.h>
#include <hesscope/io/result_reader.h>

namespace hesscope::io {
namespace {

constexpr std::string_view kSchemaAttribute = "hesscope_schema_version";

Hid open_file(const std::filesystem::path& path) {
  const Hid access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access.get(), true, true);
#endif
  // In a damaged file HDF5 may lose track of an object; it must go with the file all the same.
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  return {H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose};
}

}  // namespace

struct ResultReader::Impl {
  explicit Impl(std::filesystem::path file_path);
  ~Impl();

  [[noreturn]] void fail(const std::string& object, std::string_view what) const {
    const std::string details = hdf5_error_text();
    throw InputError(fmt::format("{}: {}: {}: {}", path.string(), object, what, details));
  }

  void read_group(const std::string& name, hid_t id);
  void read_dataset(ResultGroup& group, const std::string& name, hid_t dataset) const;
  const ResultVariable& require(const std::string& group,
                                const std::string& name,
                                std::initializer_list<VariableType> types) const;

  /// Reads the hyperslab [start, start + count) of the first dimension, or everything.
  template <typename T>
  std::vector<T> read(const std::string& group,
                      const std::string& name,
                      hid_t memory_type,
                      std::optional<std::uint64_t> slice) const;

  std::filesystem::path path;
  Hid file;
  std::vector<ResultGroup> groups;
};

ResultReader::Impl::Impl(std::filesystem::path file_path) : path(std::move(file_path)) {
  const QuietHdf5 quiet;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw InputError(fmt::format("{}: no such file", path.string()));
  }
  file = open_file(path);
  if (!file) fail("file", "not an HDF5 file, or damaged");
  const Hid root(H5Gopen2(file.get(), "/", H5P_DEFAULT), H5Gclose);
  if (!root) fail("group '/'", "cannot be opened");
  read_group("", root.get());
}

ResultReader::Impl::~Impl() {
  const QuietHdf5 quiet;
  file = Hid();
}

void ResultReader::Impl::read_group(const std::string& name, hid_t id) {
  ResultGroup group{.name = name, .attributes = {}, .dimensions = {}, .variables = {}};
  for (const std::string& attribute : attribute_names(id)) {
    AttributeValue value;
    if (read_attribute(id, attribute.c_str(), value)) {
      group.attributes.push_back({attribute, std::move(value)});
    }
  }
  std::vector<std::pair<std::string, Hid>> subgroups;
  for (const std::string& link : link_names(id)) {
    Hid object(H5Oopen(id, link.c_str(), H5P_DEFAULT), H5Oclose);
    if (!object) fail(fmt::format("object '{}/{}'", name, link), "cannot be opened");
    const H5I_type_t type = H5Iget_type(object.get());
    if (type == H5I_DATASET) read_dataset(group, link, object.get());
    // One level, as ResultFile writes: no cycle of links can catch us.
    if (type == H5I_GROUP && name.empty()) subgroups.emplace_back(link, std::move(object));
  }
  groups.push_back(std::move(group));
  for (const auto& [subgroup, handle] : subgroups) read_group(subgroup, handle.get());
}

void ResultReader::Impl::read_dataset(ResultGroup& group,
                                      const std::string& name,
                                      hid_t dataset) const {
  const std::string object = fmt::format("variable '{}/{}'", group.name, name);
  const Hid space(H5Dget_space(dataset), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0) fail(object, "its shape cannot be read");
  std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);

  const bool is_scale = H5DSis_scale(dataset) > 0 && rank == 1;
  const bool is_bare =
      is_scale && text_attribute(dataset, "NAME").starts_with(netcdf::kBareDimensionName);
  if (is_scale) group.dimensions.push_back({name, shape[0], !is_bare});
  if (is_bare) return;

  ResultVariable variable;
  variable.name = name;
  variable.type = type_of(dataset);
  variable.shape.assign(shape.begin(), shape.end());
  for (unsigned axis = 0; axis < shape.size(); ++axis) {
    variable.dimensions.push_back(is_scale ? name : dimension_name(dataset, axis));
  }
  variable.long_name = text_attribute(dataset, "long_name");
  variable.units = text_attribute(dataset, "units");
  variable.definition = text_attribute(dataset, "definition");
  variable.flag_meanings = words(text_attribute(dataset, "flag_meanings"));
  variable.ancillary_variables = text_attribute(dataset, "ancillary_variables");
  group.variables.push_back(std::move(variable));
}

const ResultVariable& ResultReader::Impl::require(const std::string& group,
                                                  const std::string& name,
                                                  std::initializer_list<VariableType> types) const {
  std::vector<std::string> known;
  for (const ResultGroup& candidate : groups) {
    if (candidate.name != group) continue;
    for (const ResultVariable& variable : candidate.variables) {
      known.push_back(variable.name);
      if (variable.name != name) continue;
      if (variable.type && std::find(types.begin(), types.end(), *variable.type) != types.end()) {
        return variable;
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

template <typename T>
std::vector<T> ResultReader::Impl::read(const std::string& group,
                                        const std::string& name,
                                        hid_t memory_type,
                                        std::optional<std::uint64_t> slice) const {
  const std::string object = fmt::format("variable '{}/{}'", group, name);
  const Hid dataset(H5Dopen2(file.get(), fmt::format("{}/{}", group, name).c_str(), H5P_DEFAULT),
                    H5Dclose);
  if (!dataset) fail(object, "cannot be opened");
  Hid file_space(H5Dget_space(dataset.get()), H5Sclose);
  std::vector<hsize_t> count(
      static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(file_space.get()), 0)));
  H5Sget_simple_extent_dims(file_space.get(), count.data(), nullptr);
  std::vector<hsize_t> start(count.size(), 0);
  if (slice) {
    if (count.empty() || *slice >= count[0]) {
      throw InputError(fmt::format("{}: {}: there is no slice {}, its shape is {}",
                                   path.string(),
                                   object,
                                   *slice,
                                   netcdf::shape_text(count)));
    }
    start[0] = *slice;
    count[0] = 1;
  }
  hsize_t total = 1;
  for (const hsize_t length : count) {
    if (length != 0 && total > std::numeric_limits<std::int64_t>::max() / sizeof(T) / length) {
      throw InputError(
          fmt::format("{}: {}: declares more values than memory can hold", path.string(), object));
    }
    total *= length;
  }
  std::vector<T> values(static_cast<std::size_t>(total));
  if (values.empty()) return values;
  Hid memory_space(H5Screate(H5S_SCALAR), H5Sclose);
  if (!count.empty()) {
    memory_space =
        Hid(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
    H5Sselect_hyperslab(
        file_space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  }
  if (H5Dread(dataset.get(),
              memory_type,
              memory_space.get(),
              file_space.get(),
              H5P_DEFAULT,
              values.data()) < 0) {
    fail(object, "cannot be read");
  }
  return values;
}

bool is_result_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  try {
    if (!recognises_hdf5(path)) return false;
    const InputFile file(path);
    constexpr std::size_t kMaxSearched = 4 << 20;
    const bool is_small = file.size() <= kMaxSearched;  // then this is faster than a process
    if (is_small && file.text_at(0, kMaxSearched).find(kSchemaAttribute) == std::string::npos) {
      return false;
    }
  } catch (const InputError&) {
    return false;  // not even its bytes can be read
  }
  // It may be anything, a hostile checkpoint among them.
  return ask_isolated(path, {.max_seconds = 5}, [&] {
    const QuietHdf5 quiet;
    H5PLset_loading_state(0);
    const Hid file = open_file(path);
    return file && H5Aexists(file.get(), kSchemaAttribute.data()) > 0;
  });
}

ResultReader::ResultReader(std::filesystem::path path)
    : impl_(std::make_unique<Impl>(std::move(path))) {}

ResultReader::~ResultReader() = default;
ResultReader::ResultReader(ResultReader&&) noexcept = default;

const std::filesystem::path& ResultReader::path() const { return impl_->path; }

const std::vector<ResultGroup>& ResultReader::groups() const { return impl_->groups; }

const ResultVariable* ResultReader::find(const std::string& group, const std::string& name) const {
  for (const ResultGroup& candidate : impl_->groups) {
    if (candidate.name != group) continue;
    for (const ResultVariable& variable : candidate.variables) {
      if (variable.name == name) return &variable;
    }
  }
  return nullptr;
}

const AttributeValue* ResultReader::find_attribute(const std::string& group,
                                                   const std::string& name) const {
  for (const ResultGroup& candidate : impl_->groups) {
    if (candidate.name != group) continue;
    for (const Attribute& attribute : candidate.attributes) {
      if (attribute.name == name) return &attribute.value;
    }
  }
  return nullptr;
}

std::vector<double> ResultReader::read_doubles(const std::string& group,
                                               const std::string& name) const {
  const QuietHdf5 quiet;
  impl_->require(group, name, {VariableType::kDouble});
  return impl_->read<double>(group, name, H5T_NATIVE_DOUBLE, std::nullopt);
}

std::vector<double> ResultReader::read_double_slice(const std::string& group,
                                                    const std::string& name,
                                                    std::uint64_t index) const {
  const QuietHdf5 quiet;
  impl_->require(group, name, {VariableType::kDouble});
  return impl_->read<double>(group, name, H5T_NATIVE_DOUBLE, index);
}

std::vector<std::int64_t> ResultReader::read_integers(const std::string& group,
                                                      const std::string& name) const {
  const QuietHdf5 quiet;
  impl_->require(group, name, {VariableType::kInt64, VariableType::kInt8});
  return impl_->read<std::int64_t>(group, name, H5T_NATIVE_INT64, std::nullopt);
}

std::vector<std::string> ResultReader::read_text(const std::string& group,
                                                 const std::string& name) const {
  const QuietHdf5 quiet;
  impl_->require(group, name, {VariableType::kText});
  const Hid type = netcdf::memory_type(VariableType::kText);
  std::vector<char*> pointers = impl_->read<char*>(group, name, type.get(), std::nullopt);
  std::vector<std::string> result;
  result.reserve(pointers.size());
  for (const char* text : pointers) result.emplace_back(text != nullptr ? text : "");
  if (!pointers.empty()) {
    const hsize_t count = pointers.size();
    const Hid space(H5Screate_simple(1, &count, nullptr), H5Sclose);
    H5Dvlen_reclaim(type.get(), space.get(), H5P_DEFAULT, pointers.data());
  }
  return result;
}

}  // namespace hesscope::io
