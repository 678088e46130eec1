// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hesscope/core/error.h>
#include <hesscope/onnx/onnx_file.h>
#include <hesscope/storage/input_file.h>
#include <hesscope/tensors/internal/onnx/onnx_reader.h>

#include "fuzz/read_all.h"
#include "fuzz/targets.h"

namespace hesscope::fuzz {
namespace {

/// A folder with a file "m", and a file "d" of 64 bytes, which "m" may name as that of its external
/// data. No files in memory: those are links in /proc/self/fd, which are refused.
class ModelFolder {
 public:
  ModelFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "hesscope-fuzz-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) fail("mkdtemp");
    path_ = pattern;
    std::string data;
    for (char i = 0; i < 64; ++i) data += i;
    std::ofstream(path_ / "d", std::ios::binary) << data;
    descriptor_ = ::open(model().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor_ < 0) fail("open");
  }

  ~ModelFolder() {
    ::close(descriptor_);
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  ModelFolder(const ModelFolder&) = delete;
  ModelFolder& operator=(const ModelFolder&) = delete;

  std::filesystem::path model() const { return path_ / "m"; }

  /// Replaces the content of "m": written first and cut then, which no file system waits for.
  void assign(Input content) const {
    const ssize_t written = ::pwrite(descriptor_, content.data(), content.size(), 0);
    if (written < 0 || static_cast<std::size_t>(written) != content.size()) fail("pwrite");
    if (::ftruncate(descriptor_, static_cast<off_t>(content.size())) != 0) fail("ftruncate");
  }

 private:
  [[noreturn]] static void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
  }

  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// @throws std::logic_error where the parts of what was read contradict each other.
void check(const onnx::OnnxFile& file) {
  std::unordered_set<std::string_view> names;
  const auto define = [&](const std::string& name) {
    if (name.empty() || !names.insert(name).second)
      throw std::logic_error("two values of one name");
  };
  for (const onnx::Tensor& tensor : file.initializers) {
    define(tensor.name);
    const auto size = static_cast<std::size_t>(tensor.size());
    const bool is_real = tensor.kind == onnx::ElementKind::kReal;
    const bool has_none = tensor.kind == onnx::ElementKind::kOther;
    if (tensor.reals.size() != (is_real ? size : 0) ||
        tensor.integers.size() != (is_real || has_none ? 0 : size)) {
      throw std::logic_error("elements and shape disagree");
    }
  }
  for (const onnx::ValueInfo& input : file.inputs) define(input.name);
  for (const onnx::Node& node : file.nodes) {
    for (const std::string& output : node.outputs) {
      if (!output.empty()) define(output);
    }
  }
}

}  // namespace

void fuzz_onnx(Input input) {
  static const ModelFolder folder;
  folder.assign(input);
  try {
    const auto file = std::make_shared<io::InputFile>(folder.model());
    onnx::OnnxLimits limits;  // beyond which nothing new is found, only slowly
    limits.max_tensor_bytes = limits.max_total_bytes = std::uint64_t{1} << 20;
    limits.max_nodes = 1000;
    const onnx::OnnxFile model = onnx::read_onnx_file(file, limits);
    check(model);  // an importer of the graph would follow here
    read_all(*io::open_onnx_model(file, {}));
  } catch (const InputError&) {
  }
}

}  // namespace hesscope::fuzz
