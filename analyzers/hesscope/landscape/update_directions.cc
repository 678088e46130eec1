// SPDX-License-Identifier: BSD-3-Clause

#include <fmt/format.h>

#include <hesscope/core/internal/norms.h>
#include <hesscope/core/suggest.h>
#include <hesscope/landscape/internal/direction_kinds.h>
#include <hesscope/landscape/internal/direction_tools.h>

namespace hesscope {
namespace {

// An update without memory as a function of the gradient, up to its length.
struct Rule {
  const char* name;
  const char* words;
  Eigen::VectorXd (*step)(const Eigen::VectorXd& gradient);
};

const Rule kUpdateRules[] = {
    {"gradient", "the gradient", [](const Eigen::VectorXd& g) -> Eigen::VectorXd { return -g; }},
    {"sign",
     "the sign of the gradient",
     [](const Eigen::VectorXd& g) -> Eigen::VectorXd { return -g.cwiseSign(); }},
};

// The gradient without what may be rounding. This is computed without the Hessian, for which a
// landscape may have no other use.
Eigen::VectorXd gradient_at(PointAnalysis& centre) {
  PointAnalysis free(centre.objective(), centre.theta(), {.method = SpectrumMethod::kMatrixFree});
  return free.gradient_without_rounding();
}

const Rule& find_rule(const std::string& argument) {
  return find_named(kUpdateRules, argument, "rule of directions update");
}

Directions make_update(const DirectionContext& context, const Rule& rule) {
  Directions result;
  if (context.centre.status() != Status::kOk) {
    result.status = context.centre.status();
    return result;
  }
  const Eigen::VectorXd step = rule.step(gradient_at(context.centre));
  result.columns = detail::with_orthogonal(context, detail::normalized(step));
  return result;
}

PreparedDirections prepare_update(const std::string& argument, const DirectionContext& context) {
  detail::require_two_parameters(context);
  const Rule& rule = find_rule(argument);
  return {.descriptions = {fmt::format("unit vector against {} at the centre", rule.words),
                           "random unit vector orthogonal to direction_1"},
          .make = [&context, &rule] { return make_update(context, rule); }};
}

}  // namespace

DirectionKind update_directions() {
  return {.name = "update",
          .argument = "gradient|sign",
          .meaning =
              "the step of an optimiser without memory, as a unit vector; for a plane, the second "
              "is random",
          .prepare = prepare_update,
          .check = [](const std::string& argument, bool /*needs_second*/) { find_rule(argument); }};
}

}  // namespace hesscope
