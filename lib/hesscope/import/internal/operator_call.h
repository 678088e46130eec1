// SPDX-License-Identifier: BSD-3-Clause
//
// One node of the file while it is imported: its inputs as values, its attributes, and what
// operators make their results of. Every refusal names the node.
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

/// Strides, kernels, pads and lengths of axes: no more than a tensor may have entries; products of
/// two fit into 64 bits.
inline constexpr std::int64_t kLargestLength = ImportLimits{}.max_tensor_entries;

/// The values of a body's outputs, of its inputs'.
using RunBody = std::function<std::vector<Value>(const Body& body, std::vector<Value> inputs)>;

/// What all nodes of an import share.
struct Recording {
  std::string source;  ///< the file, for messages
  Graph* graph;
  ConstantFolder folder;
  ImportLimits limits = {};
  std::size_t num_counted = 0;       ///< nodes whose products are
  std::int64_t num_products = 0;     ///< multiplications of matrices that depend on constants alone
  std::int64_t num_integers = 0;     ///< of all known results
  std::int64_t num_moves = 0;        ///< entries of all tables by which tensors are moved
  std::size_t num_in_sequences = 0;  ///< tensors in all sequences made
  std::size_t num_steps = 0;         ///< nodes of the file run, and rounds of loops
  RunBody run_body = {};
};

class OperatorCall {
 public:
  /// @param inputs  nullptr for those left out.
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

  /// Whether input i is there and has entries: a tensor without is the older way to leave out one
  /// of numbers, as Resize's scales.
  bool has_entries(std::size_t i) const { return has(i) && inputs_[i]->size() > 0; }

  /// Input i, a tensor. Refuses if it was left out, or is a sequence.
  const Value& input(std::size_t i) const;

  /// The tensors of input i, a sequence. Refuses others.
  const std::vector<Value>& sequence(std::size_t i) const;

  /// Input i as it is. Refuses if it was left out.
  const Value& tensor_or_sequence(std::size_t i) const;

  /// Input i, one integer or truth value that is known as known() has them; none if it was left
  /// out.
  std::optional<std::int64_t> known_scalar(std::size_t i) const;

  /// Input i as numbers on the graph: known integers become constants; refused where they depend on
  /// the number of samples.
  Value real(std::size_t i) const;

  /// The same of any value.
  Value real(const Value& value) const;

  /// Known integers that do not depend on the number of samples. Refuses others.
  std::vector<std::int64_t> known(std::size_t i) const;

  /// Known numbers. Refuses what depends on data or parameters.
  std::vector<double> known_reals(std::size_t i) const;

  /// The same of one sample, wherever the batch stands; the caller minds it.
  std::vector<std::int64_t> known_of_one(std::size_t i) const;
  std::vector<double> known_reals_of_one(std::size_t i) const;

  /// Refuses input i if it has entries for each sample, where all have to have the same.
  void require_common(std::size_t i) const;

  /// Refuses integers as input i where the node `what` ("interpolates"): ONNX makes integers of
  /// what comes of them, each operator and each program in its own way.
  void require_no_integers(std::size_t i, const std::string& what) const;

  // --- attributes ---

  bool has_attribute(const std::string& name) const { return node_->find(name) != nullptr; }

  std::int64_t integer(const std::string& name, std::int64_t fallback) const;
  double number(const std::string& name, double fallback) const;
  std::string text(const std::string& name, const std::string& fallback) const;
  std::vector<std::int64_t> integers(const std::string& name) const;  ///< empty if absent
  std::vector<double> numbers(const std::string& name) const;
  std::vector<std::string> texts(const std::string& name) const;

  /// The list that older opsets have as an attribute and newer ones as an input.
  std::optional<std::vector<std::int64_t>> list(const std::string& name, std::size_t i) const;

  /// `axis` counted from the front. Refuses one out of [-rank, rank).
  int axis(std::int64_t axis, int rank) const;

  /// The same of several; refuses one that occurs twice.
  std::vector<int> axes(const std::vector<std::int64_t>& list, int rank) const;

  // --- the batch ---

  /// Refuses an axis that is the batch, or has it as a factor: `what` ("its maximum is taken over")
  /// would make samples interact.
  void require_no_batch(const Value& value, int axis, const std::string& what) const;

  // --- loops ---

  /// What the node repeats. Refuses a node in a function, where loops are not read.
  const Body& body() const;

  /// The values of the body's outputs, of its inputs'. A step.
  std::vector<Value> run_body(std::vector<Value> inputs) const;

  /// Refuses more steps than are taken: a file can ask for any number in a few bytes.
  void count_step() const;

  // --- results ---

  Graph& graph() const { return *recording_->graph; }

  /// Refuses more entries than are taken, before they are allocated; also sizes below 1.
  std::int64_t checked_size(const Axes& axes) const;

  /// Refuses more axes than are taken: what is done for each pair of them would take long.
  void require_rank(std::size_t rank) const;

  /// Refuses more parts of a tensor than a graph may have nodes.
  void require_parts(std::size_t num_parts) const;

  /// Refuses more moves of entries than are made: of what stays where it is the graph records
  /// nothing, and a loop can ask for any number of moves in a few bytes.
  void count_moves(std::int64_t num_entries) const;

  /// A tensor on the graph, computed now if it depends on constants alone. Refuses products of
  /// constants that would take long: a file can ask for them in a few bytes.
  Value result(Var var, Axes axes, ElementKind kind = ElementKind::kReal) const;

  Value known_result(Integers integers, Axes axes, ElementKind kind = ElementKind::kInteger) const;

  /// Refuses more tensors in sequences than are taken: loops may copy ever longer ones.
  Value sequence_result(std::vector<Value> tensors) const;

  /// Numbers that do not change, as a column.
  Var constant(std::span<const double> entries) const;

  Var constant(double number) const { return constant({&number, 1}); }

  /// The one value of a constant of one entry, if `value` is one.
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

/// "node 'X' (Op, opset 17)"; of a node without a name that of its first output.
std::string place_of(const Node& node, std::int64_t opset);

}  // namespace hesscope::onnx
