// SPDX-License-Identifier: BSD-3-Clause
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>

#include <hesscope/core/error.h>
#include <hesscope/dataset/internal/hdf5_query.h>
#include <hesscope/dataset/internal/netcdf_layout.h>
#include <hesscope/dataset/internal/result_listing.h>
#include <hesscope/dataset/internal/result_server.h>
#include <hesscope/hdf5/internal/descriptor_driver.h>
#include <hesscope/hdf5/internal/hdf5_checks.h>
#include <hesscope/hdf5/internal/hdf5_slabs.h>

namespace hesscope::io {
namespace {

class ResultServer final : public FileServer {
 public:
  ResultServer(std::shared_ptr<const InputFile> file, const ReadLimits& limits)
      : input_(std::move(file)), path_(input_->path().string()), limits_(limits) {
    file_ = open_result_file(*input_);
    if (!file_) {
      require_no_writer(*input_);
      fail("file", "not an HDF5 file, or damaged");
    }
    const Hid root(H5Gopen2(file_.get(), "/", H5P_DEFAULT), H5Gclose);
    if (!root) fail("group '/'", "cannot be opened");
    read_group("", root.get());
  }

  std::string listing() const override { return encode(listing_); }

  void read(const ArrayRequest& request, BlockSink& sink) const override {
    const Place& place = places_.at(request.index);
    const Variable& variable = listing_.groups[place.group].variables[place.variable];
    const std::string object = object_name(listing_.groups[place.group].name, variable.name);
    const Hid access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
    constexpr std::size_t kCacheBytes = 64 << 20;  // no chunk is decoded again for each block
    H5Pset_chunk_cache(access.get(), 12421, kCacheBytes, 1);
    const Hid dataset(H5Dopen2(file_.get(), path_of(place).c_str(), access.get()), H5Dclose);
    if (!dataset) fail(object, "cannot be opened");
    const hid_t type =
        variable.type == VariableType::kDouble ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
    std::vector<std::int64_t> extents(variable.shape.begin(), variable.shape.end());
    if (request.is_slice != 0) extents.at(0) = 1;
    Slabs slabs(extents, sink.max_block());
    for (std::uint64_t done = 0; done < request.num_elements;) {
      const std::size_t count = slabs.next();
      std::vector<hsize_t> start(slabs.start().begin(), slabs.start().end());
      if (request.is_slice != 0) start[0] = request.slice;
      const Hid file_space(H5Dget_space(dataset.get()), H5Sclose);
      const hsize_t num = count;
      const Hid memory_space(H5Screate_simple(1, &num, nullptr), H5Sclose);
      const bool is_selected = start.empty() || H5Sselect_hyperslab(file_space.get(),
                                                                    H5S_SELECT_SET,
                                                                    start.data(),
                                                                    nullptr,
                                                                    slabs.extents().data(),
                                                                    nullptr) >= 0;
      if (!is_selected || H5Dread(dataset.get(),
                                  type,
                                  memory_space.get(),
                                  file_space.get(),
                                  H5P_DEFAULT,
                                  sink.room().data()) < 0) {
        fail(object, "cannot be read");
      }
      sink.deliver(count);
      done += count;
    }
  }

 private:
  struct Place {
    std::size_t group;
    std::size_t variable;
  };

  [[noreturn]] void fail(const std::string& object, std::string_view what) const {
    const std::string details = hdf5_error_text();
    throw InputError(fmt::format("{}: {}: {}: {}", path_, object, what, details));
  }

  static std::string object_name(const std::string& group, const std::string& variable) {
    return fmt::format("variable '{}/{}'", group, variable);
  }

  std::string path_of(const Place& place) const {
    const Group& group = listing_.groups[place.group];
    return group.name + "/" + group.variables[place.variable].name;
  }

  /// Returns the value. Refuses a file in which it could not be read.
  template <typename T>
  T require(const std::string& object, std::string_view what, std::optional<T> found) const {
    if (!found) fail(object, fmt::format("its {} cannot be read", what));
    return *std::move(found);
  }

  void read_group(const std::string& name, hid_t id) {
    Group group{.name = name, .attributes = {}, .dimensions = {}, .variables = {}};
    const std::string object_of_group = fmt::format("group '{}/'", name);
    for (const std::string& attribute :
         require(object_of_group, "list of attributes", attribute_names(id))) {
      AttributeValue value;
      switch (read_attribute(id, attribute.c_str(), value)) {
        case AttributeRead::kDone:
          group.attributes.push_back({attribute, std::move(value)});
          break;
        case AttributeRead::kDamaged:
          fail(object_of_group, fmt::format("its attribute '{}' cannot be read", attribute));
        case AttributeRead::kForeign:
          break;
      }
    }
    std::vector<std::pair<std::string, Hid>> subgroups;
    for (const std::string& link : require(object_of_group, "list of links", link_names(id))) {
      Hid object(H5Oopen(id, link.c_str(), H5P_DEFAULT), H5Oclose);
      if (!object) fail(fmt::format("object '{}/{}'", name, link), "cannot be opened");
      const H5I_type_t type = H5Iget_type(object.get());
      if (type == H5I_DATASET) read_dataset(group, link, object.get());
      // Only one level, as ResultFile writes: no cycle of links can occur.
      if (type == H5I_GROUP && name.empty()) subgroups.emplace_back(link, std::move(object));
    }
    for (std::size_t i = 0; i < group.variables.size(); ++i) {
      places_.push_back({listing_.groups.size(), i});
    }
    listing_.groups.push_back(std::move(group));
    for (const auto& [subgroup, handle] : subgroups) read_group(subgroup, handle.get());
  }

  void read_dataset(Group& group, const std::string& name, hid_t dataset) {
    const std::string object = object_name(group.name, name);
    const Hid space(H5Dget_space(dataset), H5Sclose);
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank < 0) fail(object, "its shape cannot be read");
    std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);

    const htri_t is_any_scale = H5DSis_scale(dataset);
    if (is_any_scale < 0) fail(object, "whether it is a dimension cannot be read");
    const auto text = [&](const char* attribute) {
      return require(
          object, fmt::format("attribute '{}'", attribute), text_attribute(dataset, attribute));
    };
    const bool is_scale = is_any_scale > 0 && rank == 1;
    const bool is_bare = is_scale && text("NAME").starts_with(netcdf::kBareDimensionName);
    if (is_scale)
      group.dimensions.push_back(
          {.name = name, .size = static_cast<std::int64_t>(shape[0]), .has_coordinate = !is_bare});
    if (is_bare) return;

    Variable variable;
    variable.name = name;
    variable.type = type_of(dataset);
    variable.shape.assign(shape.begin(), shape.end());
    for (unsigned axis = 0; axis < shape.size(); ++axis) {
      variable.dimensions.push_back(
          is_scale ? name : require(object, "dimensions", dimension_name(dataset, axis)));
    }
    variable.long_name = text("long_name");
    variable.units = text("units");
    variable.definition = text("definition");
    variable.references = items(text("references"));
    variable.flag_meanings = words(text("flag_meanings"));
    variable.coordinates = words(text("coordinates"));
    variable.ancillary_variables = text("ancillary_variables");
    std::string obstacle;
    if (variable.type != VariableType::kOther) {
      obstacle = obstacle_of(object, dataset, variable.type, shape);
    }
    if (variable.type == VariableType::kText && obstacle.empty()) {
      obstacle = read_text(object, dataset, space.get(), variable.values);
    }
    group.variables.push_back(std::move(variable));
    listing_.obstacles.push_back(std::move(obstacle));
  }

  /// Why a variable is not read; empty if it can be.
  std::string obstacle_of(const std::string& object,
                          hid_t dataset,
                          VariableType type,
                          const std::vector<hsize_t>& extents) const {
    const std::string where = fmt::format("{}: {}", path_, object);
    const std::vector<std::int64_t> shape(extents.begin(), extents.end());
    try {
      const Hid properties =
          checked(H5Dget_create_plist(dataset), H5Pclose, where, "reading its properties");
      check_layout(where, properties.get());
      check_filters(where, properties.get());
      check_storage_in_file(
          where, properties.get(), shape, netcdf::stored_size(type), input_->size(), limits_);
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  }

  /// Why the text cannot be read, which does not affect other variables; empty if it can.
  std::string read_text(const std::string& object,
                        hid_t dataset,
                        hid_t space,
                        Values& values) const {
    std::vector<std::string>& texts = values.emplace<std::vector<std::string>>();
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    if (count <= 0) return {};
    if (static_cast<std::size_t>(count) > ResultListing::kMaxBytes / sizeof(std::uint64_t)) {
      return fmt::format("{}: {}: declares {} texts, too many", path_, object, count);
    }
    const Hid type = netcdf::memory_type(VariableType::kText);
    std::vector<char*> pointers(static_cast<std::size_t>(count));
    if (H5Dread(dataset, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()) < 0) {
      return fmt::format("{}: {}: cannot be read: {}", path_, object, hdf5_error_text());
    }
    texts.reserve(pointers.size());
    for (const char* value : pointers) texts.emplace_back(value != nullptr ? value : "");
    H5Dvlen_reclaim(type.get(), space, H5P_DEFAULT, pointers.data());
    return {};
  }

  std::shared_ptr<const InputFile> input_;
  std::string path_;
  ReadLimits limits_;
  Hid file_;
  ResultListing listing_;
  std::vector<Place> places_;  ///< of the variables, in the order of listing_.obstacles
};

}  // namespace

Hid open_result_file(const InputFile& file) {
  H5PLset_loading_state(0);
  const Hid access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
#if H5_VERSION_GE(1, 10, 7)
  H5Pset_file_locking(access.get(), true, true);
#endif
  // In a damaged file, HDF5 may lose track of an object; it must be closed with the file all the
  // same.
  H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG);
  if (!use_descriptor_driver(access.get(), file)) return {};
  return {H5Fopen(file.path().c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose};
}

std::unique_ptr<FileServer> serve_result(std::shared_ptr<const InputFile> file,
                                         const ReadLimits& limits) {
  return std::make_unique<ResultServer>(std::move(file), limits);
}

}  // namespace hesscope::io
