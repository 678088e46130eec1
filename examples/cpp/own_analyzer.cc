// SPDX-License-Identifier: BSD-3-Clause
//
// An analyzer of one's own: a question about a point, answered as a group of the result.
#include <cmath>
#include <iostream>
#include <memory>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <hesscope/analysis/analyze.h>
#include <hesscope/analyzers/analyzer_registry.h>
#include <hesscope/hesscope.h>

// [analyzer]
// How far a Newton step goes, and how much of the loss it should take away.
class NewtonStep final : public hesscope::Analyzer {
 public:
  Cost cost(const hesscope::Objective&) const override { return {.asks_hessian = true}; }

  hesscope::Group analyze(hesscope::PointAnalysis& point) const override {
    hesscope::Group answer = declared();
    const Eigen::MatrixXd* h = point.hessian();  // computed once for all analyzers
    if (h == nullptr) {
      answer.set_rest_missing(point.hessian_status());
      return answer;
    }
    const Eigen::LDLT<Eigen::MatrixXd> factors(*h);
    if (!factors.isPositive()) {
      answer.set_rest_missing(hesscope::Status::kUndefinedNotPositiveDefinite);
      return answer;
    }
    const Eigen::VectorXd step = -factors.solve(point.gradient());
    answer[length_].set(step.norm());
    answer[decrement_].set(-point.gradient().dot(step) / 2);
    return answer;
  }

 private:
  hesscope::VariableId length_ =
      declare({.name = "length",
               .long_name = "length of a Newton step",
               .definition = "|H^-1 g|",
               .undefined = {hesscope::Status::kUndefinedNotPositiveDefinite},
               .headline = 1});
  hesscope::VariableId decrement_ =
      declare({.name = "decrement",
               .long_name = "decrease of the loss that a Newton step promises",
               .definition = "g^T H^-1 g / 2",
               .undefined = {hesscope::Status::kUndefinedNotPositiveDefinite},
               .headline = 2});
};

hesscope::AnalyzerKind newton_step() {
  return {.name = "newton",
          .question = "how far a Newton step goes",
          .create = [](const hesscope::Settings&) { return std::make_unique<NewtonStep>(); }};
}

// [analyzer]

int main() {
  // [run]
  hesscope::register_analyzer(newton_step());

  const auto bowl = [](const auto& x, Eigen::Index) {
    return 2.0 * x(0) * x(0) + 0.5 * x(1) * x(1);
  };
  const auto analysis = hesscope::analyze(
      hesscope::make_objective(bowl, 2, 1), {{"start", Eigen::Vector2d(3, 4)}}, {"newton"});
  std::cout << analysis["start"].number("newton", "length") << '\n';  // 5
  // [run]

  // A quadratic function is at its minimum, 0, after one step.
  const double decrement = analysis["start"].number("newton", "decrement");
  return std::abs(decrement - (2.0 * 9 + 0.5 * 16)) <= 1e-12 ? 0 : 1;
}
