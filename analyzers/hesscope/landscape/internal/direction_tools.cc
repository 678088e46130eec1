// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/core/internal/random_numbers.h>
#include <hesscope/landscape/internal/direction_tools.h>

namespace hesscope::detail {

Eigen::VectorXd DirectionSource::normal(Eigen::Index n) { return standard_normal(n, 1, engine_); }

Eigen::VectorXd DirectionSource::orthogonal_to(const Eigen::Ref<const Eigen::VectorXd>& d) {
  const double norm = detail::norm(d);
  const Eigen::VectorXd unit = d / norm;
  Eigen::VectorXd other = normal(d.size());
  // Twice: the second projection removes the rounding that the first one leaves.
  for (int pass = 0; pass < 2; ++pass) other -= other.dot(unit) * unit;
  return other * (norm / other.norm());
}

void normalize(const ParameterBlock& block,
               const Eigen::Ref<const Eigen::VectorXd>& theta,
               Normalization normalization,
               bool leaves_out_vectors,
               Eigen::VectorXd& direction) {
  const auto scale = [&](Eigen::Index first, Eigen::Index size) {
    const double norm = detail::norm(theta.segment(first, size));
    direction.segment(first, size) *= norm / direction.segment(first, size).norm();
  };
  if (block.size == 0) return;
  const bool is_vector = block.shape.size() <= 1;
  if (is_vector && leaves_out_vectors) {
    direction.segment(block.offset, block.size).setZero();
  } else if (normalization == Normalization::kLayer ||
             (normalization == Normalization::kFilter && is_vector)) {
    scale(block.offset, block.size);
  } else if (normalization == Normalization::kFilter) {
    const Eigen::Index num_slices = block.shape[0];
    const Eigen::Index size = block.size / num_slices;
    for (Eigen::Index i = 0; i < num_slices; ++i) scale(block.offset + i * size, size);
  }
}

std::string description_of(Normalization normalization, bool leaves_out_vectors) {
  std::string text = "normal numbers";
  if (normalization == Normalization::kFilter) {
    text +=
        ", every slice of a tensor along its first dimension scaled to the norm of the same slice "
        "of the centre's weights (Li et al. 2018)";
    if (!leaves_out_vectors) text += ", tensors of rank 0 and 1 as a whole";
  } else if (normalization == Normalization::kLayer) {
    text += ", every tensor scaled to the norm of the same tensor of the centre's weights";
  }
  if (leaves_out_vectors) text += ", zero in tensors of rank 0 and 1";
  return text;
}

void fix_sign(Eigen::Ref<Eigen::VectorXd> v) {
  Eigen::Index largest = 0;
  v.cwiseAbs().maxCoeff(&largest);
  if (v[largest] < 0) v = -v;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    parts.push_back(text.substr(first, comma - first));
    first = comma + 1;
  }
  return parts;
}

std::vector<std::string> argument_parts(const std::string& argument,
                                        bool needs_second,
                                        const ArgumentForm& form) {
  std::vector<std::string> parts = split_at_commas(argument);
  if (parts.size() > 2 || (parts.size() < 2 && needs_second)) {
    throw ConfigError(fmt::format("`directions` {}: {} wanted, got '{}'",
                                  form.kind,
                                  needs_second ? fmt::format("two {}s {}", form.part, form.two)
                                               : fmt::format("one {}, or two,", form.part),
                                  argument));
  }
  return parts;
}

void require_two_parameters(const DirectionContext& context) {
  if (context.needs_second && context.centre.theta().size() < 2) {
    throw ConfigError(
        "`grid`: the model has one parameter, so there is no second direction; ask for Nx1");
  }
}

Eigen::MatrixXd columns_of(const Eigen::VectorXd& first, const Eigen::VectorXd* second) {
  Eigen::MatrixXd columns(first.size(), second == nullptr ? 1 : 2);
  columns.col(0) = first;
  if (second != nullptr) columns.col(1) = *second;
  return columns;
}

Eigen::MatrixXd with_orthogonal(const DirectionContext& context, const Eigen::VectorXd& first) {
  // No second direction: the caller refuses a first direction that is zero or not finite.
  if (!context.needs_second || !first.allFinite() || first.isZero(0)) {
    return columns_of(first, nullptr);
  }
  const Eigen::VectorXd second = DirectionSource(context.seed).orthogonal_to(first);
  return columns_of(first, &second);
}

}  // namespace hesscope::detail
