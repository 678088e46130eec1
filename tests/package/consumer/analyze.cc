// SPDX-License-Identifier: BSD-3-Clause
//
// The second example of README.md: an objective of one's own, analyzed and written for `hesscope
// plot`, `export` and `inspect`; then a kind of model and an analyzer of one's own. Takes the
// folder to write to.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/analysis/analysis.h>
#include <hesscope/analysis/analyze.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/core/error.h>
#include <hesscope/hesscope.h>
#include <hesscope/models/model_registry.h>
#include <hesscope/problem/problem.h>
#include <hesscope/tensors/checkpoint_file.h>

namespace fs = std::filesystem;

// The loss of sample i of a logistic regression.
struct LogisticLoss {
  Eigen::MatrixXd inputs;  // samples x parameters
  Eigen::VectorXd labels;  // +1 or -1

  template <typename T>
  T operator()(const Eigen::Matrix<T, Eigen::Dynamic, 1>& theta, Eigen::Index i) const {
    using std::exp, std::log1p;
    return log1p(exp(-labels(i) * inputs.row(i).dot(theta)));
  }
};

bool analyzes_an_objective(const fs::path& folder) {
  LogisticLoss loss{Eigen::MatrixXd(4, 2), Eigen::VectorXd(4)};
  loss.inputs << 1.0, 0.5, 1.0, -1.5, 1.0, 2.0, 1.0, -0.25;
  loss.labels << 1.0, -1.0, 1.0, -1.0;
  const Eigen::Vector2d x0(0.0, 0.0);
  const Eigen::Vector2d x1(0.1, 0.8);

  const auto objective = hesscope::make_objective(loss, 2, 4);
  const auto analysis =
      hesscope::analyze(objective, {{"start", x0}, {"end", x1}}, {"spectrum", "condition"});
  std::cout << analysis["end"].number("spectrum", "lambda_max") << '\n';
  analysis.write(folder / "curvature.h5");

  // At 0 all logistic losses have curvature 1/4 along their input.
  const Eigen::Matrix2d h = loss.inputs.transpose() * loss.inputs / 16.0;
  const double trace = analysis["start"].number("spectrum", "lambda_min") +
                       analysis["start"].number("spectrum", "lambda_max");
  return std::abs(trace - h.trace()) <= 1e-15 && analysis.is_conclusive();
}

// A kind of model: (w' x - y)^2, its parameters sized by the checkpoint.
hesscope::ModelKind least_squares() {
  return {.name = "least-squares",
          .build = [](const hesscope::ModelSources&, const hesscope::TensorShapes& checkpoint) {
            const auto& shape = checkpoint.at("weight", 1, "(inputs)");
            hesscope::ModelBuilder b("least-squares");
            const hesscope::Var w = b.parameter("weight", shape);
            const hesscope::Var x = b.array("inputs", shape);
            const hesscope::Var y = b.array("target", {});
            return b.finish(square(matmul_tn(w, x) - y));
          }};
}

// An analyzer: how steep the loss is.
class Slope final : public hesscope::Analyzer {
 public:
  hesscope::Group analyze(hesscope::PointAnalysis& point) const override {
    hesscope::Group answer = declared();
    answer[largest_].set(point.gradient().cwiseAbs().maxCoeff<Eigen::PropagateNaN>());
    return answer;
  }

 private:
  hesscope::VariableId largest_ = declare(
      {.name = "largest", .long_name = "largest slope", .definition = "max |g_i|", .headline = 1});
};

bool analyzes_an_own_model(const fs::path& folder) {
  hesscope::register_model_kind(least_squares());
  hesscope::register_analyzer(
      {.name = "slope",
       .question = "how steep the loss is",
       .by_default = false,
       .create = [](const hesscope::Settings&) { return std::make_unique<Slope>(); }});

  const std::vector<double> weight = {1.0, -1.0};
  const std::vector<double> inputs = {1.0, 2.0, 3.0, 4.0};
  const std::vector<double> target = {0.0, 1.0};
  hesscope::io::write_checkpoint(
      folder / "step-0.h5", {{{"weight", {2}, weight}}}, hesscope::io::Existing::kReplace);
  hesscope::io::write_checkpoint(folder / "data.h5",
                                 {{{"inputs", {2, 2}, inputs}, {"target", {2}, target}}},
                                 hesscope::io::Existing::kReplace);
  std::ofstream(folder / "own.toml")
      << "[model]\nkind = \"least-squares\"\n[data]\nfile = \"data.h5\"\n";

  hesscope::AnalysisRequest request;
  request.checkpoints = {{folder / "step-0.h5", 0}};
  request.problem = folder / "own.toml";
  request.output = folder / "own.h5";
  request.overwrite = hesscope::io::Overwrite::kOwnKind;
  request.only = {"slope"};
  const hesscope::AnalysisResult result = hesscope::run_analysis(request);
  // residuals -1 and -2; the gradient of their mean square is (-1 - 6, -2 - 8)
  return result.checkpoints.at(0).numbers.at(0).value == 10.0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    return analyzes_an_objective(argv[1]) && analyzes_an_own_model(argv[1]) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
