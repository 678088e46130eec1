// SPDX-License-Identifier: BSD-3-Clause
//
// The contents of an ONNX file as plain structures: the graph with local functions and branches
// inlined, the bodies of loops attached to their nodes, numbers widened, and all limits enforced.
// This code does not know what an operator does; no other code knows the file format.
//
//   const onnx::OnnxFile file = onnx::read_onnx_file("model.onnx");
//   for (const onnx::Node& node : file.nodes) ...
//
// Format: https://onnx.ai/onnx/repo-docs/IR.html, IR versions 3 to 13.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace hesscope::io {
class InputFile;
}

namespace hesscope::onnx {

/// Element types as far as they are distinguished: all integers are widened to 64 bits, all real
/// numbers to double.
enum class ElementKind {
  kReal,     ///< float16, bfloat16, float32, float64
  kInteger,  ///< of 8 to 64 bits; unsigned 64-bit numbers beyond 2^63 are refused
  kBoolean,
  kOther,  ///< text, complex, floats of 8 bits and less: listed, but never read
};

/// The kind of a type number as in attributes such as Cast's `to`; kOther for unknown numbers.
ElementKind element_kind(std::int64_t onnx_type);

inline constexpr std::int64_t kFloat = 1;  ///< the type number of float32

/// "float32", "int64", "float8e4m3fn", "type 99".
std::string type_name(std::int64_t onnx_type);

/// A dense array; `reals` holds the elements of kReal, `integers` those of kInteger and kBoolean
/// (0 or 1), row-major.
struct Tensor {
  std::string name;
  ElementKind kind = ElementKind::kReal;
  std::int64_t onnx_type = 1;  ///< as stored, for messages and checkpoints
  std::vector<std::int64_t> shape;
  std::vector<double> reals;
  std::vector<std::int64_t> integers;

  std::int64_t size() const;  ///< product of the shape, 1 for a scalar
};

/// An attribute's value. Floats, also in lists, are given as the shortest decimal that rounds to
/// the 32 bits stored: an epsilon of 1e-5 is 1e-5, not 9.99999974737875e-06.
struct Attribute {
  struct Graph {};  ///< a subgraph, a list of tensors or graphs, or a type: not read

  std::string name;
  std::variant<std::int64_t,
               double,
               std::string,
               std::vector<std::int64_t>,
               std::vector<double>,
               std::vector<std::string>,
               std::shared_ptr<const Tensor>,
               Graph>
      value;
};

/// Says that a node belongs to a branch of an If that is taken if the condition has this value.
struct Guard {
  std::string condition;  ///< the name of a value
  bool is_true = true;

  bool operator==(const Guard&) const = default;
};

struct Body;

/// The nodes of both branches of an If precede it, with guards. The If itself has no attributes;
/// its inputs are the condition, the result of the first branch and that of the second. A Loop or
/// Scan has a body; its inputs are its own, as many as the body has, followed by the outer values
/// that the body uses.
struct Node {
  std::string name;  ///< may be empty; nodes of an inlined function are named "CALL/NAME"
  std::string op;
  std::string domain;                ///< empty for ONNX's own, also if written "ai.onnx"
  std::vector<std::string> inputs;   ///< an empty name is an omitted optional input
  std::vector<std::string> outputs;  ///< likewise for outputs
  std::vector<Attribute> attributes;
  std::vector<Guard> guards;  ///< from the outermost branch inwards
  std::shared_ptr<const Body> body = {};

  const Attribute* find(const std::string& attribute) const;
};

/// What a Loop or a Scan repeats. No name of a value made here is also used outside.
struct Body {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;  ///< made here or outside the loop
  std::vector<Node> nodes;           ///< guarded only by branches within the body
};

/// One axis of an input: a number, a symbol ("batch"), or unknown (size -1, no symbol).
struct Dimension {
  std::int64_t size = -1;
  std::string symbol;
};

struct ValueInfo {
  std::string name;
  ElementKind kind = ElementKind::kReal;
  std::int64_t onnx_type = 1;
  std::optional<std::vector<Dimension>> shape;  ///< none: not even the rank is known
};

struct OnnxFile {
  std::filesystem::path path;
  std::int64_t ir_version = 0;
  std::string producer;              ///< "pytorch 1.13.0"
  std::int64_t opset = 0;            ///< of ONNX's own domain
  std::vector<Node> nodes;           ///< in the file's order, functions inlined
  std::vector<Tensor> initializers;  ///< in the file's order, external data read
  /// Inputs that are not initializers: an initializer may also be listed as a graph's input, with
  /// itself as the default value.
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  /// The file itself, then those with external data in the order of their names.
  std::vector<std::shared_ptr<const io::InputFile>> files;
  std::string sha256;  ///< io::sha256_of(files)

  const Tensor* find_initializer(const std::string& name) const;

  /// All nodes, including those in bodies, which precede their loop.
  std::vector<const Node*> all_nodes() const;
};

/// Limits that are checked before anything is allocated. A file that exceeds one of them is
/// refused.
struct OnnxLimits {
  std::uint64_t max_file_bytes = std::uint64_t{256} << 20;  ///< without external data
  std::uint64_t max_tensor_bytes = std::uint64_t{1} << 30;  ///< of one tensor, as float64
  std::uint64_t max_total_bytes = std::uint64_t{4} << 30;   ///< of all tensors, as float64
  std::size_t max_tensors = 100'000;                        ///< initializers
  std::size_t max_nodes = 100'000;                          ///< after functions are inlined
  std::size_t max_rank = 8;
  std::size_t max_function_depth = 16;
};

/// Whether the file begins like a serialised ONNX model, even if it is incomplete. Cheap.
bool recognises_onnx(const io::InputFile& file);

/// Reads a model. External data are read only from plain files in the model's folder. Checks that
/// names are unique, but neither the order of the nodes nor the existence of their inputs.
/// @throws InputError "model.onnx: what is wrong, and where": not ONNX, damaged, without a graph,
///         of an unknown opset or IR version, beyond a limit, an initializer whose data do not fit
///         its shape, external data elsewhere, a function that calls itself.
/// @cost   the file twice in memory for a moment, then its numbers as doubles.
OnnxFile read_onnx_file(const std::filesystem::path& path, const OnnxLimits& limits = {});

/// The same for a file that is already open. @throws PreconditionError also for null.
OnnxFile read_onnx_file(std::shared_ptr<const io::InputFile> file, const OnnxLimits& limits = {});

}  // namespace hesscope::onnx
