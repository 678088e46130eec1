// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/storage/internal/read_checks.h>
#include <hesscope/storage/internal/zip.h>
#include <hesscope/tensors/internal/torch/pickle.h>
#include <hesscope/tensors/internal/torch/torch_reader.h>
#include <hesscope/tensors/internal/torch/torch_storage.h>
#include <hesscope/tensors/internal/torch/torch_tensors.h>

namespace hesscope::io {
namespace {

constexpr std::string_view kPickle = "data.pkl";

/// The folder of a member, with its slash, and the rest of its name.
std::pair<std::string_view, std::string_view> split_root(std::string_view member) {
  const std::size_t slash = member.find('/');
  if (slash == std::string_view::npos) return {{}, member};
  return {member.substr(0, slash + 1), member.substr(slash + 1)};
}

/// Members as written by torch.save and torch.jit.save, in any order.
bool is_of_torch(std::string_view member) {
  constexpr std::array<std::string_view, 7> kFiles = {kPickle,
                                                      "version",
                                                      "byteorder",
                                                      "constants.pkl",
                                                      ".format_version",
                                                      ".storage_alignment",
                                                      "bytecode.pkl"};
  const auto [root, name] = split_root(member);
  return !root.empty() &&
         (std::ranges::find(kFiles, name) != kFiles.end() || name.starts_with("data/") ||
          name.starts_with(".data/") || name.starts_with("code/"));
}

/// Recognises files that torch.save wrote before PyTorch 1.6.
bool is_legacy(const InputFile& file) {
  constexpr std::string_view kTorchMagic =
      "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";  // a pickled number
  const std::string start = file.text_at(0, 32);
  if (start.starts_with('\x80')) return start.find(kTorchMagic) != std::string::npos;
  const bool is_tar = file.text_at(257, 5) == "ustar";
  return is_tar && (start.starts_with("sys_info") || start.starts_with("storages") ||
                    start.starts_with("pickle") || start.starts_with("tensors"));
}

bool is_pickle(const InputFile& file) {
  const std::string start = file.text_at(0, 2);
  return start.size() == 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5;
}

[[noreturn]] void refuse_unless_zip(const InputFile& file) {
  const std::string path = file.path().string();
  if (is_legacy(file)) {
    throw InputError(fmt::format(
        "{}: is a PyTorch checkpoint in the format before PyTorch 1.6 (from byte 0 on); re-save it "
        "with a newer one: "
        "python3 -c \"import torch; torch.save(torch.load('{}', map_location='cpu'), '{}')\"",
        path,
        path,
        path));
  }
  throw InputError(
      fmt::format("{}: is a plain Python pickle (from byte 0 on); save what it holds with "
                  "torch.save from Python, or its arrays "
                  "with numpy.savez",
                  path));
}

/// Strides and extents, in ascending order of strides.
using ViewAxes = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The elements of a view, from its offset on and independently of the order of its axes: its axes
/// with more than one entry, merged where they are contiguous.
ViewAxes elements_of(const StridedLayout& layout) {
  ViewAxes axes;
  for (std::size_t axis = 0; axis < layout.shape.size(); ++axis) {
    if (layout.shape[axis] > 1) axes.emplace_back(layout.strides[axis], layout.shape[axis]);
  }
  std::sort(axes.begin(), axes.end());
  ViewAxes merged;
  for (const auto& [stride, extent] : axes) {
    if (!merged.empty() && stride == merged.back().first * merged.back().second) {
      merged.back().second *= extent;
    } else {
      merged.emplace_back(stride, extent);
    }
  }
  return merged;
}

class TorchSource final : public TensorSource {
 public:
  TorchSource(std::shared_ptr<const InputFile> file, const ReadLimits& limits)
      : file_(std::move(file)),
        archive_(file_, limits),
        root_(find_root()),
        storages_(file_, archive_, byte_order()),
        document_(read_pickle(*archive_.open(*find_member(kPickle)))) {
    const std::string where =
        fmt::format("{}: member '{}{}'", file_->path().string(), root_, kPickle);
    std::vector<NamedNode> found =
        find_torch_tensors(where, document_, file_->path().stem().string(), limits);
    refuse_equal_names(found, where);
    for (NamedNode& named : found) add(std::move(named), where, limits);
    find_ties();
    if (tensors_.empty() && unreadable_.empty()) {
      throw InputError(fmt::format(
          "{} holds no tensor (at byte 0 of it); what else a pickle names is never executed. "
          "Arrays of NumPy are stored by torch.as_tensor(), or by numpy.savez()",
          where));
    }
    // One storage may be shared by a hundred thousand tensors.
    check_expansion(fmt::format("{}: all its tensors together (from byte {} of the member on)",
                                where,
                                document_.offset(found.front().node)),
                    num_bytes_,
                    file_->size(),
                    limits);
  }

  std::span<const TensorInfo> tensors() const override { return tensors_; }

  std::span<const UnreadableTensor> unreadable() const override { return unreadable_; }

  std::span<const std::shared_ptr<const InputFile>> files() const override { return {&file_, 1}; }

  std::optional<double> number(std::string_view name) const override {
    return find_number(document_, name);
  }

  std::vector<FileValue> values() const override { return find_values(document_); }

  std::vector<double> read(std::size_t index) const override {
    const Place& place = places_.at(index);
    return storages_.read(fmt::format("{}: tensor '{}' in member '{}'",
                                      file_->path().string(),
                                      tensors_[index].name,
                                      archive_.entries()[place.member].name),
                          place.member,
                          tensors_[index].type,
                          place.layout);
  }

 private:
  struct Place {
    std::size_t member;
    StridedLayout layout;
  };

  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw InputError(file_->path().string() + ": " +
                     fmt::format(format, std::forward<Args>(args)...));
  }

  void refuse_equal_names(std::span<const NamedNode> found, const std::string& where) const {
    std::unordered_set<std::string_view> names;
    for (const NamedNode& named : found) {
      if (names.insert(named.name).second) continue;
      throw InputError(fmt::format("{}: two tensors are named '{}' (at byte {} of the member)",
                                   where,
                                   named.name,
                                   document_.offset(named.node)));
    }
  }

  /// The folder that contains data.pkl, with its slash. Fills members_.
  std::string find_root() {
    std::string root;
    for (std::size_t i = 0; i < archive_.entries().size(); ++i) {
      const std::string& name = archive_.entries()[i].name;
      members_.emplace(name, i);
      const auto [folder, rest] = split_root(name);
      if (rest == "constants.pkl" || rest.starts_with("code/")) {
        refuse(
            "is a TorchScript program (member '{}', header at byte {}), not a checkpoint; from "
            "Python: torch.save(torch.jit.load('{}', map_location='cpu').state_dict(), 'FILE.pt')",
            name,
            archive_.entries()[i].header_offset,
            file_->path().string());
      }
      if (rest != kPickle) continue;
      if (!root.empty()) {
        refuse(
            "damaged PyTorch checkpoint: it has two members data.pkl (headers at byte {} and {})",
            archive_.entries()[members_.at(root + std::string(kPickle))].header_offset,
            archive_.entries()[i].header_offset);
      }
      root = folder;
    }
    if (root.empty()) {
      refuse("damaged PyTorch checkpoint: it has no member data.pkl (its members begin at byte 0)");
    }
    return root;
  }

  std::optional<std::size_t> find_member(std::string_view name) const {
    const auto found = members_.find(root_ + std::string(name));
    if (found == members_.end()) return std::nullopt;
    return found->second;
  }

  ByteOrder byte_order() const {
    const auto member = find_member("byteorder");
    if (!member) return ByteOrder::kLittle;  // PyTorch before 2.1 wrote none
    const auto stream = archive_.open(*member);
    std::string text(std::min<std::uint64_t>(stream->remaining(), 16), '\0');
    stream->read(std::as_writable_bytes(std::span(text)));
    stream->finish();
    if (text != "little" && text != "big") {
      refuse("member '{}byteorder' says neither little nor big (header at byte {})",
             root_,
             archive_.entries()[*member].header_offset);
    }
    return text == "little" ? ByteOrder::kLittle : ByteOrder::kBig;
  }

  void add(NamedNode named, const std::string& where, const ReadLimits& limits) {
    const std::string place = fmt::format("{}, tensor '{}'", where, named.name);
    auto described = describe_torch_tensor(place, document_, named.node, limits);
    if (auto* reason = std::get_if<std::string>(&described)) {
      unreadable_.push_back({std::move(named.name), std::move(*reason)});
      return;
    }
    auto& tensor = std::get<TorchTensor>(described);
    const auto member = find_member("data/" + tensor.storage);
    if (!member) {
      refuse("tensor '{}': its storage, member '{}data/{}', is missing (at byte {} of '{}{}')",
             named.name,
             root_,
             escaped(std::string_view(tensor.storage).substr(0, 100)),
             document_.offset(named.node),
             root_,
             kPickle);
    }
    const ZipEntry& entry = archive_.entries()[*member];
    if (entry.decoded_bytes != tensor.storage_bytes) {
      refuse(
          "tensor '{}': its storage must have {} bytes, but member '{}' has {} (at byte {} of "
          "'{}{}')",
          named.name,
          tensor.storage_bytes,
          entry.name,
          entry.decoded_bytes,
          document_.offset(named.node),
          root_,
          kPickle);
    }
    tensors_.push_back(
        {.name = std::move(named.name), .shape = tensor.layout.shape, .type = tensor.type});
    num_bytes_ += static_cast<std::uint64_t>(tensors_.back().num_elements()) * size_of(tensor.type);
    places_.push_back({*member, std::move(tensor.layout)});
  }

  /// Tensors with the same elements of one storage: equal, transposed or reshaped.
  void find_ties() {
    std::map<std::tuple<std::size_t, ElementType, std::uint64_t, ViewAxes>,
             std::vector<std::size_t>>
        views;
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      if (tensors_[i].num_elements() == 0) continue;
      const StridedLayout& layout = places_[i].layout;
      views[{places_[i].member, tensors_[i].type, layout.offset, elements_of(layout)}].push_back(i);
    }
    for (const auto& [view, tensors] : views) {
      if (tensors.size() < 2) continue;
      for (const std::size_t i : tensors) tensors_[i].tie = tensors.front();
    }
  }

  std::shared_ptr<const InputFile> file_;
  ZipArchive archive_;
  std::unordered_map<std::string, std::size_t> members_;  // by name
  std::string root_;
  TorchStorages storages_;
  PickleDocument document_;
  std::vector<TensorInfo> tensors_;
  std::vector<Place> places_;  // one per tensor
  std::vector<UnreadableTensor> unreadable_;
  std::uint64_t num_bytes_ = 0;  // of all tensors, shared or not
};

}  // namespace

bool recognises_torch(const InputFile& file) {
  if (looks_like_zip(file)) return is_of_torch(first_zip_member(file));
  return is_pickle(file) || is_legacy(file);
}

std::unique_ptr<TensorSource> open_torch(std::shared_ptr<const InputFile> file,
                                         const ReadLimits& limits) {
  if (!looks_like_zip(*file)) refuse_unless_zip(*file);
  return std::make_unique<TorchSource>(std::move(file), limits);
}

}  // namespace hesscope::io
