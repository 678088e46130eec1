// SPDX-License-Identifier: BSD-3-Clause
//
// One ONNX node, imported on a graph of its own:
//
//   OperatorFixture op("Conv");
//   op.with("strides", {2, 2}).data({3, 8, 8}).parameter({4, 3, 2, 2});
//   EXPECT_EQ(text(op.result().axes), "(N, 4, 4, 4)");
//   expect_computes(op, [](const auto& theta, const double* record) { ... return entries; });
//
// The result is compared with plain loops written in the test: values in doubles, derivatives by
// central differences of those loops on 50-digit numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>
#include <gtest/gtest.h>

#include <hesscope/import/importer.h>
#include <hesscope/import/internal/operator_registry.h>

#include "support/loss_oracle.h"
#include "support/refusal.h"

namespace hesscope::test {

class OperatorFixture {
 public:
  using Shape = std::vector<std::int64_t>;

  explicit OperatorFixture(std::string op, std::int64_t opset = 17)
      : opset_(opset),
        recording_{.source = "model.onnx", .graph = &graph_, .folder = ConstantFolder(graph_)} {
    node_.name = "it";
    node_.op = std::move(op);
    node_.outputs = {"y"};
  }

  OperatorFixture(const OperatorFixture&) = delete;
  OperatorFixture& operator=(const OperatorFixture&) = delete;

  OperatorFixture& limited(const onnx::ImportLimits& limits) {
    recording_.limits = limits;
    return *this;
  }

  // --- attributes ---

  OperatorFixture& with(std::string name, int value) {
    return attribute(std::move(name), std::int64_t{value});
  }

  OperatorFixture& with(std::string name, double value) {
    return attribute(std::move(name), value);
  }

  OperatorFixture& with(std::string name, const char* value) {
    return attribute(std::move(name), std::string(value));
  }

  OperatorFixture& with(std::string name, std::initializer_list<std::int64_t> value) {
    return attribute(std::move(name), std::vector<std::int64_t>(value));
  }

  OperatorFixture& with(std::string name, std::vector<double> value) {
    return attribute(std::move(name), std::move(value));
  }

  OperatorFixture& with(std::string name, std::vector<std::string> value) {
    return attribute(std::move(name), std::move(value));
  }

  OperatorFixture& with(std::string name, onnx::Tensor value) {
    return attribute(std::move(name), std::make_shared<const onnx::Tensor>(std::move(value)));
  }

  OperatorFixture& outputs(std::vector<std::string> names) {
    node_.outputs = std::move(names);
    return *this;
  }

  // --- inputs, in their order ---

  /// The next entries of theta.
  OperatorFixture& parameter(const Shape& shape) {
    return add(graph_.parameter(graph_.num_parameters(), size_of(shape), 1),
               onnx::plain_axes(shape));
  }

  /// The next entries of a sample's record, with the batch in front: (N, shape).
  OperatorFixture& data(const Shape& shape) {
    onnx::Axes axes = onnx::plain_axes(shape);
    axes.insert(axes.begin(), onnx::kBatchAxis);
    return data_with_axes(std::move(axes));
  }

  /// The same with the batch on any axis.
  OperatorFixture& data_with_axes(onnx::Axes axes) {
    const Var entries = graph_.input(graph_.record_size(), onnx::size_of(axes), 1);
    return add(entries, std::move(axes));
  }

  OperatorFixture& numbers(const Shape& shape, const std::vector<double>& entries) {
    return add(graph_.constant(entries, static_cast<Eigen::Index>(entries.size()), 1),
               onnx::plain_axes(shape));
  }

  /// Known integers, base + per_sample N for each entry.
  OperatorFixture& integers(const Shape& shape,
                            std::vector<std::int64_t> base,
                            std::vector<std::int64_t> per_sample = {}) {
    const onnx::Integers known{.base = std::move(base), .per_sample = std::move(per_sample)};
    inputs_.push_back(onnx::Value{.kind = onnx::ElementKind::kInteger,
                                  .axes = onnx::plain_axes(shape),
                                  .integers = std::make_shared<const onnx::Integers>(known)});
    return *this;
  }

  OperatorFixture& value(onnx::Value value) {
    inputs_.emplace_back(std::move(value));
    return *this;
  }

  OperatorFixture& left_out() {
    inputs_.emplace_back();
    return *this;
  }

  /// Another node on the same graph, without inputs and attributes.
  OperatorFixture& then(std::string op) {
    node_.op = std::move(op);
    node_.attributes.clear();
    inputs_.clear();
    return *this;
  }

  // --- results ---

  onnx::Values results() {
    const onnx::Operator* found = onnx::find_operator(node_.op);
    if (found == nullptr) throw InputError(node_.op + " is not known");
    std::vector<const onnx::Value*> inputs;
    for (const auto& input : inputs_) inputs.push_back(input ? &*input : nullptr);
    return found->lower(onnx::OperatorCall(node_, opset_, inputs, recording_));
  }

  onnx::Value result() { return results().front(); }

  Graph& graph() { return graph_; }

 private:
  static std::int64_t size_of(const Shape& shape) { return onnx::size_of(onnx::plain_axes(shape)); }

  OperatorFixture& add(Var var, onnx::Axes axes) {
    inputs_.push_back(onnx::Value{.axes = std::move(axes), .var = var});
    return *this;
  }

  template <typename T>
  OperatorFixture& attribute(std::string name, T value) {
    node_.attributes.push_back({.name = std::move(name), .value = std::move(value)});
    return *this;
  }

  Graph graph_;
  std::int64_t opset_;
  onnx::Node node_;
  std::vector<std::optional<onnx::Value>> inputs_;
  onnx::Recording recording_;
};

/// Expects that the operator refuses its inputs with a message that contains `why`.
inline void expect_refused(OperatorFixture& op, const std::string& why) {
  expect_refusal<InputError>([&] { op.results(); }, why);
}

/// sum_e c_e z_e + z_e^2 / 2 over the entries z of a reference: it has a gradient and a Hessian
/// wherever z has them.
template <typename Reference>
struct LossOfEntries {
  Reference reference;

  static double weight(std::size_t e) { return 0.5 + 0.25 * static_cast<double>(e % 7); }

  template <typename T>
  T operator()(const Column<T>& theta, const double* record) const {
    T total(0.0);
    const std::vector<T> z = reference(theta, record);
    for (std::size_t e = 0; e < z.size(); ++e) total += T(weight(e)) * z[e] + z[e] * z[e] / T(2.0);
    return total;
  }
};

/// Compares a result, for random parameters and samples, with reference(theta, record): its entries
/// in doubles, and the derivatives of a loss of them.
/// @param reference  std::vector<T> of a Column<T> theta and a sample's record, for any scalar T.
/// @param tolerance  relative to 1 + the largest entry, or to the norm of a derivative.
template <typename Reference>
void expect_computes(OperatorFixture& op,
                     const onnx::Value& result,
                     const Reference& reference,
                     double tolerance = 1e-13) {
  using Loss = LossOfEntries<Reference>;
  Graph& g = op.graph();
  const auto size = static_cast<Eigen::Index>(result.size());
  std::vector<double> weights;
  for (std::size_t e = 0; e < static_cast<std::size_t>(size); ++e)
    weights.push_back(Loss::weight(e));
  const Var z = reshape(*result.var, size, 1);
  g.set_prediction(z);
  g.set_output(sum(hadamard(g.constant(weights, size, 1), z) + 0.5 * square(z)));

  const Eigen::VectorXd theta = Numbers(1).vector(g.num_parameters());
  const SampleTable samples = Numbers(2).table(3, g.record_size());
  std::vector<double> entries(static_cast<std::size_t>(size * samples.rows()));
  Sweep::create(g)->predictions(span_of(theta), records_of(samples), entries);
  for (Eigen::Index i = 0; i < samples.rows(); ++i) {
    const std::vector<double> expected = reference(theta, samples.row(i).data());
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(size));
    expect_close(Eigen::Map<const Eigen::VectorXd>(entries.data() + i * size, size),
                 Eigen::Map<const Eigen::VectorXd>(expected.data(), size),
                 tolerance,
                 "entries");
  }
  if (theta.size() == 0) return;
  expect_near(from_sweep(g, theta, samples),
              by_fifty_digits(MeanLoss{Loss{reference}, samples}, theta),
              tolerance,
              "50 digits");
}

}  // namespace hesscope::test
