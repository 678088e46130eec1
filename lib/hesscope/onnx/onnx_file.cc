// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <hesscope_onnx/onnx.pb.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/printable.h>
#include <hesscope/onnx/internal/function_inliner.h>
#include <hesscope/onnx/internal/node_reader.h>
#include <hesscope/onnx/internal/tensor_reader.h>
#include <hesscope/onnx/internal/wire_format.h>
#include <hesscope/onnx/onnx_file.h>
#include <hesscope/storage/input_file.h>

namespace hesscope::onnx {
namespace {

constexpr std::int64_t kLeastVersion = 3;  // of the IR: the first with opsets
constexpr std::int64_t kLastVersion = 13;
constexpr std::int64_t kLeastOpset = 1;  // old opsets: decided per operator
constexpr std::int64_t kLastOpset = 23;

struct TypeOfElements {
  std::string_view name;
  ElementKind kind;
};

/// Indexed by ONNX's type numbers (TensorProto.DataType), up to ONNX 1.20.
constexpr std::array kTypes = std::to_array<TypeOfElements>({
    {"undefined", ElementKind::kOther},      {"float32", ElementKind::kReal},
    {"uint8", ElementKind::kInteger},        {"int8", ElementKind::kInteger},
    {"uint16", ElementKind::kInteger},       {"int16", ElementKind::kInteger},
    {"int32", ElementKind::kInteger},        {"int64", ElementKind::kInteger},
    {"string", ElementKind::kOther},         {"bool", ElementKind::kBoolean},
    {"float16", ElementKind::kReal},         {"float64", ElementKind::kReal},
    {"uint32", ElementKind::kInteger},       {"uint64", ElementKind::kInteger},
    {"complex64", ElementKind::kOther},      {"complex128", ElementKind::kOther},
    {"bfloat16", ElementKind::kReal},        {"float8e4m3fn", ElementKind::kOther},
    {"float8e4m3fnuz", ElementKind::kOther}, {"float8e5m2", ElementKind::kOther},
    {"float8e5m2fnuz", ElementKind::kOther}, {"uint4", ElementKind::kOther},
    {"int4", ElementKind::kOther},           {"float4e2m1", ElementKind::kOther},
    {"float8e8m0", ElementKind::kOther},     {"uint2", ElementKind::kOther},
    {"int2", ElementKind::kOther},
});

bool is_known_type(std::int64_t onnx_type) {
  return onnx_type >= 0 && onnx_type < static_cast<std::int64_t>(kTypes.size());
}

hesscope_onnx::ModelProto parsed_model(const io::InputFile& file, const OnnxLimits& limits) {
  const std::string where = file.path().string();
  if (file.size() == 0) throw InputError(where + ": the file is empty");
  if (!begins_like_a_model(file)) {
    throw InputError(fmt::format(
        "{}: is no ONNX model (it begins with '{}')", where, escaped(file.text_at(0, 8))));
  }
  constexpr std::uint64_t kMostOfProtobuf = std::numeric_limits<int>::max();
  const std::string bytes = whole_text(file, std::min(limits.max_file_bytes, kMostOfProtobuf));
  check_wire_format(where, bytes);
  hesscope_onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) {
    throw InputError(where + ": damaged: a part of the ONNX model is not what the format says");
  }
  if (!model.has_graph()) throw InputError(where + ": the ONNX model has no graph");
  if (model.ir_version() < kLeastVersion || model.ir_version() > kLastVersion) {
    throw InputError(fmt::format("{}: is of IR version {}; {} to {} are read",
                                 where,
                                 model.ir_version(),
                                 kLeastVersion,
                                 kLastVersion));
  }
  return model;
}

/// The opset of ONNX's own operators; other domains have their own.
std::int64_t opset_of(const std::string& where, const hesscope_onnx::ModelProto& model) {
  std::optional<std::int64_t> opset;
  for (const hesscope_onnx::OperatorSetIdProto& import : model.opset_import()) {
    if (!domain_of(import.domain()).empty()) continue;
    if (opset && *opset != import.version()) {
      throw InputError(
          fmt::format("{}: is of opset {} and of opset {}", where, *opset, import.version()));
    }
    opset = import.version();
  }
  if (!opset) throw InputError(where + ": does not say its opset (opset_import)");
  if (*opset < kLeastOpset || *opset > kLastOpset) {
    throw InputError(
        fmt::format("{}: is of opset {}; {} to {} are read. Export it for one of them "
                    "(torch.onnx.export: opset_version), or convert it "
                    "(onnx.version_converter)",
                    where,
                    *opset,
                    kLeastOpset,
                    kLastOpset));
  }
  return *opset;
}

ValueInfo value_info(const std::string& where,
                     const hesscope_onnx::ValueInfoProto& stored,
                     const OnnxLimits& limits) {
  ValueInfo value;
  value.name = stored.name();
  const hesscope_onnx::TypeProto::Tensor& type = stored.type().tensor_type();  // or none, of type 0
  value.onnx_type = type.elem_type();
  value.kind = element_kind(value.onnx_type);
  if (!type.has_shape()) return value;
  if (static_cast<std::size_t>(type.shape().dim_size()) > limits.max_rank) {
    throw InputError(fmt::format("{}: '{}' has {} dimensions; at most {} are read",
                                 where,
                                 value.name,
                                 type.shape().dim_size(),
                                 limits.max_rank));
  }
  value.shape.emplace();
  for (const hesscope_onnx::TensorShapeProto::Dimension& stored_axis : type.shape().dim()) {
    Dimension axis;
    if (stored_axis.has_dim_value())
      axis.size = std::max<std::int64_t>(stored_axis.dim_value(), -1);
    axis.symbol = checked_name(where, "the name of a dimension", stored_axis.dim_param());
    value.shape->push_back(std::move(axis));
  }
  return value;
}

/// Refuses a second definition of a value: nobody could say which of the two is meant.
class Definitions {
 public:
  explicit Definitions(const std::string& where) : where_(where) {}

  bool contains(const std::string& name) const { return names_.contains(name); }

  void add(std::string_view what, const std::string& name) {
    checked_name(where_, what, name);
    if (name.empty()) throw InputError(fmt::format("{}: {} has no name", where_, what));
    if (!names_.insert(name).second) {
      throw InputError(
          fmt::format("{}: {} '{}': there is another value of this name", where_, what, name));
    }
  }

 private:
  const std::string& where_;
  std::unordered_set<std::string_view> names_;
};

std::vector<Tensor> read_initializers(const std::string& where,
                                      const hesscope_onnx::GraphProto& graph,
                                      TensorReader& reader,
                                      const OnnxLimits& limits) {
  if (graph.sparse_initializer_size() != 0) {
    throw InputError(
        fmt::format("{}: initializer '{}' is sparse, which is not read; store it dense",
                    where,
                    escaped(graph.sparse_initializer(0).values().name())));
  }
  if (static_cast<std::size_t>(graph.initializer_size()) > limits.max_tensors) {
    throw InputError(fmt::format("{}: has {} initializers; at most {} are read",
                                 where,
                                 graph.initializer_size(),
                                 limits.max_tensors));
  }
  std::vector<Tensor> tensors;
  tensors.reserve(static_cast<std::size_t>(graph.initializer_size()));
  for (const hesscope_onnx::TensorProto& stored : graph.initializer()) {
    checked_name(where, "the name of an initializer", stored.name());
    tensors.push_back(
        reader.read(fmt::format("{}: initializer '{}'", where, stored.name()), stored));
  }
  return tensors;
}

/// Checks that the names of the graph's values are unique.
void check_names(const OnnxFile& file, const std::string& where) {
  Definitions defined(where);
  for (const Tensor& tensor : file.initializers) defined.add("an initializer", tensor.name);
  for (const ValueInfo& input : file.inputs) defined.add("an input of the graph", input.name);
  for (const Node& node : file.nodes) {
    for (const std::string& output : node.outputs) {
      if (!output.empty())
        defined.add(fmt::format("an output of node '{}' ({})", node.name, node.op), output);
    }
  }
}

OnnxFile read_model(std::shared_ptr<const io::InputFile> input, const OnnxLimits& limits) {
  OnnxFile file;
  file.path = input->path();
  const std::string where = file.path.string();
  const hesscope_onnx::ModelProto model = parsed_model(*input, limits);
  const hesscope_onnx::GraphProto& graph = model.graph();
  file.ir_version = model.ir_version();
  file.producer = printable(model.producer_name());
  if (!model.producer_version().empty()) file.producer += " " + printable(model.producer_version());
  file.opset = opset_of(where, model);

  TensorReader tensors(std::move(input), limits);
  file.initializers = read_initializers(where, graph, tensors, limits);
  std::unordered_set<std::string_view> with_value;
  for (const Tensor& tensor : file.initializers) with_value.insert(tensor.name);
  for (const hesscope_onnx::ValueInfoProto& stored : graph.input()) {
    if (with_value.contains(stored.name())) continue;
    file.inputs.push_back(value_info(where, stored, limits));
  }
  for (const hesscope_onnx::ValueInfoProto& stored : graph.output()) {
    checked_name(where, "the name of an output of the graph", stored.name());
    file.outputs.push_back(value_info(where, stored, limits));
  }
  file.nodes = FunctionInliner(where, model, file.opset, tensors, limits).inlined_graph();
  check_names(file, where);
  file.files = tensors.files();
  return file;
}

void add_nodes(const std::vector<Node>& nodes, std::vector<const Node*>& all) {
  for (const Node& node : nodes) {
    if (node.body != nullptr) add_nodes(node.body->nodes, all);
    all.push_back(&node);
  }
}

}  // namespace

ElementKind element_kind(std::int64_t onnx_type) {
  return is_known_type(onnx_type) ? kTypes.at(static_cast<std::size_t>(onnx_type)).kind
                                  : ElementKind::kOther;
}

std::string type_name(std::int64_t onnx_type) {
  if (!is_known_type(onnx_type)) return fmt::format("type {}", onnx_type);
  return std::string(kTypes.at(static_cast<std::size_t>(onnx_type)).name);
}

std::int64_t Tensor::size() const {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

const Attribute* Node::find(const std::string& attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::vector<const Node*> OnnxFile::all_nodes() const {
  std::vector<const Node*> all;
  add_nodes(nodes, all);
  return all;
}

const Tensor* OnnxFile::find_initializer(const std::string& name) const {
  const auto found = std::ranges::find(initializers, name, &Tensor::name);
  return found == initializers.end() ? nullptr : &*found;
}

bool recognises_onnx(const io::InputFile& file) { return begins_like_a_model(file); }

OnnxFile read_onnx_file(const std::filesystem::path& path, const OnnxLimits& limits) {
  return read_onnx_file(std::make_shared<io::InputFile>(path, "an ONNX model"), limits);
}

OnnxFile read_onnx_file(std::shared_ptr<const io::InputFile> file, const OnnxLimits& limits) {
  if (file == nullptr) throw PreconditionError("read_onnx_file: file must not be null");
  const std::string path = file->path().string();
  try {
    OnnxFile read = read_model(std::move(file), limits);
    read.sha256 = io::sha256_of(read.files);
    return read;
  } catch (const std::bad_alloc&) {
    throw InputError(path + ": there is not enough memory to read it");
  }
}

}  // namespace hesscope::onnx
