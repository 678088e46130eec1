// SPDX-License-Identifier: BSD-3-Clause
//
// hesscope itself, as its user calls it. `hesscope_peer --export FOLDER` writes the problems for
// peers that are not C++: NAME.json with the sizes, NAME.samples and NAME.theta as raw doubles.
#include <exception>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/version.h>

#include "peer.h"

namespace hesscope::bench {
namespace {

std::string options_json(const LinearAttentionLoss& loss, const Model& /*model*/) {
  const LinearAttentionOptions& o = loss.options;
  return fmt::format(
      R"("kind": "linear-attention", "layers": {}, "dimension": {}, "context": {}, "sparse": {})",
      o.layers,
      o.dimension,
      o.context,
      o.parametrization == LinearAttentionParametrization::kSparse);
}

std::string options_json(const MlpPeerLoss& loss, const Model& /*model*/) {
  return fmt::format(R"("kind": "mlp", "widths": [{}])", fmt::join(loss.options.widths, ", "));
}

// Includes the structure of theta and of a record.
std::string options_json(const TorchLoss& loss, const Model& model) {
  std::vector<std::string> parameters;
  for (const ParameterBlock& block : model.parameters) {
    parameters.push_back(fmt::format(R"(["{}", [{}]])", block.name, fmt::join(block.shape, ", ")));
  }
  std::vector<std::string> arrays;
  for (const DataArray& array : model.arrays) {
    const std::string_view content = array.content == DataArray::Content::kClass     ? "one-hot"
                                     : array.content == DataArray::Content::kInteger ? "integers"
                                                                                     : "numbers";
    arrays.push_back(fmt::format(
        R"({{"name": "{}", "shape": [{}], "content": "{}", "offset": {}, "width": {}}})",
        array.name,
        fmt::join(array.shape, ", "),
        content,
        array.offset,
        array.width));
  }
  return fmt::format(R"("kind": "module", "module": "{}", "parameters": [{}], "arrays": [{}])",
                     loss.module,
                     fmt::join(parameters, ", "),
                     fmt::join(arrays, ", "));
}

void export_problems(const std::string& folder) {
  for (const PeerProblem& peer_problem : peer_problems()) {
    const Problem problem = peer_problem.problem();
    const std::string path = folder + "/" + peer_problem.name;
    write_doubles(path + ".samples", problem.samples.data(), problem.samples.size());
    write_doubles(path + ".theta", problem.theta.data(), problem.theta.size());
    std::ofstream(path + ".json") << fmt::format(
        R"({{"name": "{}", {}, "num_samples": {}, "num_parameters": {}}})"
        "\n",
        peer_problem.name,
        std::visit([&](const auto& loss) { return options_json(loss, problem.model); },
                   peer_problem.loss),
        problem.samples.rows(),
        problem.theta.size());
  }
}

}  // namespace
}  // namespace hesscope::bench

int main(int argc, char** argv) {
  using namespace hesscope::bench;
  if (argc == 3 && std::string_view(argv[1]) == "--export") {
    try {
      export_problems(argv[2]);
      return 0;
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}\n", error.what());
      return 1;
    }
  }
  return run_peer(argc,
                  argv,
                  fmt::format("hesscope {}", hesscope::kVersion),
                  true,
                  [](const PeerProblem& /*peer_problem*/, const Problem& problem, int num_threads) {
                    const hesscope::GraphObjective objective(
                        problem.model, problem.samples, {.num_threads = num_threads});
                    return objective.hessian(problem.theta);
                  });
}
