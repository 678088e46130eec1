// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/parse_number.h>
#include <hesscope/landscape/grid.h>

namespace hesscope {
namespace {

constexpr double kLargest = 1e100;
constexpr Eigen::Index kMostOfAnAxis = 100'000;
constexpr Eigen::Index kMostPoints = 100'000'000;

bool is_fine(double value) { return std::abs(value) <= kLargest; }

std::optional<Span> span_of(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto first = parse_number<double>(text.substr(0, colon));
  const auto last = parse_number<double>(text.substr(colon + 1));
  if (!first || !last || !is_fine(*first) || !is_fine(*last)) return std::nullopt;
  return Span{*first, *last};
}

Eigen::VectorXd axis_of(const char* name, Eigen::Index count, Span span, bool is_shared) {
  if (count > 1 && !(span.first < span.last)) {
    throw ConfigError(fmt::format("`span`: {} points of {} need a span that ascends, got {:g}:{:g}",
                                  count,
                                  name,
                                  span.first,
                                  span.last));
  }
  if (count == 1 && span.first != span.last) {
    if (!is_shared) {
      throw ConfigError(fmt::format(
          "`span`: `grid` asks for one point of {}, whose span is A:A (0:0 without one), got "
          "{:g}:{:g}",
          name,
          span.first,
          span.last));
    }
    span.first = 0;
  }
  Eigen::VectorXd axis = make_axis(count, span);
  if (first_out_of_order(axis)) {
    throw ConfigError(fmt::format(
        "`span`: {} points of {} from {} to {} do not differ in double precision; take fewer, or a "
        "wider span",
        count,
        name,
        span.first,
        span.last));
  }
  return axis;
}

void require_axis(std::string_view function, const char* name, const Eigen::VectorXd& axis) {
  if (axis.size() < 1) {
    throw PreconditionError(fmt::format("{}: an empty grid: {} has no point", function, name));
  }
  if (const auto bad = first_out_of_order(axis)) {
    throw PreconditionError(
        fmt::format("{}: the points of {} must be finite and ascend, but point {} is {}{}",
                    function,
                    name,
                    *bad,
                    axis[*bad],
                    *bad == 0 ? "" : fmt::format(", after {}", axis[*bad - 1])));
  }
}

}  // namespace

std::optional<Eigen::Index> first_out_of_order(const Eigen::Ref<const Eigen::VectorXd>& axis) {
  for (Eigen::Index i = 0; i < axis.size(); ++i) {
    if (!std::isfinite(axis[i]) || (i > 0 && !(axis[i - 1] < axis[i]))) return i;
  }
  return std::nullopt;
}

void require_grid(std::string_view function, const Grid& grid) {
  require_axis(function, "alpha", grid.alpha);
  require_axis(function, "beta", grid.beta);
}

Eigen::VectorXd make_axis(Eigen::Index count, Span span) {
  if (count < 1) throw PreconditionError(fmt::format("make_axis: {} points", count));
  if (!is_fine(span.first) || !is_fine(span.last) || (count > 1 && !(span.first < span.last))) {
    throw PreconditionError(fmt::format(
        "make_axis: expected ends that ascend and are within +-{:g}, found {:g} and {:g}",
        kLargest,
        span.first,
        span.last));
  }
  if (count == 1) return Eigen::VectorXd::Constant(1, span.first);
  Eigen::VectorXd axis(count);
  const auto steps = static_cast<double>(count - 1);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto after = static_cast<double>(i);
    axis[i] = ((steps - after) * span.first + after * span.last) / steps;
  }
  axis[0] = span.first;
  axis[count - 1] = span.last;
  return axis;
}

Grid parse_grid(const std::string& size, const std::string& span) {
  const std::size_t cross = size.find('x');
  const std::string_view view = size;
  const auto num_alpha = parse_number<Eigen::Index>(view.substr(0, cross));
  const auto num_beta =
      cross == std::string::npos ? num_alpha : parse_number<Eigen::Index>(view.substr(cross + 1));
  const auto is_count = [](const std::optional<Eigen::Index>& n) {
    return n && *n >= 1 && *n <= kMostOfAnAxis;
  };
  if (cross == std::string::npos || !is_count(num_alpha) || !is_count(num_beta) ||
      *num_alpha * *num_beta > kMostPoints) {
    throw ConfigError(
        fmt::format("`grid` must be NxM, each from 1 to {} and {} points at most, got '{}'",
                    kMostOfAnAxis,
                    kMostPoints,
                    size));
  }
  const std::size_t comma = span.find(',');
  const std::string_view spans = span;
  const bool is_shared = comma == std::string::npos;
  const std::optional<Span> first = span_of(spans.substr(0, comma));
  const std::optional<Span> second = is_shared ? first : span_of(spans.substr(comma + 1));
  if (!first || !second) {
    throw ConfigError(fmt::format(
        "`span` must be A:B or A:B,C:D with numbers within +-{:g}, got '{}'", kLargest, span));
  }
  return {axis_of("alpha", *num_alpha, *first, is_shared),
          axis_of("beta", *num_beta, *second, is_shared)};
}

}  // namespace hesscope
