// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <Eigen/Core>

#include <hesscope/autodiff/jet_tape.h>

namespace hesscope::detail {
namespace {

// x - x is 0 for a finite x, else NaN; summing these needs no branch per number.
class FiniteCheck {
 public:
  void see(double x) { sum_ += x - x; }

  bool all_finite() const { return sum_ == 0.0; }

 private:
  double sum_ = 0.0;
};

}  // namespace

// The numbers for the steps up to and including the output, and the two passes over them.
class JetTape::Replay {
 public:
  using Block = Eigen::Array<double, kWidth, 1>;

  Replay(const JetTape& tape, Index output)
      : tape_(tape),
        num_variables_(static_cast<Index>(tape.num_variables_)),
        size_(std::max(num_variables_, output + 1)),
        bars_(static_cast<std::size_t>(size_), 0.0),
        states_(static_cast<std::size_t>(size_), State::kUnused) {
    bar(output) = 1.0;
    state(output) = State::kUsed;
  }

  // Backward: the bars of all steps the output depends on.
  void adjoints() {
    for (Index i = size_ - 1; i >= num_variables_; --i) {
      if (state(i) == State::kUnused) continue;
      const Step& step = tape_.at(i);
      bar(step.a) += step.f_a * bar(i);
      state(step.a) = State::kUsed;
      if (step.b != kNone) {
        bar(step.b) += step.f_b * bar(i);
        state(step.b) = State::kUsed;
      }
    }
  }

  double adjoint(Index variable) { return bar(variable); }

  // Forward and backward along the unit directions first .. first + kWidth - 1. Valid afterwards
  // for variables from `first` on.
  void along_block(Index first) {
    moved_begin_ = first;
    moved_end_ = first + kWidth;
    along([&](Index i, Block& dot) {
      dot.setZero();
      if (first <= i && i < moved_end_) dot(i - first) = 1.0;
    });
  }

  // The same along up to kWidth directions, n x k. Valid afterwards for all variables.
  void along_directions(const Eigen::Ref<const Eigen::MatrixXd>& directions) {
    moved_begin_ = 0;
    moved_end_ = num_variables_;
    along([&](Index i, Block& dot) {
      dot.setZero();
      dot.head(directions.cols()) = directions.row(i).transpose();
    });
  }

  const Block& dotted_adjoint(Index variable) { return dotted_bar(variable); }

 private:
  // kMoving: used, and something has been added to its dotted bar in this block.
  enum class State : std::uint8_t { kUnused, kUsed, kMoving };

  // Propagates from the variables in [moved_begin_, moved_end_), whose dots are written by seed(i,
  // dot).
  template <typename Seed>
  void along(const Seed& seed) {
    dots_.resize(bars_.size());
    dotted_bars_.resize(bars_.size());
    for (Index i = 0; i < num_variables_; ++i) {
      seed(i, dot(i));
      dotted_bar(i).setZero();
    }
    for (Index i = num_variables_; i < size_; ++i) forward(i);
    for (Index i = size_ - 1; i >= num_variables_; --i) {
      if (tape_.at(i).end > moved_begin_ && state(i) != State::kUnused) backward(i);
    }
  }

  void forward(Index i) {
    const Step& step = tape_.at(i);
    dotted_bar(i).setZero();
    if (state(i) == State::kMoving) state(i) = State::kUsed;
    if (!is_moved(step)) {
      dot(i).setZero();
    } else if (step.b == kNone) {
      dot(i) = step.f_a * dot(step.a);
    } else {
      dot(i) = step.f_a * dot(step.a) + step.f_b * dot(step.b);
    }
  }

  // w f'' a., where w f'' may leave the range of double although the product does not.
  static Block curved(double w, double second, const Block& dot) {
    const double factor = w * second;
    if (std::isnormal(factor) || w == 0.0 || second == 0.0) return factor * dot;
    return w * (second * dot);
  }

  void backward(Index i) {
    const Step& step = tape_.at(i);
    const bool is_linear = step.f_aa == 0.0 && step.f_ab == 0.0 && step.f_bb == 0.0;
    const bool is_curved = !is_linear && is_moved(step);
    if (!is_curved && state(i) != State::kMoving) return;
    const Block& outer = dotted_bar(i);
    const double w = bar(i);
    state(step.a) = State::kMoving;
    if (step.b == kNone) {
      if (is_curved) {
        dotted_bar(step.a) += step.f_a * outer + curved(w, step.f_aa, dot(step.a));
      } else {
        dotted_bar(step.a) += step.f_a * outer;
      }
      return;
    }
    state(step.b) = State::kMoving;
    if (is_curved) {
      dotted_bar(step.a) += step.f_a * outer +
                            (curved(w, step.f_aa, dot(step.a)) + curved(w, step.f_ab, dot(step.b)));
      dotted_bar(step.b) += step.f_b * outer +
                            (curved(w, step.f_ab, dot(step.a)) + curved(w, step.f_bb, dot(step.b)));
    } else {
      dotted_bar(step.a) += step.f_a * outer;
      dotted_bar(step.b) += step.f_b * outer;
    }
  }

  bool is_moved(const Step& step) const {
    return step.begin < moved_end_ && step.end > moved_begin_;
  }

  double& bar(Index i) { return bars_[static_cast<std::size_t>(i)]; }

  State& state(Index i) { return states_[static_cast<std::size_t>(i)]; }

  Block& dot(Index i) { return dots_[static_cast<std::size_t>(i)]; }

  Block& dotted_bar(Index i) { return dotted_bars_[static_cast<std::size_t>(i)]; }

  const JetTape& tape_;
  Index num_variables_;
  Index size_;
  Index moved_begin_ = 0;
  Index moved_end_ = 0;
  std::vector<double> bars_;
  std::vector<State> states_;
  std::vector<Block> dots_;
  std::vector<Block> dotted_bars_;
};

bool JetTape::differentiate(Index output, double* gradient, double* hessian) const {
  const auto n = static_cast<Index>(num_variables_);
  if (output == kNone) {
    std::fill_n(gradient, n, 0.0);
    if (hessian != nullptr) std::fill_n(hessian, num_variables_ * num_variables_, 0.0);
    return is_complete_;
  }
  Replay replay(*this, output);
  replay.adjoints();
  FiniteCheck check;
  for (Index i = 0; i < n; ++i) check.see(gradient[i] = replay.adjoint(i));
  if (hessian == nullptr) return is_complete_ && check.all_finite();
  Eigen::Map<Eigen::MatrixXd> h(hessian, n, n);
  for (Index first = 0; first < n; first += kWidth) {
    replay.along_block(first);
    for (Index i = first; i < n; ++i) {
      const Replay::Block& row = replay.dotted_adjoint(i);
      for (Index j = first; j < std::min(first + kWidth, i + 1); ++j) {
        check.see(h(i, j) = h(j, i) = row(j - first));
      }
    }
  }
  return is_complete_ && check.all_finite();
}

bool JetTape::add_hessian_columns(Index output, Index first, double* out) const {
  if (output == kNone) return is_complete_;
  const auto n = static_cast<Index>(num_variables_);
  Replay replay(*this, output);
  replay.adjoints();
  replay.along_block(first);
  FiniteCheck check;
  for (Index i = first; i < n; ++i) {
    check.see(replay.adjoint(i));
    const Replay::Block& row = replay.dotted_adjoint(i);
    for (Index k = 0; k < std::min(kWidth, i + 1 - first); ++k) {
      out[(i - first) * kWidth + k] += row(k);
      check.see(row(k));
    }
  }
  return is_complete_ && check.all_finite();
}

bool JetTape::add_hessian_times(Index output,
                                const Eigen::Ref<const Eigen::MatrixXd>& directions,
                                double* out) const {
  if (output == kNone) return is_complete_;
  const auto n = static_cast<Index>(num_variables_);
  Replay replay(*this, output);
  replay.adjoints();
  replay.along_directions(directions);
  FiniteCheck check;
  Eigen::Map<Eigen::MatrixXd> products(out, n, directions.cols());
  for (Index i = 0; i < n; ++i) {
    check.see(replay.adjoint(i));
    const Replay::Block& row = replay.dotted_adjoint(i);
    for (Eigen::Index k = 0; k < directions.cols(); ++k) {
      products(i, k) += row(k);
      check.see(row(k));
    }
  }
  return is_complete_ && check.all_finite();
}

}  // namespace hesscope::detail
