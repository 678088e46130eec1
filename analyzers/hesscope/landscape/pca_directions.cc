// SPDX-License-Identifier: BSD-3-Clause

#include <fmt/format.h>

#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/landscape/internal/direction_kinds.h>
#include <hesscope/landscape/internal/direction_tools.h>
#include <hesscope/linalg/singular_values.h>

namespace hesscope {
namespace {

std::vector<Variable> pca_quantities() {
  std::vector<Variable> quantities;
  for (const char* index : {"1", "2"}) {
    quantities.push_back(
        {.name = std::string("explained_") + index,
         .long_name = std::string("part of the trajectory along direction_") + index,
         .definition = "squared singular value over the sum of all squared singular values",
         .references = {papers::kLi2018}});
  }
  return quantities;
}

Directions make_pca(const DirectionContext& context) {
  const Eigen::VectorXd& last = context.checkpoints.back();
  Eigen::MatrixXd steps(last.size(), static_cast<Eigen::Index>(context.checkpoints.size()) - 1);
  for (Eigen::Index t = 0; t < steps.cols(); ++t) {
    steps.col(t) = context.checkpoints[static_cast<std::size_t>(t)] - last;
  }
  Directions result{.facts = {.variables = pca_quantities()}};
  if (!steps.allFinite()) {
    result.status = Status::kNonFinite;
    return result;
  }
  const SingularValues svd = thin_svd(steps);
  if (svd.status != Status::kOk) {
    result.status = svd.status;
    return result;
  }
  const Eigen::VectorXd& values = svd.values;
  const Eigen::Index count = context.needs_second ? 2 : 1;
  const double band = static_cast<double>(steps.size()) * kEpsilon;
  if (!(values[count - 1] > band * values[0])) {
    throw InputError(
        fmt::format("{}: the checkpoints {}, so they have no {} principal component",
                    context.files.back().path.string(),
                    values[0] > 0 ? "lie on a line within rounding" : "are all the same",
                    values[0] > 0 ? "second" : "first"));
  }
  result.columns = svd.left.leftCols(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    detail::fix_sign(result.columns.col(k));
    const double share = values[k] / detail::norm(values);
    result.facts[fmt::format("explained_{}", k + 1)].set(share * share);
  }
  return result;
}

PreparedDirections prepare_pca(const std::string& /*argument*/, const DirectionContext& context) {
  detail::require_two_parameters(context);
  for (std::size_t t = 0; t < context.checkpoints.size(); ++t) {
    if (context.checkpoints[t].allFinite()) continue;
    throw InputError(
        fmt::format("{}: the weights contain NaN or infinity, so there are no "
                    "principal components",
                    context.files[t].path.string()));
  }
  const auto what = [](const char* rank) {
    return fmt::format("{} right singular vector of the rows theta_t - theta_T, not centred", rank);
  };
  return {.descriptions = {what("first"), what("second")},
          .make = [&context] { return make_pca(context); }};
}

}  // namespace

DirectionKind pca_directions() {
  return {.name = "pca",
          .meaning = "principal components of theta_t - theta_T of the checkpoints given",
          .min_checkpoints = 3,
          .frames_trajectory = true,
          .quantities = pca_quantities(),
          .prepare = prepare_pca};
}

}  // namespace hesscope
