// SPDX-License-Identifier: BSD-3-Clause
//
// Many variables: a Jet that carries no derivatives but records how it was computed.
//
// A Jet<2, N> computes N^2 / 2 second derivatives in every operation. From about ten variables on
// it is cheaper to record the function once, as a list of operations with their partial
// derivatives, and then to traverse this list. Let w be a step and a, b its arguments; w. denotes
// the derivative of w along a direction, and w- the derivative of the result y with respect to w:
//
//   forward, from the variables on   w. = f_a a. + f_b b.
//   backward, from y on              a- += f_a w-
//                                    a-. += f_a w-. + w- (f_aa a. + f_ab b.)      likewise b
//
// Afterwards the w- of the variables are the gradient, and their w-. the Hessian times the
// direction, for eight directions at a time; n unit directions give the columns of the Hessian
// (forward over reverse). A primitive of jet_functions.h only supplies partials and so works with
// this Jet like with any other.
//
// For a block of unit directions, steps whose terms are all zero are skipped: those that depend on
// no variable of the block and that nothing so far depends on. Also skipped are steps that depend
// on no variable from the block's first on, since only the rows from the diagonal down are needed.
#pragma once

#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <hesscope/autodiff/jet.h>
#include <hesscope/core/eigen.h>

namespace hesscope {
namespace detail {

// The steps of a function of n variables at a point, in the order in which they were computed.
class JetTape {
 public:
  using Index = std::int32_t;
  static constexpr Index kNone = -1;

  // 2^20 steps take 56 MiB, and 130 MiB when traversed. A longer function is not recorded.
  static constexpr std::size_t kMaxSteps = std::size_t{1} << 20;

  explicit JetTape(Eigen::Index num_variables) : num_variables_(num_variables) {
    const std::size_t usual = 16 * static_cast<std::size_t>(num_variables);
    steps_.reserve(usual < kMaxSteps ? usual : kMaxSteps);
    for (Index i = 0; i < num_variables; ++i) steps_.push_back({.begin = i, .end = i + 1});
  }

  // Records w = f(a); returns the step, or kNone if the tape is full.
  Index unary(Index a, double f_a, double f_aa) {
    const Step& from = at(a);
    return record({.a = a, .begin = from.begin, .end = from.end, .f_a = f_a, .f_aa = f_aa});
  }

  // Records w = f(a, b).
  Index binary(Index a, Index b, double f_a, double f_b, double f_aa, double f_ab, double f_bb) {
    const Step& from_a = at(a);
    const Step& from_b = at(b);
    return record({.a = a,
                   .b = b,
                   .begin = from_a.begin < from_b.begin ? from_a.begin : from_b.begin,
                   .end = from_a.end > from_b.end ? from_a.end : from_b.end,
                   .f_a = f_a,
                   .f_b = f_b,
                   .f_aa = f_aa,
                   .f_ab = f_ab,
                   .f_bb = f_bb});
  }

  // Resets the tape to the variables alone.
  void clear() {
    steps_.resize(static_cast<std::size_t>(num_variables_));
    is_complete_ = true;
  }

  // Writes the gradient of step `output` (kNone: a constant), n numbers, and, unless `hessian` is
  // null, its n x n Hessian. Returns whether every step was recorded and all numbers are finite.
  // Non-finite partials always make a result non-finite; the rules of jet.h for such partials have
  // then not been applied.
  bool differentiate(Index output, double* gradient, double* hessian) const;

  // Directions that are processed together.
  static constexpr Index kWidth = 8;

  // Adds rows first <= i < n of columns [first, first + kWidth) of the Hessian of step `output`, on
  // and below the diagonal: H(i, first + k) goes to out[(i - first) * kWidth + k]. Returns the same
  // as differentiate.
  bool add_hessian_columns(Index output, Index first, double* out) const;

  // Adds the Hessian of step `output` times up to kWidth directions, n x k, to `out`, n x k numbers
  // column by column. Returns the same as differentiate.
  bool add_hessian_times(Index output,
                         const Eigen::Ref<const Eigen::MatrixXd>& directions,
                         double* out) const;

 private:
  struct Step {
    Index a = kNone;  // kNone for a variable
    Index b = kNone;  // kNone if there is no second argument
    Index begin = 0;  // the step depends only on variables in [begin, end)
    Index end = 0;
    double f_a = 0.0;
    double f_b = 0.0;
    double f_aa = 0.0;
    double f_ab = 0.0;
    double f_bb = 0.0;
  };

  class Replay;

  const Step& at(Index i) const { return steps_[static_cast<std::size_t>(i)]; }

  Index record(const Step& step) {
    if (steps_.size() >= kMaxSteps) {
      is_complete_ = false;
      return kNone;
    }
    steps_.push_back(step);
    return static_cast<Index>(steps_.size() - 1);
  }

  Eigen::Index num_variables_;
  std::vector<Step> steps_;
  bool is_complete_ = true;
};

}  // namespace detail

/// A Jet in any number of variables: its value, and its step on a tape. It behaves as jet.h
/// describes, but its derivatives are not members: they are read off the tape at the end.
template <>
class Jet<2, Eigen::Dynamic, Eigen::Dynamic> {
 public:
  static constexpr int kOrder = 2;
  static constexpr int kNumVariables = Eigen::Dynamic;

  double value;

  /// A constant.
  // NOLINTNEXTLINE(google-explicit-constructor): mixes with T
  Jet(double constant = 0.0) : value(constant) {}

  /// Variable number `index` of the tape, with value `at`.
  Jet(double at, detail::JetTape& tape, Eigen::Index index)
      : value(at), step_(static_cast<Step>(index)), tape_(&tape) {}

  detail::JetTape::Index step() const { return step_; }

  bool is_constant() const { return step_ == detail::JetTape::kNone; }

  struct Partials {
    double f, f_a, f_b, f_aa, f_ab, f_bb;
  };

  static Jet unary(const Jet& a, double f, double f1, double f2) {
    if (std::isnan(f)) f1 = f2 = f;  // outside the domain
    return a.is_constant() ? Jet(f) : Jet(f, a.tape_, a.tape_->unary(a.step_, f1, f2));
  }

  static Jet binary(const Jet& a, const Jet& b, const Partials& p) {
    if (b.is_constant()) return a.is_constant() ? Jet(p.f) : a.then(p.f, p.f_a, p.f_aa);
    if (a.is_constant()) return b.then(p.f, p.f_b, p.f_bb);
    return Jet(
        p.f, a.tape_, a.tape_->binary(a.step_, b.step_, p.f_a, p.f_b, p.f_aa, p.f_ab, p.f_bb));
  }

  Jet operator+() const { return *this; }

  Jet operator-() const { return *this * -1.0; }

  Jet& operator+=(const Jet& b) { return *this = *this + b; }

  Jet& operator-=(const Jet& b) { return *this = *this - b; }

  Jet& operator*=(const Jet& b) { return *this = *this * b; }

  Jet& operator/=(const Jet& b) { return *this = *this / b; }

  friend Jet operator+(const Jet& a, const Jet& b) {
    if (b.is_constant()) return a.with_value(a.value + b.value);
    if (a.is_constant()) return b.with_value(a.value + b.value);
    return binary(a, b, {a.value + b.value, 1.0, 1.0, 0.0, 0.0, 0.0});
  }

  friend Jet operator-(const Jet& a, const Jet& b) {
    if (b.is_constant()) return a.with_value(a.value - b.value);
    return binary(a, b, {a.value - b.value, 1.0, -1.0, 0.0, 0.0, 0.0});
  }

  friend Jet operator*(const Jet& a, const Jet& b) {
    return binary(a, b, {a.value * b.value, b.value, a.value, 0.0, 1.0, 0.0});
  }

  // q = a / b: q_a = 1 / b, q_b = -q / b, q_ab = -1 / b^2, q_bb = 2 q / b^2
  friend Jet operator/(const Jet& a, const Jet& b) {
    const double inverse = 1.0 / b.value;
    const double q = a.value / b.value;
    const double q_b = -q * inverse;
    const bool is_plain =
        detail::is_far_from_limits(inverse) && (q == 0.0 || detail::is_far_from_limits(q));
    if (!is_plain && std::isnormal(inverse)) {  // as the quotient of a / b and b / b
      return binary(a * inverse, b * inverse, {q, 1.0, -q, 0.0, -1.0, 2.0 * q});
    }
    return binary(a, b, {q, inverse, q_b, 0.0, -inverse * inverse, -2.0 * q_b * inverse});
  }

  friend bool operator==(const Jet& a, const Jet& b) { return a.value == b.value; }

  friend std::partial_ordering operator<=>(const Jet& a, const Jet& b) {
    return a.value <=> b.value;
  }

 private:
  using Step = detail::JetTape::Index;

  Jet(double at, detail::JetTape* tape, Step step) : value(at), step_(step), tape_(tape) {}

  // The same derivatives with another value.
  Jet with_value(double at) const { return Jet(at, tape_, step_); }

  // A function of this Jet alone, which must not be a constant.
  Jet then(double f, double f1, double f2) const {
    return Jet(f, tape_, tape_->unary(step_, f1, f2));
  }

  Step step_ = detail::JetTape::kNone;
  detail::JetTape* tape_ = nullptr;
};

using RecordedJet = Jet<2, Eigen::Dynamic>;

}  // namespace hesscope
