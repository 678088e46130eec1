// SPDX-License-Identifier: BSD-3-Clause
#include <utility>
#include <vector>

#include <hesscope/core/printable.h>
#include <hesscope/tensors/internal/isolated_listing.h>
#include <hesscope/tensors/internal/isolated_reader.h>

namespace hesscope::io {
namespace {

/// In the child.
class TensorServer final : public FileServer {
 public:
  explicit TensorServer(std::unique_ptr<BlockSource> source) : source_(std::move(source)) {}

  std::string listing() const override {
    return encode_listing(source_->tensors(), source_->unreadable());
  }

  void read(const ArrayRequest& request, BlockSink& sink) const override {
    source_->read(request.index, sink);
  }

 private:
  std::unique_ptr<BlockSource> source_;
};

class IsolatedSource final : public TensorSource {
 public:
  IsolatedSource(std::shared_ptr<const InputFile> file,
                 std::string_view format,
                 const ReadLimits& limits,
                 const std::function<std::unique_ptr<BlockSource>()>& open)
      : input_(std::move(file)),
        file_(input_,
              {.name = format,
               .holds = "tensors",
               .remedy = "write the file again, or convert it to .npz where it was written"},
              limits,
              max_listing_bytes(limits),
              [open] { return std::make_unique<TensorServer>(open()); }) {
    auto listing = decode_listing(file_.path(), file_.listing(), limits);
    if (!listing) file_.refuse_listing();
    listing_ = std::move(*listing);
  }

  std::span<const TensorInfo> tensors() const override { return listing_.tensors; }

  std::span<const UnreadableTensor> unreadable() const override { return listing_.unreadable; }

  std::vector<double> read(std::size_t index) const override {
    const TensorInfo& tensor = listing_.tensors.at(index);
    return file_.read(
        {.index = index, .num_elements = static_cast<std::uint64_t>(tensor.num_elements())},
        escaped(tensor.name));
  }

  std::span<const std::shared_ptr<const InputFile>> files() const override { return {&input_, 1}; }

 private:
  std::shared_ptr<const InputFile> input_;
  IsolatedFile file_;
  TensorListing listing_;
};

}  // namespace

std::unique_ptr<TensorSource> open_isolated(
    std::shared_ptr<const InputFile> file,
    std::string_view format,
    const ReadLimits& limits,
    const std::function<std::unique_ptr<BlockSource>()>& open) {
  return std::make_unique<IsolatedSource>(std::move(file), format, limits, open);
}

}  // namespace hesscope::io
