// SPDX-License-Identifier: BSD-3-Clause
//
// The order of writing: variables when they are defined, dimensions at commit(). result_catalog.cc
// keeps the names and checks what fits them. The HDF5 objects are described in netcdf_layout.cc,
// their attributes in netcdf_attributes.cc, the writing of values in netcdf_values.cc;
// atomic_file.cc puts the file into place.
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#include <hesscope/core/error.h>
#include <hesscope/core/version.h>
#include <hesscope/dataset/internal/netcdf_attributes.h>
#include <hesscope/dataset/internal/netcdf_layout.h>
#include <hesscope/dataset/internal/netcdf_values.h>
#include <hesscope/dataset/internal/result_catalog.h>
#include <hesscope/dataset/result_file.h>
#include <hesscope/hdf5/internal/hdf5_handle.h>
#include <hesscope/storage/atomic_file.h>

namespace hesscope::io {
namespace {

hsize_t product(std::span<const hsize_t> shape) {
  hsize_t result = 1;
  for (const hsize_t length : shape) result *= length;
  return result;
}

VariableValues view_of(const Values& values) {
  return std::visit([](const auto& all) { return VariableValues(std::span(all)); }, values);
}

}  // namespace

struct ResultFile::Impl {
  Impl(std::filesystem::path path, Existing existing);
  ~Impl();

  netcdf::Place place(std::string_view kind, std::string_view path) const {
    return {output.destination(), fmt::format("{} '{}'", kind, path)};
  }

  void require_stored() const;

  /// Runs an operation on the open file. A lost write is reported as such, whatever error it led
  /// to.
  template <typename Operation>
  void run(const Operation& operation);

  hid_t group_id(const std::string& name);
  void define_dimension(const std::string& group, const std::string& name, std::uint64_t size);
  void define_variable(const std::string& group, const Variable& spec);

  void write(const std::string& group,
             const std::string& name,
             std::optional<std::uint64_t> slice,
             const VariableValues& values);

  void create_bare_dimensions();
  void attach_scales();
  void close();
  void release() noexcept;
  void commit();

  AtomicFile output;
  int first_error = 0;  // errno of the first lost write; HDF5 does not know of it
  Hid file;
  std::map<std::string, Hid> groups;  // "" is the root
  ResultCatalog catalog;
};

ResultFile::Impl::Impl(std::filesystem::path path, Existing existing)
    : output(std::move(path), existing) {
  const QuietHdf5 quiet;
  const netcdf::Place root = place("group", "/");
  file = netcdf::create_file(output.temporary(), first_error, root);
  groups[""] = Hid(H5Gopen2(file.get(), "/", H5P_DEFAULT), H5Gclose);
  if (!groups[""]) netcdf::fail(root, "open it");
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  netcdf::write_attribute(
      groups[""].get(),
      {"_NCProperties",
       fmt::format("version=2,hesscope={},hdf5={}.{}.{}", kVersion, major, minor, release)},
      root);
}

ResultFile::Impl::~Impl() { release(); }

void ResultFile::Impl::release() noexcept {
  const QuietHdf5 quiet;
  for (StoredVariable& variable : catalog.variables()) variable.dataset = Hid();
  for (auto& [name, group] : groups) group = Hid();
  file = Hid();
}

void ResultFile::Impl::require_stored() const {
  if (first_error != 0) {
    throw OutputError(fmt::format("{}: cannot write to '{}': {}",
                                  output.destination().string(),
                                  output.temporary().string(),
                                  std::generic_category().message(first_error)));
  }
}

template <typename Operation>
void ResultFile::Impl::run(const Operation& operation) {
  if (!file) {
    throw OutputError(fmt::format("{}: nothing more can be written after commit() was called",
                                  output.destination().string()));
  }
  const QuietHdf5 quiet;
  require_stored();
  try {
    operation();
  } catch (const OutputError&) {
    require_stored();
    throw;
  }
  require_stored();
}

hid_t ResultFile::Impl::group_id(const std::string& name) {
  const auto found = groups.find(name);
  if (found != groups.end()) return found->second.get();
  const netcdf::Place where = place("group", "/" + name);
  netcdf::require_name(where, name);
  catalog.require_free("/" + name, where);
  Hid group = netcdf::create_group(file.get(), name, where);
  catalog.add_group(name);
  return groups.emplace(name, std::move(group)).first->second.get();
}

void ResultFile::Impl::define_dimension(const std::string& group,
                                        const std::string& name,
                                        std::uint64_t size) {
  const std::string path = path_of(group, name);
  const netcdf::Place where = place("dimension", path);
  netcdf::require_name(where, name);
  catalog.require_free(path, where);
  group_id(group);
  catalog.add(StoredDimension{group, name, size});
}

void ResultFile::Impl::define_variable(const std::string& group, const Variable& spec) {
  const std::string path = path_of(group, spec.name);
  const netcdf::Place where = place("variable", path);
  netcdf::require_name(where, spec.name);

  StoredVariable variable = catalog.plan(group, spec, where);
  const hid_t parent = group_id(group);
  variable.dataset = netcdf::create_variable(parent, spec.name, {spec.type, variable.shape}, where);
  try {
    const hid_t id = variable.dataset.get();
    if (variable.is_coordinate) {
      netcdf::make_coordinate(id, spec.name, static_cast<int>(variable.dimensions[0]), where);
    }
    netcdf::describe(id, spec, variable.is_coordinate, where);
  } catch (...) {
    // A dataset without its dimensions would make the whole file unreadable for netCDF.
    variable.dataset = Hid();
    H5Ldelete(parent, spec.name.c_str(), H5P_DEFAULT);
    throw;
  }
  catalog.add(std::move(variable));
}

void ResultFile::Impl::write(const std::string& group,
                             const std::string& name,
                             std::optional<std::uint64_t> slice,
                             const VariableValues& values) {
  const StoredVariable& variable = catalog.find_variable(group, name, output.destination());
  const netcdf::Place where = place("variable", variable.path);
  const auto type_of_values = static_cast<VariableType>(values.index());
  if (variable.type != type_of_values) {
    throw OutputError(fmt::format("{}: it holds {}, got {}",
                                  where.text(),
                                  to_string(variable.type),
                                  to_string(type_of_values)));
  }
  netcdf::Slab slab{.start = std::vector<hsize_t>(variable.shape.size()), .count = variable.shape};
  if (slice) {
    if (slab.count.empty() || *slice >= slab.count[0]) {
      throw OutputError(fmt::format("{}: there is no slice {}, its shape is {}",
                                    where.text(),
                                    *slice,
                                    shape_text(variable.shape)));
    }
    slab.start[0] = *slice;
    slab.count[0] = 1;
  }
  const std::size_t size = std::visit([](const auto& span) { return span.size(); }, values);
  if (size != product(slab.count)) {
    throw OutputError(
        fmt::format("{}: {} values for the shape {}", where.text(), size, shape_text(slab.count)));
  }
  if (size > 0) netcdf::write_values(variable.dataset.get(), slab, values, where);
}

/// Done late, because until now a dimension could still have become a coordinate variable.
void ResultFile::Impl::create_bare_dimensions() {
  for (std::size_t id = 0; id < catalog.dimensions().size(); ++id) {
    const StoredDimension& dimension = catalog.dimensions()[id];
    const std::string path = path_of(dimension.group, dimension.name);
    if (catalog.has_variable(path)) continue;
    netcdf::create_bare_dimension(group_id(dimension.group),
                                  dimension.name,
                                  dimension.size,
                                  static_cast<int>(id),
                                  place("dimension", path));
  }
}

void ResultFile::Impl::attach_scales() {
  std::vector<Hid> scales;
  for (const StoredDimension& dimension : catalog.dimensions()) {
    const std::string path = path_of(dimension.group, dimension.name);
    scales.emplace_back(H5Dopen2(file.get(), path.c_str(), H5P_DEFAULT), H5Dclose);
    if (!scales.back()) netcdf::fail(place("dimension", path), "open it");
  }
  for (const StoredVariable& variable : catalog.variables()) {
    if (variable.is_coordinate) continue;
    for (std::size_t axis = 0; axis < variable.dimensions.size(); ++axis) {
      if (H5DSattach_scale(variable.dataset.get(),
                           scales[variable.dimensions[axis]].get(),
                           static_cast<unsigned>(axis)) < 0) {
        netcdf::fail(place("variable", variable.path),
                     fmt::format("attach the dimension of axis {}", axis));
      }
    }
  }
  for (std::size_t id = 0; id < scales.size(); ++id) {
    scales[id].close_checked(
        place("dimension", path_of(catalog.dimensions()[id].group, catalog.dimensions()[id].name))
            .text());
  }
}

/// Closes every handle and checks the result. Chunks and metadata reach the disk only now, so only
/// after the last close is it known whether everything could be stored.
void ResultFile::Impl::close() {
  for (StoredVariable& variable : catalog.variables()) {
    variable.dataset.close_checked(place("variable", variable.path).text());
  }
  for (auto& [name, group] : groups) {
    group.close_checked(place("group", "/" + name).text());
  }
  const netcdf::Place whole = place("group", "/");
  if (H5Fflush(file.get(), H5F_SCOPE_GLOBAL) < 0) netcdf::fail(whole, "flush the file");
  file.close_checked(output.destination().string());
}

void ResultFile::Impl::commit() {
  try {
    run([this] {
      create_bare_dimensions();
      attach_scales();
      close();
    });
  } catch (...) {
    release();
    output.discard();
    throw;
  }
  output.publish();
}

ResultFile::ResultFile(std::filesystem::path path) : ResultFile(std::move(path), Options{}) {}

ResultFile::ResultFile(std::filesystem::path path, Options options)
    : impl_(std::make_unique<Impl>(std::move(path), options.existing)) {}

ResultFile::~ResultFile() = default;
ResultFile::ResultFile(ResultFile&&) noexcept = default;

ResultFile::Impl& ResultFile::impl() const {
  if (impl_ == nullptr) throw PreconditionError("ResultFile: it was moved from");
  return *impl_;
}

void ResultFile::set_attribute(const std::string& group, const Attribute& attribute) {
  const netcdf::Place where = impl().place("group", "/" + group);
  netcdf::require_unreserved(attribute, where);
  impl().run([&] { netcdf::write_attribute(impl().group_id(group), attribute, where); });
}

void ResultFile::set_variable_attribute(const std::string& group,
                                        const std::string& name,
                                        const Attribute& attribute) {
  impl().run([&] {
    const StoredVariable& variable =
        impl().catalog.find_variable(group, name, impl().output.destination());
    const netcdf::Place where = impl().place("variable", variable.path);
    netcdf::require_unreserved(attribute, where);
    netcdf::write_attribute(variable.dataset.get(), attribute, where);
  });
}

std::vector<std::uint64_t> ResultFile::shape_of(const std::string& group,
                                                const std::string& name) const {
  const StoredVariable& variable =
      impl().catalog.find_variable(group, name, impl().output.destination());
  return {variable.shape.begin(), variable.shape.end()};
}

void ResultFile::define_dimension(const std::string& group,
                                  const std::string& name,
                                  std::uint64_t size) {
  impl().run([&] { impl().define_dimension(group, name, size); });
}

std::optional<Variable> ResultFile::define_dimension(const std::string& group,
                                                     const Dimension& dimension) {
  if (dimension.size < 0) {
    throw OutputError(fmt::format("{}: its size must not be negative, got {}",
                                  impl().place("dimension", path_of(group, dimension.name)).text(),
                                  dimension.size));
  }
  define_dimension(group, dimension.name, static_cast<std::uint64_t>(dimension.size));
  std::optional<Variable> coordinate = coordinate_of(dimension);
  if (coordinate) define_variable(group, *coordinate);
  return coordinate;
}

void ResultFile::define_variable(const std::string& group, const Variable& spec) {
  impl().run([&] { impl().define_variable(group, spec); });
}

void ResultFile::commit() { impl().commit(); }

void ResultFile::write(const std::string& group,
                       const std::string& name,
                       const VariableValues& values) {
  impl().run([&] { impl().write(group, name, std::nullopt, values); });
}

void ResultFile::write(const std::string& group, const Variable& variable) {
  const bool has_values = std::visit([](const auto& all) { return !all.empty(); }, variable.values);
  const bool is_missing = variable.is_said() && variable.status() != Status::kOk;
  if (is_missing && !has_values) return;
  write(group, variable.name, view_of(variable.values));
}

void ResultFile::write(const Group& group) {
  for (const Attribute& attribute : group.attributes) set_attribute(group.name, attribute);
  std::vector<Variable> coordinates;
  for (const Dimension& dimension : group.dimensions) {
    if (auto coordinate = define_dimension(group.name, dimension)) {
      coordinates.push_back(std::move(*coordinate));
    }
  }
  for (const Variable& variable : group.variables) define_variable(group.name, variable);
  for (const Variable& coordinate : coordinates) write(group.name, coordinate);
  for (const Variable& variable : group.variables) write(group.name, variable);
}

void ResultFile::write_slice(const std::string& group,
                             const Variable& variable,
                             std::uint64_t index) {
  write_slice(group, variable.name, index, view_of(variable.values));
}

void ResultFile::write_slice(const std::string& group,
                             const std::string& name,
                             std::uint64_t index,
                             const VariableValues& values) {
  impl().run([&] { impl().write(group, name, index, values); });
}

}  // namespace hesscope::io
