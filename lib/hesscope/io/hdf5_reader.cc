// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <hdf5_hl.h>

#include <hesscope/core/error.h>
#include <hesscope/io/elements.h>
#include <hesscope/io/hdf5_checks.h>
#include <hesscope/io/hdf5_handle.h>
#include <hesscope/io/hdf5_query.h>
#include <hesscope/io/hdf5_reader.h>
#include <hesscope/io/hdf5_slabs.h>
#include <hesscope/io/hdf5_types.h>
#include <hesscope/io/input_file.h>
#include <hesscope/io/isolated_reader.h>

namespace hesscope::io {
namespace {

constexpr std::string_view kSignature = "\x89HDF\r\n\x1a\n";
constexpr std::size_t kMaxDepth = 64;

/// Keras stores bfloat16, for which h5py has no type, as opaque bytes and says so in an attribute.
bool is_keras_bfloat16(hid_t dataset, hid_t type) {
  return H5Tget_class(type) == H5T_OPAQUE && H5Tget_size(type) == 2 &&
         text_attribute(dataset, "dtype") == "bfloat16";
}

ElementType element_type(const std::string& where, hid_t dataset, hid_t type) {
  if (const auto found = element_type_of(type)) return *found;
  if (is_keras_bfloat16(dataset, type)) return ElementType::kBFloat16;
  refuse(where,
         fmt::format(
             "its type is {}; floats of 16, 32 or 64 bits, integers and h5py's booleans are read",
             describe_type(type)));
}

struct Link {
  std::string name;
  H5L_type_t type = H5L_TYPE_ERROR;
};

struct LinkCollector {
  std::vector<Link> links;
  std::size_t room;  ///< links that may still be added
};

extern "C" herr_t collect_link(hid_t, const char* name, const H5L_info_t* info, void* collector) {
  auto& out = *static_cast<LinkCollector*>(collector);
  if (out.links.size() >= out.room) return 1;  // ends the iteration
  try {
    out.links.push_back({name, info->type});
    return 0;
  } catch (const std::bad_alloc&) {
    return -1;  // no exception may pass through C
  }
}

struct Dataset {
  Hid handle;
  TensorInfo info;
  std::size_t num_elements = 0;
};

/// One open file, and the only class that looks into it. Lives in a process of its own.
class Hdf5Source final : public BlockSource {
 public:
  Hdf5Source(const std::filesystem::path& path, const ReadLimits& limits)
      : path_(path.string()), limits_(limits), file_bytes_(InputFile(path).size()) {
    H5PLset_loading_state(0);  // no code (filter plugins) from a path in the environment
    const Hid access = checked(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, path_, "preparing to open it");
    H5Pset_file_locking(access.get(), true, true);  // but read where the file system has no locks
    file_ = checked(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access.get()),
                    H5Fclose,
                    path_,
                    "opening it as HDF5");
    list_group("", 0);
  }

  Hdf5Source(std::string where, std::vector<std::byte> image, const ReadLimits& limits)
      : path_(std::move(where)),
        limits_(limits),
        file_bytes_(image.size()),
        image_(std::move(image)) {
    H5PLset_loading_state(0);
    file_ = checked(
        H5LTopen_file_image(
            image_.data(), image_.size(), H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_DONT_RELEASE),
        H5Fclose,
        path_,
        "opening it as HDF5");
    list_group("", 0);
  }

  std::span<const TensorInfo> tensors() const override { return tensors_; }

  void read(std::size_t index, BlockSink& sink) const override {
    const TensorInfo& listed = tensors_.at(index);
    const std::string where = where_is(listed.name);
    Dataset dataset = open_dataset(listed.name);
    if (dataset.info != listed) refuse(where, "it changed while the file was open");
    if (dataset.num_elements > sink.max_block()) cache_chunks(dataset, where);
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
      const Selection selection{dataset, space.get(), first, where};
      read_elements(selection, sink.room().first(count));
      sink.deliver(count);
      first += count;
    }
  }

 private:
  std::string where_is(const std::string& path) const {
    return path_ + ": '" + escaped(path) + "'";
  }

  /// Lists the datasets of a group ("" or "a/b/") and those below it. A cycle of hard links ends at
  /// kMaxDepth or at the number of links.
  void list_group(const std::string& group, std::size_t depth) {
    if (depth > kMaxDepth) {
      refuse(path_,
             fmt::format("its groups are nested more than {} deep (a cycle of links?)", kMaxDepth));
    }
    for (const Link& link : links_of(group)) {
      const std::string path = group + link.name;
      if (link.type != H5L_TYPE_HARD) {
        refuse(
            where_is(path),
            "it is a soft or external link; a checkpoint must hold its tensors itself (h5repack or "
            "h5py can write them out)");
      }
      name_bytes_ += path.size();
      if (name_bytes_ > limits_.max_header_bytes)
        refuse(path_, "the names of its datasets are too long");
      if (!is_printable_utf8(link.name)) refuse(where_is(path), "its name is not UTF-8 text");
      const Hid object = checked(
          H5Oopen(file_.get(), path.c_str(), H5P_DEFAULT), H5Oclose, where_is(path), "opening it");
      const H5I_type_t kind = H5Iget_type(object.get());
      if (kind == H5I_GROUP) list_group(path + "/", depth + 1);
      if (kind == H5I_DATASET) tensors_.push_back(open_dataset(path).info);
    }
  }

  std::vector<Link> links_of(const std::string& group) {
    const std::string where = where_is("/" + group);
    const Hid handle = checked(
        H5Gopen2(file_.get(), ("/" + group).c_str(), H5P_DEFAULT), H5Gclose, where, "opening it");
    const Hid properties =
        checked(H5Gget_create_plist(handle.get()), H5Pclose, where, "reading its properties");
    unsigned order = 0;
    if (H5Pget_link_creation_order(properties.get(), &order) < 0)
      refuse_call(where, "reading its link order");
    const H5_index_t index =
        (order & H5P_CRT_ORDER_TRACKED) != 0 ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME;

    LinkCollector collector{{}, limits_.max_tensors - num_links_};
    const herr_t outcome =
        H5Literate(handle.get(), index, H5_ITER_INC, nullptr, &collect_link, &collector);
    if (outcome < 0) refuse_call(where, "listing it");
    if (outcome > 0) refuse(path_, fmt::format("it has more than {} links", limits_.max_tensors));
    num_links_ += collector.links.size();
    return std::move(collector.links);
  }

  /// Opens a dataset after checking all that could make reading it unsafe.
  Dataset open_dataset(const std::string& path) const {
    const std::string where = where_is(path);
    Dataset dataset;
    dataset.handle =
        checked(H5Dopen2(file_.get(), path.c_str(), H5P_DEFAULT), H5Dclose, where, "opening it");
    const hid_t id = dataset.handle.get();
    const Hid properties =
        checked(H5Dget_create_plist(id), H5Pclose, where, "reading its properties");
    if (H5Pget_external_count(properties.get()) != 0) {
      refuse(where, "its data lies in another file (external storage), which is not followed");
    }
    const H5D_layout_t layout = H5Pget_layout(properties.get());
    if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED) {
      refuse(where,
             "it is a virtual dataset, put together from other files, which is not followed");
    }
    check_filters(where, properties.get());

    const Hid type = checked(H5Dget_type(id), H5Tclose, where, "reading its type");
    dataset.info = {path, shape_of(id, where), element_type(where, id, type.get())};
    dataset.num_elements = checked_num_elements(where, dataset.info.shape, limits_);
    check_storage(where, id, properties.get(), dataset.info, file_bytes_, limits_);
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
    return {extents.begin(), extents.end()};  // beyond 2^63: negative, refused with the limits
  }

  /// A chunk is decoded once although several blocks reach into it: the cache holds all chunks with
  /// the same range of the first axis.
  void cache_chunks(Dataset& dataset, const std::string& where) const {
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
        const hsize_t extent = static_cast<hsize_t>(dataset.info.shape[axis]);
        const hsize_t count = (extent + chunk[axis] - 1) / chunk[axis];
        num_chunks *= count;
        bytes *= count * chunk[axis];
      }
      H5Pset_chunk_cache(access.get(), std::min(10 * num_chunks + 521, kMaxSlots), bytes, 1);
    }
    dataset.handle = Hid();  // one that is open keeps the cache that it has
    dataset.handle = checked(H5Dopen2(file_.get(), dataset.info.name.c_str(), access.get()),
                             H5Dclose,
                             where,
                             "opening it");
  }

  struct Selection {
    const Dataset& dataset;
    hid_t space;
    std::size_t first;  ///< of its elements
    const std::string& where;
  };

  /// Integers are read as 64-bit ones into the place of the doubles that they then become.
  static void read_elements(const Selection& from, std::span<double> out) {
    const Hid stored =
        checked(H5Dget_type(from.dataset.handle.get()), H5Tclose, from.where, "reading its type");
    const ElementType type = from.dataset.info.type;
    // HDF5 would map a boolean that is neither FALSE nor TRUE to something else.
    if (type == ElementType::kBool || H5Tget_class(stored.get()) == H5T_OPAQUE) {
      return read_stored(from, stored.get(), out);
    }
    if (type >= ElementType::kFloat16) {
      return read_as(from, H5T_NATIVE_DOUBLE, out.size(), out.data());
    }
    if (type >= ElementType::kUInt8) {
      return read_integers<std::uint64_t>(from, H5T_NATIVE_UINT64, out);
    }
    read_integers<std::int64_t>(from, H5T_NATIVE_INT64, out);
  }

  template <typename Integer>
  static void read_integers(const Selection& from, hid_t memory_type, std::span<double> out) {
    static_assert(sizeof(Integer) == sizeof(double));
    read_as(from, memory_type, out.size(), out.data());
    for (std::size_t i = 0; i < out.size(); ++i) {
      Integer value;
      std::memcpy(&value, &out[i], sizeof value);
      out[i] = exact_double(from.where, value, from.first + i);
    }
  }

  /// In their stored type, low bytes first.
  static void read_stored(const Selection& from, hid_t stored, std::span<double> out) {
    const ElementType type = from.dataset.info.type;
    std::vector<std::byte> bytes(out.size() * size_of(type));
    read_as(from, stored, out.size(), bytes.data());
    decode_elements(from.where, type, ByteOrder::kLittle, bytes, out, from.first);
  }

  /// Reads exactly `count` elements: a dataset that grew behind our back cannot overrun `out`.
  static void read_as(const Selection& from, hid_t memory_type, hsize_t count, void* out) {
    const Hid memory =
        checked(H5Screate_simple(1, &count, nullptr), H5Sclose, from.where, "reading it");
    if (H5Dread(
            from.dataset.handle.get(), memory_type, memory.get(), from.space, H5P_DEFAULT, out) <
        0) {
      refuse_call(from.where, "reading it");
    }
  }

  std::string path_;
  ReadLimits limits_;
  std::uint64_t file_bytes_;
  std::vector<std::byte> image_;  ///< the file where it is none by itself
  Hid file_;
  std::vector<TensorInfo> tensors_;
  std::size_t num_links_ = 0;   ///< seen so far, of at most limits_.max_tensors
  std::size_t name_bytes_ = 0;  ///< of their paths, of at most limits_.max_header_bytes
};

}  // namespace

bool recognises_hdf5(const std::filesystem::path& path) {
  const InputFile file(path);
  constexpr std::uint64_t kFirstUserBlock = 512;  // the signature may follow one of 512 * 2^k bytes
  std::uint64_t offset = 0;
  while (offset < file.size()) {
    if (file.text_at(offset, kSignature.size()) == kSignature) return true;
    offset = std::max(kFirstUserBlock, 2 * offset);
  }
  return false;
}

std::unique_ptr<TensorSource> open_hdf5(const std::filesystem::path& path,
                                        const ReadLimits& limits) {
  return open_isolated(
      path, "HDF5", limits, [=] { return std::make_unique<Hdf5Source>(path, limits); });
}

std::unique_ptr<BlockSource> open_hdf5_image(std::string where,
                                             std::vector<std::byte> image,
                                             const ReadLimits& limits) {
  return std::make_unique<Hdf5Source>(std::move(where), std::move(image), limits);
}

}  // namespace hesscope::io
