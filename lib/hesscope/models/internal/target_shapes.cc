// SPDX-License-Identifier: BSD-3-Clause
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/error.h>
#include <hesscope/models/internal/target_shapes.h>

namespace hesscope::detail {

Shape trimmed(Shape shape) {
  while (!shape.empty() && shape.back() == 1) shape.pop_back();
  return shape;
}

Shape target_shape(const TensorShapes& data, const std::string& target) {
  const Shape& all = data.at(target);
  return all.empty() ? Shape() : Shape(all.begin() + 1, all.end());
}

Eigen::Index volume_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), Eigen::Index{1}, std::multiplies<>());
}

[[noreturn]] void refuse_target(const TensorShapes& data,
                                const std::string& target,
                                const std::string& why) {
  throw InputError(fmt::format("{}: array '{}' {}", data.source, target, why));
}

std::string with_samples(const Shape& shape) {
  return fmt::format("({}{}{})", "samples", shape.empty() ? "" : ", ", fmt::join(shape, ", "));
}

Var number(ModelBuilder& builder, double value) {
  return builder.constant(Eigen::MatrixXd::Constant(1, 1, value));
}

}  // namespace hesscope::detail
