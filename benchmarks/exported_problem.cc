// SPDX-License-Identifier: BSD-3-Clause
#include "exported_problem.h"

#include <filesystem>
#include <map>

#include <hesscope/models/model_registry.h>
#include <hesscope/objective/sample_table.h>
#include <hesscope/problem/problem.h>
#include <hesscope/tensors/tensor_file.h>

#include "random.h"

namespace hesscope::bench {
namespace {

std::vector<double> random_values(const RandomArray& array,
                                  Eigen::Index num_samples,
                                  Random& random) {
  auto size = static_cast<std::size_t>(num_samples);
  for (const std::int64_t extent : array.shape) size *= static_cast<std::size_t>(extent);
  std::vector<double> values(size);
  for (double& value : values) {
    value = array.count > 0 ? static_cast<double>(random.below(array.count)) : random.normal();
  }
  return values;
}

}  // namespace

Problem exported_problem(const std::string& name,
                         const std::vector<RandomArray>& arrays,
                         Eigen::Index num_samples) {
  std::map<std::string, std::vector<double>> values;
  TensorShapes data;
  data.source = "the random data of " + name;
  Random random(kDataSeed);
  for (const RandomArray& array : arrays) {
    values[array.name] = random_values(array, num_samples, random);
    std::vector<std::int64_t> shape = {num_samples};
    shape.insert(shape.end(), array.shape.begin(), array.shape.end());
    data.shapes[array.name] = shape;
    data.types[array.name] = array.count > 0 ? io::ElementType::kInt64 : io::ElementType::kFloat64;
  }
  const auto read = [&](const std::string& array) { return values.at(array); };

  const std::filesystem::path folder = HESSCOPE_BENCH_MODELS;
  const std::string file = name + ".onnx";
  const io::TensorFile checkpoint = io::open_tensor_file(folder / file);
  const ModelKind& kind = *find_model_kind("onnx");
  const Settings settings =
      Settings::checked({{"file", file}, {"loss", std::string("cross-entropy")}}, kind.keys, name);
  Problem problem{.model = kind.build({.settings = settings, .data = data, .folder = folder},
                                      parameter_shapes_of(checkpoint)),
                  .samples = {},
                  .theta = {}};
  problem.samples = make_sample_table(problem.model, num_samples, read, data.source);
  problem.theta = read_parameters(problem.model, checkpoint);
  return problem;
}

}  // namespace hesscope::bench
