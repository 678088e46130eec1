// SPDX-License-Identifier: BSD-3-Clause
//
// ONNX's own tests of its operators: on constants, which are folded while the graph is imported,
// and on parameters, which the recorded graph is evaluated on.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hesscope/autodiff/graph.h>
#include <hesscope/autodiff/sweep.h>
#include <hesscope/import/importer.h>
#include <hesscope/onnx/onnx_file.h>
#include <hesscope/tensors/tensor_file.h>

#include "support/files.h"
#include "support/refusal.h"

namespace hesscope::onnx {
namespace {

// Tests of what is refused, with the reason.
const std::map<std::string, std::string> kRefused = {
    // Samples would interact.
    {"batchnorm_example_training_mode", "is in training mode"},
    // Random, but for a ratio of zero.
    {"training_dropout", "drops out at random"},
    {"training_dropout_default", "drops out at random"},
    {"training_dropout_default_mask", "drops out at random"},
    // The largest entries' places.
    {"maxpool_with_argmax_2d_precomputed_pads",
     "its output 2 is not supported, and the model's output needs it as 'z'"},
};

const io::TensorFile& archive() {
  static const io::TensorFile file =
      io::open_tensor_file(test::fixtures() / "onnx-node-tests" / "node-tests.npz");
  return file;
}

std::vector<std::string> test_names() {
  std::vector<std::string> names;
  for (const io::TensorInfo& tensor : archive().tensors()) {
    if (tensor.name.ends_with("/model"))
      names.push_back(tensor.name.substr(0, tensor.name.size() - 6));
  }
  return names;
}

std::vector<std::int64_t> shape_of(const std::string& name) {
  const io::TensorInfo* found = archive().find(name);
  if (found == nullptr) throw std::runtime_error("no " + name);
  return found->shape;
}

// One test: its model, and what goes in and comes out.
class NodeTest : public testing::TestWithParam<std::string> {
 protected:
  OnnxFile model() const {
    const std::vector<double> numbers = archive().read(GetParam() + "/model");
    std::string bytes;
    for (const double byte : numbers) bytes.push_back(static_cast<char>(byte));
    const test::ScratchFolder folder;
    test::write_bytes(folder / "model.onnx", bytes);
    return read_onnx_file(folder / "model.onnx");
  }

  // The values of the graph's inputs: all constants, or those that a derivative of the output may
  // reach as parameters, which then stand in theta.
  std::map<std::string, Value> inputs(const OnnxFile& file,
                                      const std::string& output,
                                      Graph& graph,
                                      std::vector<double>* theta) const {
    const std::set<std::string> with_slopes = dependencies_of(file, output).with_slopes;
    std::map<std::string, Value> values;
    for (std::size_t i = 0; i < file.inputs.size(); ++i) {
      const ValueInfo& input = file.inputs[i];
      const std::string name = GetParam() + "/input_" + std::to_string(i);
      const std::vector<double> numbers = archive().read(name);
      Tensor tensor;
      tensor.name = input.name;
      tensor.kind = input.kind;
      tensor.shape = shape_of(name);
      const bool is_real = input.kind == ElementKind::kReal;
      if (is_real && theta != nullptr && !numbers.empty() && with_slopes.contains(input.name)) {
        const auto size = static_cast<Eigen::Index>(numbers.size());
        const Var var = graph.parameter(static_cast<Eigen::Index>(theta->size()), size, 1);
        theta->insert(theta->end(), numbers.begin(), numbers.end());
        values[input.name] = {.axes = plain_axes(tensor.shape), .var = var};
        continue;
      }
      if (is_real) {
        tensor.reals = numbers;
      } else {
        tensor.integers.assign(numbers.begin(), numbers.end());
      }
      values[input.name] = constant_value(file, tensor, graph);
    }
    return values;
  }

  static std::vector<double> numbers_of(const Value& value,
                                        Graph& graph,
                                        std::vector<double> theta) {
    if (value.is_known()) return {value.integers->base.begin(), value.integers->base.end()};
    const auto constant = graph.constant_value(*value.var);
    if (!constant.empty()) return {constant.begin(), constant.end()};
    graph.set_prediction(*value.var);
    graph.set_output(sum(*value.var));
    theta.resize(static_cast<std::size_t>(graph.num_parameters()));
    std::vector<double> result(static_cast<std::size_t>(value.size()));
    Sweep::create(graph)->predictions(theta, {.data = nullptr, .count = 1, .stride = 0}, result);
    return result;
  }

  void expect_output(std::size_t k, const Value& value, const std::vector<double>& got) const {
    const std::string name = GetParam() + "/output_" + std::to_string(k);
    const std::vector<double> expected = archive().read(name);
    ASSERT_EQ(sizes_of(value.axes), shape_of(name));
    ASSERT_EQ(got.size(), expected.size());
    std::size_t wrong = 0;
    for (std::size_t e = 0; e < got.size(); ++e) {
      const bool agrees = (std::isnan(got[e]) && std::isnan(expected[e])) ||
                          got[e] == expected[e] ||
                          std::abs(got[e] - expected[e]) <= 1e-7 + 1e-3 * std::abs(expected[e]);
      if (!agrees && ++wrong == 1) {
        ADD_FAILURE() << "entry " << e << " of output " << k << " is " << got[e] << ", expected "
                      << expected[e];
      }
    }
  }

  void run(bool on_parameters) const {
    const OnnxFile file = model();
    const std::vector<std::string> outputs = output_names(file);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      Graph graph;
      std::vector<double> theta;
      const auto given = inputs(file, outputs[k], graph, on_parameters ? &theta : nullptr);
      const Value value = import_output(file, dependencies_of(file, outputs[k]), graph, given);
      if (!on_parameters && !value.is_known()) {
        EXPECT_FALSE(graph.constant_value(*value.var).empty()) << "is not folded";
      }
      expect_output(k, value, numbers_of(value, graph, theta));
    }
  }

  void expect_agreement(bool on_parameters) const {
    const auto refused = kRefused.find(GetParam());
    if (refused == kRefused.end()) {
      run(on_parameters);
    } else {
      test::expect_refusal<InputError>([&] { run(on_parameters); }, refused->second);
    }
  }
};

TEST_P(NodeTest, AgreesOnConstants) { expect_agreement(false); }

TEST_P(NodeTest, AgreesOnParameters) { expect_agreement(true); }

std::string plain_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Onnx, NodeTest, testing::ValuesIn(test_names()), plain_name);

TEST(NodeTests, AreThereAndRefusedByName) {
  const std::vector<std::string> names = test_names();
  EXPECT_EQ(names.size(), 500);
  for (const auto& [name, reason] : kRefused) {
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
  }
}

}  // namespace
}  // namespace hesscope::onnx
