// SPDX-License-Identifier: BSD-3-Clause
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/analyzers/internal/jacobian_cost.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/analyzers/tangent_kernel.h>
#include <hesscope/core/error.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/linalg/singular_values.h>

namespace hesscope {
namespace {

const std::string kOfBlock =
    " of J_b J_b^T, where J_b is the Jacobian of all samples' predictions with respect to one "
    "tensor; for every tensor, whatever `tangent-tensors` names";

const std::string kSmallestInWords =
    "; 0 where its root is at most (max(rows, columns) + 10) eps times the root of the largest, as "
    "singular values that are only rounding are";

// Extreme eigenvalues of J J^T, the squares of J's singular values; 0 if J has no columns.
SingularEnds kernel_ends(const Eigen::MatrixXd& j) {
  if (j.cols() == 0) return {.status = Status::kOk, .smallest = 0, .largest = 0};
  SingularEnds ends = singular_ends(j);
  ends.smallest *= ends.smallest;
  ends.largest *= ends.largest;
  return ends;
}

class TangentKernelAnalyzer final : public Analyzer {
 public:
  explicit TangentKernelAnalyzer(std::string tensors) : tensors_(std::move(tensors)) {}

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    if (!objective.has_gauss_newton()) {
      throw ConfigError(
          "'tangent-kernel': this objective declares no prediction whose Jacobian it could have");
    }
    chosen(objective);
    return {};
  }

  Cost cost(const Objective& objective) const override {
    return detail::jacobian_cost(objective);  // for all tensors together and for each one
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    if (point.status() != Status::kOk) {
      answer.set_rest_missing(point.status());
      return answer;
    }
    const Objective& objective = point.objective();
    const Eigen::MatrixXd j = objective.prediction_jacobian(point.theta(), objective.all_samples());
    const auto blocks = objective.parameter_blocks();
    const std::vector<bool> is_chosen = chosen(objective);
    Eigen::MatrixXd of_chosen(j.rows(), 0);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (!is_chosen[b]) continue;
      of_chosen.conservativeResize(Eigen::NoChange, of_chosen.cols() + blocks[b].size);
      of_chosen.rightCols(blocks[b].size) = j.middleCols(blocks[b].offset, blocks[b].size);
    }
    const SingularEnds whole = kernel_ends(of_chosen);
    answer[lambda_min_].set(whole.smallest, whole.status);
    answer[lambda_max_].set(whole.largest, whole.status);
    Eigen::MatrixXd of_blocks(2, static_cast<Eigen::Index>(blocks.size()));
    Status status = Status::kOk;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const SingularEnds part = kernel_ends(j.middleCols(blocks[b].offset, blocks[b].size));
      of_blocks.col(static_cast<Eigen::Index>(b)) << part.smallest, part.largest;
      if (part.status != Status::kOk) status = part.status;
    }
    if (status == Status::kOk) {
      answer[block_lambda_min_].set(of_blocks.row(0).transpose());
      answer[block_lambda_max_].set(of_blocks.row(1).transpose());
    }
    answer.set_rest_missing(status);
    return answer;
  }

 private:
  std::vector<bool> chosen(const Objective& objective) const {
    try {
      return blocks_matching(objective.parameter_blocks(), std::span(&tensors_, 1));
    } catch (const ConfigError& error) {
      throw ConfigError(fmt::format("'tangent-tensors': {}", error.what()));
    }
  }

  std::string of_kernel() const {
    return " of J J^T, where J is the Jacobian of all samples' predictions with respect to the "
           "tensors named " +
           tensors_;
  }

  std::string tensors_;
  VariableId lambda_min_ =
      declare({.name = "lambda_min",
               .long_name = "smallest eigenvalue of the tangent kernel",
               .definition = "smallest eigenvalue" + of_kernel() + kSmallestInWords,
               .references = {papers::kJacot},
               .headline = 1});
  VariableId lambda_max_ = declare({.name = "lambda_max",
                                    .long_name = "largest eigenvalue of the tangent kernel",
                                    .definition = "largest eigenvalue" + of_kernel(),
                                    .references = {papers::kJacot},
                                    .headline = 2});
  VariableId block_lambda_min_ =
      declare({.name = "block_lambda_min",
               .dimensions = {"block"},
               .long_name = "smallest eigenvalue of a tensor's part in the tangent kernel",
               .definition = "smallest eigenvalue" + kOfBlock + kSmallestInWords,
               .references = {papers::kJacot}});
  VariableId block_lambda_max_ =
      declare({.name = "block_lambda_max",
               .dimensions = {"block"},
               .long_name = "largest eigenvalue of a tensor's part in the tangent kernel",
               .definition = "largest eigenvalue" + kOfBlock,
               .references = {papers::kJacot}});
};

}  // namespace

AnalyzerKind tangent_kernel_analyzer() {
  return {
      .name = "tangent-kernel",
      .question = "whether the parameters can move all predictions: extreme eigenvalues of J J^T",
      .by_default = false,
      .options = {{.name = "tangent-tensors",
                   .meaning = "the parameter tensors with respect to which J is taken; * and ? "
                              "stand for any characters, [QV] for Q or V",
                   .fallback = SettingValue(std::string("*"))}},
      .create = [](const Settings& settings) {
        return std::make_unique<TangentKernelAnalyzer>(settings.text("tangent-tensors"));
      }};
}

}  // namespace hesscope
