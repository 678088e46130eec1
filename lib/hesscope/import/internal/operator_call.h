// SPDX-License-Identifier: BSD-3-Clause
//
// One node of the file during the import: its inputs as values, its attributes, and the functions
// with which operators make their results. Every refusal names the node.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/graph_folding.h>
#include <hesscope/import/importer.h>
#include <hesscope/import/value.h>
#include <hesscope/onnx/onnx_file.h>

namespace hesscope::onnx {

/// Limit of strides, kernels, pads and lengths of axes: the maximal number of entries of a tensor.
/// Products of two such numbers fit into 64 bits.
inline constexpr std::int64_t kLargestLength = ImportLimits{}.max_tensor_entries;

/// Computes the values of a body's outputs from those of its inputs.
using RunBody = std::function<std::vector<Value>(const Body& body, std::vector<Value> inputs)>;

/// Shared by all nodes of an import.
struct Recording {
  std::string source;  ///< the file, for messages
  Graph* graph;
  ConstantFolder folder;
  ImportLimits limits = {};
  std::size_t num_counted = 0;       ///< nodes whose products are counted
  std::int64_t num_products = 0;     ///< multiplications in constant matrix products
  std::int64_t num_integers = 0;     ///< in all known results
  std::int64_t num_moves = 0;        ///< entries of all tables that move tensors
  std::size_t num_in_sequences = 0;  ///< tensors in all sequences made
  std::size_t num_steps = 0;         ///< executed nodes of the file, and rounds of loops
  RunBody run_body = {};
};

class OperatorCall {
 public:
  /// @param inputs  nullptr for omitted ones.
  OperatorCall(const Node& node,
               std::int64_t opset,
               std::vector<const Value*> inputs,
               Recording& recording)
      : node_(&node), opset_(opset), inputs_(std::move(inputs)), recording_(&recording) {}

  std::int64_t opset() const { return opset_; }

  const Node& node() const { return *node_; }

  /// @throws InputError "node 'X' (Op, opset 17): WHY".
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> why, Args&&... args) const {
    refuse_with(fmt::format(why, std::forward<Args>(args)...));
  }

  // --- inputs ---

  std::size_t num_inputs() const { return inputs_.size(); }

  std::size_t num_outputs() const { return node_->outputs.size(); }

  bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }

  /// Whether input i exists and has entries: in older files, an empty tensor marks an omitted list
  /// of numbers, such as Resize's scales.
  bool has_entries(std::size_t i) const { return has(i) && inputs_[i]->size() > 0; }

  /// Input i, a tensor. Refuses omitted inputs and sequences.
  const Value& input(std::size_t i) const;

  /// The tensors of input i, a sequence. Refuses others.
  const std::vector<Value>& sequence(std::size_t i) const;

  /// Input i unchanged. Refuses omitted inputs.
  const Value& tensor_or_sequence(std::size_t i) const;

  /// Input i as one integer or truth value that is known in the sense of known(); none if omitted.
  std::optional<std::int64_t> known_scalar(std::size_t i) const;

  /// Input i as numbers on the graph: known integers become constants; refuses them if they depend
  /// on the number of samples.
  Value real(std::size_t i) const;

  /// The same for any value.
  Value real(const Value& value) const;

  /// Known integers that do not depend on the number of samples. Refuses others.
  std::vector<std::int64_t> known(std::size_t i) const;

  /// Known numbers. Refuses values that depend on data or parameters.
  std::vector<double> known_reals(std::size_t i) const;

  /// The same for one sample, wherever the batch is; the caller must take care of it.
  std::vector<std::int64_t> known_of_one(std::size_t i) const;
  std::vector<double> known_reals_of_one(std::size_t i) const;

  /// Refuses input i if it has separate entries for each sample, although all must have the same.
  void require_common(std::size_t i) const;

  /// Refuses integers as input i if the node computes real numbers from it: `what`
  /// ("interpolates"). ONNX converts the results to integers, and each operator and each program
  /// does so in its own way.
  void require_no_integers(std::size_t i, const std::string& what) const;

  // --- attributes ---

  bool has_attribute(const std::string& name) const { return node_->find(name) != nullptr; }

  std::int64_t integer(const std::string& name, std::int64_t fallback) const;
  double number(const std::string& name, double fallback) const;
  std::string text(const std::string& name, const std::string& fallback) const;
  std::vector<std::int64_t> integers(const std::string& name) const;  ///< empty if absent
  std::vector<double> numbers(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;

  /// The list that is an attribute in older opsets and an input in newer ones.
  std::optional<std::vector<std::int64_t>> list(const std::string& name, std::size_t i) const;

  /// `axis` counted from the front. Refuses values outside [-rank, rank).
  int axis(std::int64_t axis, int rank) const;

  /// The same for several; refuses repetitions.
  std::vector<int> axes(const std::vector<std::int64_t>& list, int rank) const;

  // --- the batch ---

  /// Refuses an axis that is the batch, or has it as a factor: `what` ("its maximum is taken over")
  /// would make samples interact.
  void require_no_batch(const Value& value, int axis, const std::string& what) const;

  // --- loops ---

  /// The body that the node repeats. Refuses a node in a function, where loops are not supported.
  const Body& body() const;

  /// The values of the body's outputs for these inputs. Counts as a step.
  std::vector<Value> run_body(std::vector<Value> inputs) const;

  /// Refuses more steps than the limit: a file can ask for any number in a few bytes.
  void count_step() const;

  // --- results ---

  Graph& graph() const { return *recording_->graph; }

  /// Refuses more entries than the limit, before they are allocated; also sizes below 1.
  std::int64_t checked_size(const Axes& axes) const;

  /// Refuses more axes than the limit: work done for each pair of axes would take long.
  void require_rank(std::size_t rank) const;

  /// Refuses more parts of a tensor than a graph may have nodes.
  void require_parts(std::size_t num_parts) const;

  /// Refuses more moves of entries than the limit: moves that leave everything in place are not
  /// recorded in the graph, and a loop can ask for any number of them in a few bytes.
  void count_moves(std::int64_t num_entries) const;

  /// A tensor on the graph, computed immediately if it depends on constants alone. Refuses products
  /// of constants that would take long: a file can ask for them in a few bytes.
  Value result(Var var, Axes axes, ElementKind kind = ElementKind::kReal) const;

  Value known_result(Integers integers, Axes axes, ElementKind kind = ElementKind::kInteger) const;

  /// Refuses more tensors in sequences than the limit: loops may copy ever longer ones.
  Value sequence_result(std::vector<Value> tensors) const;

  /// Fixed numbers, as a column.
  Var constant(std::span<const double> entries) const;

  Var constant(double number) const { return constant({&number, 1}); }

  /// The number, if `value` is a constant with a single entry.
  std::optional<double> single_number(const Value& value) const;

 private:
  [[noreturn]] void refuse_with(const std::string& why) const;

  void count_products() const;

  template <typename T>
  const T* attribute(const std::string& name) const;

  const Node* node_;
  std::int64_t opset_;
  std::vector<const Value*> inputs_;
  Recording* recording_;
};

/// "node 'X' (Op, opset 17)"; a node without a name is called by its first output.
std::string place_of(const Node& node, std::int64_t opset);

}  // namespace hesscope::onnx
