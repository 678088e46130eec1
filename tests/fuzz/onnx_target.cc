// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_set>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/graph_simplification.h>
#include <hesscope/core/error.h>
#include <hesscope/import/importer.h>
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

// --- the importer ---

/// Beyond which nothing new is found, only slowly.
constexpr onnx::ImportLimits kImportLimits = {.max_nodes = 4'000,
                                              .max_entries = 200'000,
                                              .max_tensor_entries = 20'000,
                                              .max_products = 1'000'000,
                                              .max_integers = 2'000,
                                              .max_all_integers = 200'000,
                                              .max_in_sequences = 10'000,
                                              .max_steps = 2'000};
constexpr std::int64_t kMaxInputEntries = 1'000;

/// Where the next parameters and the next input stand.
struct Offsets {
  Eigen::Index parameters = 0;
  Eigen::Index inputs = 0;
};

/// An input of samples that are not known, as a problem file declares it: symbols of the shape are
/// the batch in front and 2 elsewhere.
onnx::Value declared(const onnx::ValueInfo& input, Graph& graph, Offsets& offsets) {
  std::vector<onnx::Dimension> shape(2);
  if (input.shape) shape = *input.shape;
  onnx::Axes axes;
  for (const onnx::Dimension& dimension : shape) {
    const std::int64_t size = dimension.size < 0 ? 2 : dimension.size;
    const bool is_batch = axes.empty() && dimension.size < 0;
    axes.push_back(is_batch ? onnx::kBatchAxis : onnx::Axis{.size = size});
    if (size < 1 || size > kMaxInputEntries / onnx::size_of({axes.begin(), axes.end() - 1})) {
      throw InputError("no data of this shape");
    }
  }
  onnx::Value value{.kind = input.kind, .axes = std::move(axes)};
  value.var = graph.input(offsets.inputs, value.size(), 1);
  offsets.inputs += value.size();
  return value;
}

/// @throws std::logic_error where the parts of a value contradict each other.
void check(const onnx::Value& value, const Graph& graph) {
  std::int64_t size = 1;
  for (const onnx::Axis& axis : value.axes) {
    if (axis.size < 0 || axis.before < 1 || (axis.has_batch && axis.size % axis.before != 0))
      throw std::logic_error("an axis that cannot be");
    size *= axis.size;
  }
  if (std::ranges::count_if(value.axes, &onnx::Axis::has_batch) > 1)
    throw std::logic_error("two axes are the batch");
  if (value.is_known() == value.var.has_value())
    throw std::logic_error("neither known nor computed, or both");
  if (value.is_known()) {
    const onnx::Integers& known = *value.integers;
    if (std::ssize(known.base) != size ||
        !(known.per_sample.empty() || known.per_sample.size() == known.base.size())) {
      throw std::logic_error("known integers and shape disagree");
    }
  } else if (graph.nodes()[static_cast<std::size_t>(value.var->node())].size() != size) {
    throw std::logic_error("numbers and shape disagree");
  }
}

/// Imports an output as a problem does whose checkpoint has all initializers.
void import_as_model(const onnx::OnnxFile& file, const std::string& output) {
  const onnx::Dependencies needs = onnx::dependencies_of(file, output);
  Graph graph;
  Offsets offsets;
  std::map<std::string, onnx::Value> given;
  for (const onnx::Tensor& tensor : file.initializers) {
    const bool is_parameter = tensor.kind == onnx::ElementKind::kReal && !tensor.shape.empty() &&
                              !tensor.reals.empty() && needs.with_slopes.contains(tensor.name);
    if (!is_parameter) continue;
    given[tensor.name] = {.axes = onnx::plain_axes(tensor.shape),
                          .var = graph.parameter(offsets.parameters, tensor.size(), 1)};
    offsets.parameters += tensor.size();
  }
  for (const onnx::ValueInfo& input : file.inputs) {
    if (needs.values.contains(input.name)) given[input.name] = declared(input, graph, offsets);
  }
  const onnx::Value value = onnx::import_output(file, needs, graph, given, kImportLimits);
  check(value, graph);
  if (value.is_known()) return;
  graph.set_output(sum(*value.var));
  simplified(graph);
}

void import_outputs(const onnx::OnnxFile& file) {
  const std::vector<std::string> outputs = onnx::output_names(file);
  for (std::size_t i = 0; i < std::min<std::size_t>(outputs.size(), 3); ++i) {
    try {
      import_as_model(file, outputs[i]);
    } catch (const InputError&) {
      continue;  // the next may be fine
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
    check(model);
    import_outputs(model);
    read_all(*io::open_onnx_model(file, {}));
  } catch (const InputError&) {
  }
}

}  // namespace hesscope::fuzz
