// SPDX-License-Identifier: BSD-3-Clause
//
// What an ONNX file says, as plain structures: its graph with local functions and branches inlined,
// the bodies of loops beside their nodes, its numbers widened, and all limits kept. Nothing here
// knows what an operator does; nothing else knows what the file looks like.
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

/// Types of elements, as far as they are told apart: all integers are widened to 64 bits, all real
/// numbers to double.
enum class ElementKind {
  kReal,     ///< float16, bfloat16, float32, float64
  kInteger,  ///< of 8 to 64 bits; unsigned 64-bit numbers beyond 2^63 are refused
  kBoolean,
  kOther,  ///< text, complex, 8-bit and smaller floats: there, but never read
};

/// The number that ONNX gives a type in attributes such as Cast's `to`; kOther for unknown ones.
ElementKind element_kind(std::int64_t onnx_type);

inline constexpr std::int64_t kFloat = 1;  ///< that number of float32

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

/// An attribute's value. A single float is the shortest decimal that rounds to the 32 bits stored:
/// an epsilon of 1e-5 is 1e-5, not 9.99999974737875e-06; so are lists of floats.
struct Attribute {
  struct Graph {};  ///< a subgraph, or a list of tensors or graphs, a type: there, but not read

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

/// That a node stands in a branch of an If, taken where this condition is so.
struct Guard {
  std::string condition;  ///< the name of a value
  bool is_true = true;

  bool operator==(const Guard&) const = default;
};

struct Body;

/// The nodes in both branches of an If stand before it, guarded. The If itself has no attributes,
/// and as inputs the condition, what the first branch gives, and what the second gives. A Loop or a
/// Scan has its body, and behind its own inputs, as many as the body has, what else this takes.
struct Node {
  std::string name;  ///< may be empty; nodes of an inlined function are named "CALL/NAME"
  std::string op;
  std::string domain;                ///< empty for ONNX's own ("ai.onnx" is written so, too)
  std::vector<std::string> inputs;   ///< an empty name is an optional input left out
  std::vector<std::string> outputs;  ///< the same
  std::vector<Attribute> attributes;
  std::vector<Guard> guards;  ///< from the outermost branch inwards
  std::shared_ptr<const Body> body = {};

  const Attribute* find(const std::string& attribute) const;
};

/// What a Loop or a Scan repeats. No value outside has the name of one that is made here.
struct Body {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;  ///< made here, or around the loop
  std::vector<Node> nodes;           ///< guarded by branches in the body alone
};

/// One axis of an input: a number, a symbol ("batch"), or nothing known (size -1, no symbol).
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
  /// That are no initializers: an initializer may stand among a graph's inputs as its default.
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  /// The file, then those with external data in the order of their names.
  std::vector<std::shared_ptr<const io::InputFile>> files;
  std::string sha256;  ///< io::sha256_of(files)

  const Tensor* find_initializer(const std::string& name) const;

  /// Those in bodies, too, each before its loop.
  std::vector<const Node*> all_nodes() const;
};

/// Bounds checked before anything is allocated. A file beyond one of them is refused.
struct OnnxLimits {
  std::uint64_t max_file_bytes = std::uint64_t{256} << 20;  ///< without external data
  std::uint64_t max_tensor_bytes = std::uint64_t{1} << 30;  ///< of one tensor, as float64
  std::uint64_t max_total_bytes = std::uint64_t{4} << 30;   ///< of all tensors, as float64
  std::size_t max_tensors = 100'000;                        ///< initializers
  std::size_t max_nodes = 100'000;                          ///< after functions are inlined
  std::size_t max_rank = 8;
  std::size_t max_function_depth = 16;
};

/// Whether the file begins like a serialised ONNX model, whole or not. Cheap.
bool recognises_onnx(const io::InputFile& file);

/// Reads a model. External data are read from a plain file in the model's folder only. That the
/// nodes are in order, and that what they take is there, is not looked at; that no two things have
/// one name is.
/// @throws InputError "model.onnx: what is wrong, and where": not ONNX, damaged, without a graph,
///         of opset or IR version unknown here, beyond a limit, an initializer whose data do not
///         fit its shape, external data elsewhere, a function that calls itself.
/// @cost   the file twice in memory for a moment, then its numbers as doubles.
OnnxFile read_onnx_file(const std::filesystem::path& path, const OnnxLimits& limits = {});

/// The same of a file that is open already. @throws PreconditionError also for null.
OnnxFile read_onnx_file(std::shared_ptr<const io::InputFile> file, const OnnxLimits& limits = {});

}  // namespace hesscope::onnx
