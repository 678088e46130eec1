// SPDX-License-Identifier: BSD-3-Clause
#include <iostream>

#include <hesscope/analyzers/analysis.h>
#include <hesscope/core/error.h>

int main() {
  hesscope::AnalysisRequest request;
  request.checkpoints = {{"no-such-checkpoint.npz", {}}};
  request.problem = "no-such-problem.toml";
  request.output = "no-such-output.h5";
  try {
    hesscope::run_analysis(request);
  } catch (const hesscope::ConfigError& error) {
    std::cout << error.what() << '\n';
    return 0;
  }
  return 1;
}
