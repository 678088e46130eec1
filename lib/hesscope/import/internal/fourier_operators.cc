// SPDX-License-Identifier: BSD-3-Clause
//
// The discrete Fourier transform along an axis other than the batch. Complex numbers are pairs
// along the last axis; together with the transformed axis they form vectors that are multiplied by
// one constant matrix.
//
//   forwards      y_k = sum_t x_t exp(-2 pi i k t / n)
//   inverse       y_t = 1/n sum_k x_k exp(2 pi i k t / n)
//   of one side   forwards: real x, and k from 0 to n / 2. Inverse: x_k from 0 to n / 2 stand for
//                 their conjugates at n - k as well, and y is real.
//
// Definition: https://onnx.ai/onnx/operators/onnx__DFT.html.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include <hesscope/import/internal/composition.h>
#include <hesscope/import/internal/movement.h>
#include <hesscope/import/internal/operator_registry.h>

namespace hesscope::onnx {
namespace {

struct FourierTransform {
  std::int64_t n = 1;
  std::int64_t from = 1;        ///< entries along the axis; missing ones are 0
  std::int64_t from_parts = 1;  ///< 2 for complex numbers, 1 for real ones
  bool is_inverse = false;
  bool is_one_sided = false;

  std::int64_t num_frequencies() const { return is_one_sided ? n / 2 + 1 : n; }

  std::int64_t num_taken() const { return std::min(from, is_inverse ? num_frequencies() : n); }

  std::int64_t to() const { return is_inverse ? n : num_frequencies(); }

  std::int64_t to_parts() const { return is_inverse && is_one_sided ? 1 : 2; }
};

// exp(2 pi i turns / n); exact to the last bit if that is 1, i, -1 or -i.
std::complex<double> root_of_unity(std::int64_t turns, std::int64_t n) {
  const std::int64_t rest = turns % n;
  if (4 * rest % n == 0) {
    static constexpr std::array<double, 4> kCosines = {1, 0, -1, 0};
    const auto quarter = static_cast<std::size_t>(4 * rest / n);
    return {kCosines[quarter], kCosines[(quarter + 3) % 4]};
  }
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(rest) / static_cast<double>(n));
}

// The coefficient of entry `from` in entry `to`.
std::complex<double> coefficient(const FourierTransform& transform,
                                 std::int64_t to,
                                 std::int64_t from) {
  const std::complex<double> root = root_of_unity(to * from, transform.n);
  if (!transform.is_inverse) return std::conj(root);
  const bool is_own_conjugate = from == 0 || 2 * from == transform.n;
  const double weight = transform.is_one_sided && !is_own_conjugate ? 2 : 1;
  return weight / static_cast<double>(transform.n) * root;
}

// Rows are (entry, part) of the result, columns those of the signal.
Eigen::MatrixXd matrix_of(const FourierTransform& transform) {
  const std::int64_t to_parts = transform.to_parts();
  Eigen::MatrixXd matrix =
      Eigen::MatrixXd::Zero(transform.to() * to_parts, transform.from * transform.from_parts);
  for (std::int64_t from = 0; from < transform.num_taken(); ++from) {
    for (std::int64_t to = 0; to < transform.to(); ++to) {
      const std::complex<double> c = coefficient(transform, to, from);
      Eigen::Matrix2d product;
      product << c.real(), -c.imag(), c.imag(), c.real();
      matrix.block(to * to_parts, from * transform.from_parts, to_parts, transform.from_parts) =
          product.topLeftCorner(to_parts, transform.from_parts);
    }
  }
  return matrix;
}

// Neither the last axis nor the batch.
int transformed_axis(const OperatorCall& call, const Value& x) {
  const bool is_input = call.opset() >= 20;
  if (is_input ? call.has_attribute("axis") : call.has(2)) {
    call.refuse("the axis is an attribute before opset 20, and an input from there on");
  }
  const std::int64_t named = is_input ? call.known_scalar(2).value_or(-2) : call.integer("axis", 1);
  const int axis = call.axis(named, x.rank());
  if (axis == x.rank() - 1) {
    call.refuse("axis {} of {} is that of the parts of complex numbers", named, text(x.axes));
  }
  for (const int along : {axis, x.rank() - 1}) call.require_no_batch(x, along, "transforms");
  return axis;
}

FourierTransform transform_of(const OperatorCall& call, const Axis& axis, const Axis& parts) {
  FourierTransform transform{.from = axis.size,
                             .from_parts = parts.size,
                             .is_inverse = call.integer("inverse", 0) != 0,
                             .is_one_sided = call.integer("onesided", 0) != 0};
  if (transform.is_one_sided && (parts.size == 2) != transform.is_inverse) {
    call.refuse("onesided is of {} here, and the signal is of {}",
                transform.is_inverse ? "complex numbers" : "real numbers",
                parts.size == 2 ? "complex ones" : "real ones");
  }
  const bool is_half = transform.is_inverse && transform.is_one_sided;
  transform.n = call.known_scalar(1).value_or(is_half ? 2 * (axis.size - 1) : axis.size);
  if (transform.n < 1 || transform.n > kLargestLength) {
    call.refuse("a transform of {} entries is not of 1 to {}", transform.n, kLargestLength);
  }
  return transform;
}

Values lower_fourier_transform(const OperatorCall& call) {
  const Value x = call.real(0);
  if (x.rank() < 2 || x.axes.back().size > 2) {
    call.refuse("takes a tensor (..., 1) of real or (..., 2) of complex numbers, got {}",
                text(x.axes));
  }
  const int axis = transformed_axis(call, x);
  const FourierTransform transform =
      transform_of(call, x.axes[static_cast<std::size_t>(axis)], x.axes.back());
  const std::int64_t columns = transform.from * transform.from_parts;
  call.checked_size({{.size = transform.to() * transform.to_parts()}, {.size = columns}});

  const std::vector<int> order = order_with_last(x.rank(), std::array{axis, x.rank() - 1});
  Value y = transposed(call, x, order);
  y.axes.pop_back();
  y.axes.back().size = columns;
  y = multiplied_along(call, y, y.rank() - 1, matrix_of(transform));
  y.axes.back().size = transform.to();
  y.axes.push_back({.size = transform.to_parts()});
  return {transposed(call, y, inverse_order(order))};
}

}  // namespace

std::span<const Operator> fourier_operators() {
  static constexpr auto kOperators = std::to_array<Operator>({
      {"DFT", lower_fourier_transform, kSlopeOfFirst, 17},
  });
  return kOperators;
}

}  // namespace hesscope::onnx
