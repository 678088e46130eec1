// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <hdf5_hl.h>

#include <hesscope/core/internal/ceil_div.h>
#include <hesscope/core/printable.h>
#include <hesscope/dataset/internal/hdf5_query.h>
#include <hesscope/hdf5/internal/descriptor_driver.h>
#include <hesscope/hdf5/internal/hdf5_checks.h>
#include <hesscope/hdf5/internal/hdf5_handle.h>
#include <hesscope/hdf5/internal/hdf5_links.h>
#include <hesscope/hdf5/internal/hdf5_slabs.h>
#include <hesscope/hdf5/internal/hdf5_superblock.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/read_checks.h>
#include <hesscope/tensors/internal/hdf5/hdf5_elements.h>
#include <hesscope/tensors/internal/hdf5/hdf5_reader.h>
#include <hesscope/tensors/internal/hdf5/hdf5_types.h>
#include <hesscope/tensors/internal/isolated_reader.h>

namespace hesscope::io {
namespace {

constexpr std::size_t kMaxGroupDepth = 64;

/// Keras stores bfloat16, for which h5py has no type, as opaque bytes and says so in an attribute.
bool is_keras_bfloat16(hid_t dataset, hid_t type) {
  return H5Tget_class(type) == H5T_OPAQUE && H5Tget_size(type) == 2 &&
         text_attribute(dataset, "dtype") == "bfloat16";
}

/// Nothing for an unsupported type.
std::optional<ElementType> element_type(hid_t dataset, hid_t type) {
  if (is_keras_bfloat16(dataset, type)) return ElementType::kBFloat16;
  return element_type_of(type);
}

struct Dataset {
  Hid handle;
  TensorInfo info;
  std::size_t num_elements = 0;
  std::string_view odd_type = {};  ///< describe_type() of an unsupported one
  bool is_text = false;
};

/// A listed group.
struct Group {
  hid_t id;
  std::string path;       ///< "" or "a/b/"
  std::uint64_t address;  ///< of its header
  std::size_t depth;

  std::string name() const { return path.empty() ? "/" : path.substr(0, path.size() - 1); }
};

/// An open file, and the only class that examines it. Lives in a separate process.
class Hdf5Source final : public BlockSource {
 public:
  Hdf5Source(const InputFile& file, const ReadLimits& limits)
      : path_(file.path().string()), limits_(limits), file_bytes_(file.size()) {
    superblock_ = find_superblock(file).value_or(0);
    H5PLset_loading_state(0);  // no code (filter plugins) from a path in the environment
    const Hid access = checked(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, path_, "preparing to open it");
    H5Pset_file_locking(access.get(), true, true);  // but read if the file system has no locks
    if (!use_descriptor_driver(access.get(), file)) refuse_call(path_, "preparing to open it");
    const hid_t opened = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access.get());
    if (opened < 0) require_no_writer(file);
    file_ = checked(opened, H5Fclose, where_superblock(), "opening it as HDF5");
    list_root();
  }

  Hdf5Source(std::string where, std::vector<std::byte> image, const ReadLimits& limits)
      : path_(std::move(where)),
        of_what_(" of the member"),
        limits_(limits),
        file_bytes_(image.size()),
        image_(std::move(image)) {
    const auto superblock = find_superblock(image_);
    if (!superblock) {
      refuse(
          path_,
          "it is no HDF5 file: neither byte 0 nor byte 512, 1024, 2048, ... of the member begins "
          "a superblock");
    }
    superblock_ = *superblock;
    H5PLset_loading_state(0);
    file_ = checked(
        H5LTopen_file_image(
            image_.data(), image_.size(), H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_DONT_RELEASE),
        H5Fclose,
        where_superblock(),
        "opening it as HDF5");
    list_root();
  }

  std::span<const TensorInfo> tensors() const override { return tensors_; }

  std::span<const UnreadableTensor> unreadable() const override { return unreadable_; }

  void read(std::size_t index, BlockSink& sink) const override {
    const TensorInfo& listed = tensors_.at(index);
    const std::uint64_t address = addresses_.at(index);
    const std::string where = where_is(listed.name, address);
    Dataset dataset = examined(open_object(address, where), listed.name, where);
    if (!dataset.odd_type.empty() || dataset.info != listed)
      refuse(where, "it changed while the file was open");
    if (dataset.num_elements > sink.max_block()) cache_chunks(dataset, address, where);
    Slabs slabs(listed.shape, sink.max_block());
    for (std::size_t first = 0; first < dataset.num_elements;) {
      const std::size_t count = slabs.next();
      const Hid space =
          checked(H5Dget_space(dataset.handle.get()), H5Sclose, where, "reading its shape");
      if (!listed.shape.empty() && H5Sselect_hyperslab(space.get(),
                                                       H5S_SELECT_SET,
                                                       slabs.start().data(),
                                                       nullptr,
                                                       slabs.extents().data(),
                                                       nullptr) < 0) {
        refuse_call(where, "selecting a part of it");
      }
      const Hdf5Selection selection{dataset.handle.get(), listed.type, space.get(), first, where};
      read_selection(selection, sink.room().first(count));
      sink.deliver(count);
      first += count;
    }
  }

 private:
  /// Where the first tensor of an object is listed, if it is one.
  struct Listed {
    std::optional<std::size_t> tensor = std::nullopt;
    std::optional<std::size_t> unreadable = std::nullopt;
  };

  /// Describes an object, by the position of its header.
  std::string where_is(const std::string& path, std::uint64_t address) const {
    return fmt::format(
        "{}: '{}' (at byte {}{})", path_, escaped(path), superblock_ + address, of_what_);
  }

  /// Describes a link that is not followed.
  std::string where_is_link(const std::string& path, const Group& group) const {
    return fmt::format("{}: '{}' (link in the group at byte {}{})",
                       path_,
                       escaped(path),
                       superblock_ + group.address,
                       of_what_);
  }

  std::string where_superblock() const {
    return fmt::format("{}: superblock (at byte {}{})", path_, superblock_, of_what_);
  }

  void list_root() {
    const std::string where = where_superblock();
    const Hid root =
        checked(H5Gopen2(file_.get(), "/", H5P_DEFAULT), H5Gclose, where, "opening its root group");
    // Most metadata are used once. HDF5 takes this as a sign that its cache is too small, and would
    // let it grow to more than 100 MiB.
    set_cache_growth(H5C_incr__off);
    list_group({root.get(), "", address_of(root.get(), where), 0});
    set_cache_growth(H5C_incr__threshold);
  }

  void set_cache_growth(H5C_cache_incr_mode mode) const {
    H5AC_cache_config_t config{};
    config.version = H5AC__CURR_CACHE_CONFIG_VERSION;
    if (H5Fget_mdc_config(file_.get(), &config) < 0) return;
    config.incr_mode = mode;
    H5Fset_mdc_config(file_.get(), &config);
  }

  /// Lists the datasets of a group and those below it. Each group is listed once: groups linked in
  /// rings or diamonds could have endlessly many paths.
  void list_group(const Group& group) {
    const std::string where = where_is(group.name(), group.address);
    groups_.emplace(group.address, group.name());
    if (group.depth > kMaxGroupDepth) {
      refuse(where, fmt::format("its groups are nested more than {} deep", kMaxGroupDepth));
    }
    const std::size_t room = limits_.max_tensors - num_links_;
    const std::vector<Hdf5Link> links = links_of(group.id, room, where);
    if (links.size() > room) {
      refuse(where, fmt::format("the file has more than {} links", limits_.max_tensors));
    }
    num_links_ += links.size();
    for (const Hdf5Link& link : links) follow(link, group);
  }

  void follow(const Hdf5Link& link, const Group& group) {
    const std::string path = group.path + link.name;
    check_link(link, path, group);
    const std::string where = where_is(path, link.address);
    if (const auto same = groups_.find(link.address); same != groups_.end()) {
      refuse(where,
             fmt::format("it is the group '{}' once more, by a second hard link; a group is read "
                         "by one path only: remove the other link",
                         escaped(same->second)));
    }
    const bool is_new = objects_.emplace(link.address, Listed()).second;
    if (!is_new) {  // an object with several names is examined once
      list_again(path, link.address);
      return;
    }
    Hid object = open_object(link.address, where);
    const H5I_type_t kind = H5Iget_type(object.get());
    if (kind == H5I_GROUP) {
      list_group({object.get(), path + "/", link.address, group.depth + 1});
    } else if (kind == H5I_DATASET) {
      list_dataset(examined(std::move(object), path, where), link.address);
    }
  }

  void list_dataset(const Dataset& dataset, std::uint64_t address) {
    if (dataset.odd_type.empty()) {
      objects_[address] = {.tensor = tensors_.size()};
      add(dataset.info, address);
      return;
    }
    objects_[address] = {.unreadable = unreadable_.size()};
    unreadable_.push_back(
        {.name = dataset.info.name,
         .reason = fmt::format("its type (at byte {}{}) is {}; floats of 16, 32 or 64 bits, "
                               "integers and h5py's booleans are read",
                               superblock_ + address,
                               of_what_,
                               dataset.odd_type),
         .is_no_parameter = dataset.is_text});
  }

  void list_again(const std::string& path, std::uint64_t address) {
    const Listed listed = objects_.at(address);
    if (listed.tensor) add(of_name(path, tensors_[*listed.tensor]), address);
    if (listed.unreadable) unreadable_.push_back(of_name(path, unreadable_[*listed.unreadable]));
  }

  void check_link(const Hdf5Link& link, const std::string& path, const Group& group) {
    if (!link.is_hard) {
      refuse(where_is_link(path, group),
             "it is a soft or external link; a checkpoint must hold its tensors itself (h5repack "
             "or h5py can write them out)");
    }
    name_bytes_ += path.size();
    if (name_bytes_ > limits_.max_header_bytes) {
      refuse(where_is_link(path.substr(0, 100), group),
             "the names of the links up to this one are too long");
    }
    if (!is_printable_utf8(link.name)) {
      refuse(where_is_link(path, group), "its name is not UTF-8 text without control characters");
    }
    if (link.name.empty() || link.name == "." || link.name.find('/') != std::string::npos) {
      refuse(where_is_link(path, group), "its name is a path, which no link may have");
    }
    if (link.address >= file_bytes_ - superblock_) {
      refuse(where_is_link(path, group),
             fmt::format("it leads to byte {} behind the superblock, beyond the end of the file",
                         link.address));
    }
  }

  template <typename Tensor>
  static Tensor of_name(const std::string& name, Tensor tensor) {
    tensor.name = name;
    return tensor;
  }

  void add(TensorInfo tensor, std::uint64_t address) {
    tensors_.push_back(std::move(tensor));
    addresses_.push_back(address);
  }

  /// By its address, as listed: a damaged index of names may lead elsewhere.
  Hid open_object(std::uint64_t address, const std::string& where) const {
    return checked(H5Oopen_by_addr(file_.get(), address), H5Oclose, where, "opening it");
  }

  /// An open dataset, after checking everything that could make reading it unsafe.
  Dataset examined(Hid handle, const std::string& path, const std::string& where) const {
    if (H5Iget_type(handle.get()) != H5I_DATASET) refuse(where, "it is no dataset any more");
    Dataset dataset;
    dataset.handle = std::move(handle);
    const hid_t id = dataset.handle.get();
    const Hid properties =
        checked(H5Dget_create_plist(id), H5Pclose, where, "reading its properties");
    check_layout(where, properties.get());
    check_filters(where, properties.get());

    const Hid type = checked(H5Dget_type(id), H5Tclose, where, "reading its type");
    const H5T_class_t type_class = H5Tget_class(type.get());
    if (type_class == H5T_NO_CLASS) refuse_call(where, "reading its type");
    const std::optional<ElementType> element = element_type(id, type.get());
    if (!element) dataset.odd_type = describe_type(type.get());
    dataset.is_text = type_class == H5T_STRING;
    dataset.info = {path, shape_of(id, where), element.value_or(ElementType::kFloat64)};
    dataset.num_elements = checked_num_elements(where, dataset.info.shape, limits_);
    check_storage(where, id, properties.get(), dataset.info.shape, file_bytes_, limits_);
    return dataset;
  }

  std::vector<std::int64_t> shape_of(hid_t dataset, const std::string& where) const {
    const Hid space = checked(H5Dget_space(dataset), H5Sclose, where, "reading its shape");
    const H5S_class_t space_class = H5Sget_simple_extent_type(space.get());
    if (space_class == H5S_NULL)
      refuse(where, "it is empty: it has no value at all (a null dataspace)");
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (space_class == H5S_NO_CLASS || rank < 0) refuse_call(where, "reading its shape");
    std::vector<hsize_t> extents(static_cast<std::size_t>(rank));
    if (H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr) < 0) {
      refuse_call(where, "reading its shape");
    }
    return {extents.begin(), extents.end()};  // beyond 2^63: negative, refused by the limits
  }

  /// Avoids decoding a chunk again for each block that overlaps it: the cache holds all chunks with
  /// the same range of the first axis.
  void cache_chunks(Dataset& dataset, std::uint64_t address, const std::string& where) const {
    constexpr std::size_t kMaxSlots = 1'000'003;
    const hid_t id = dataset.handle.get();
    const Hid properties =
        checked(H5Dget_create_plist(id), H5Pclose, where, "reading its properties");
    const Hid access = checked(H5Dget_access_plist(id), H5Pclose, where, "reading its properties");
    if (H5Pget_layout(properties.get()) == H5D_CHUNKED) {
      std::vector<hsize_t> chunk(dataset.info.shape.size());
      H5Pget_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data());
      std::size_t num_chunks = 1;
      std::size_t bytes = chunk.at(0) * size_of(dataset.info.type);
      for (std::size_t axis = 1; axis < chunk.size(); ++axis) {
        const auto extent = static_cast<hsize_t>(dataset.info.shape[axis]);
        const hsize_t count = detail::ceil_div(extent, chunk[axis]);
        num_chunks *= count;
        bytes *= count * chunk[axis];
      }
      H5Pset_chunk_cache(access.get(), std::min(10 * num_chunks + 521, kMaxSlots), bytes, 1);
    }
    dataset.handle = Hid();  // an open dataset keeps its previous cache
    dataset.handle = checked(H5Dopen2(file_.get(), dataset.info.name.c_str(), access.get()),
                             H5Dclose,
                             where,
                             "opening it");
    if (address_of(dataset.handle.get(), where) != address) {
      refuse(where, "its name leads to another object; the file is damaged");
    }
  }

  std::string path_;
  std::string_view of_what_;  ///< to what byte positions refer, for messages
  ReadLimits limits_;
  std::uint64_t file_bytes_ = 0;
  std::vector<std::byte> image_;  ///< the content, if it is not a file of its own
  std::uint64_t superblock_ = 0;
  Hid file_;
  std::vector<TensorInfo> tensors_;
  std::vector<std::uint64_t> addresses_;  ///< one per tensor
  std::vector<UnreadableTensor> unreadable_;
  std::unordered_map<std::uint64_t, Listed> objects_;      ///< by address
  std::unordered_map<std::uint64_t, std::string> groups_;  ///< by address: their paths
  std::size_t num_links_ = 0;   ///< seen so far, of at most limits_.max_tensors
  std::size_t name_bytes_ = 0;  ///< of their paths, of at most limits_.max_header_bytes
};

}  // namespace

bool recognises_hdf5(const InputFile& file) { return find_superblock(file).has_value(); }

std::unique_ptr<TensorSource> open_hdf5(std::shared_ptr<const InputFile> file,
                                        const ReadLimits& limits) {
  auto open = [=] { return std::make_unique<Hdf5Source>(*file, limits); };
  return open_isolated(std::move(file), "HDF5", limits, std::move(open));
}

std::unique_ptr<BlockSource> open_hdf5_image(std::string where,
                                             std::vector<std::byte> image,
                                             const ReadLimits& limits) {
  return std::make_unique<Hdf5Source>(std::move(where), std::move(image), limits);
}

}  // namespace hesscope::io
