// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <hesscope/core/internal/norms.h>
#include <hesscope/optim/adafactor.h>
#include <hesscope/optim/internal/rule_settings.h>

namespace hesscope {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct AdafactorOptions {
  double decay_exponent;
  double epsilon1;
  double epsilon2;
  double clip_threshold;
  bool is_scaled;
};

double root_mean_square(const Eigen::Ref<const Eigen::VectorXd>& block) {
  return detail::norm(block) / std::sqrt(static_cast<double>(block.size()));
}

// A block as a stack of matrices, and the positions of its memory.
struct Stack {
  Eigen::Index offset = 0;
  Eigen::Index size = 0;
  Eigen::Index rows = 0;  // of a matrix; 0 for a vector
  Eigen::Index cols = 0;
  Eigen::Index first_row = 0;  // in R
  Eigen::Index first_col = 0;  // in C
  Eigen::Index first = 0;      // in V
};

struct Layout {
  std::vector<Stack> stacks;
  std::vector<ParameterBlock> rows;
  std::vector<ParameterBlock> cols;
  std::vector<ParameterBlock> vectors;
};

Layout layout_of(std::span<const ParameterBlock> blocks) {
  Layout layout;
  for (const ParameterBlock& block : blocks) {
    Stack stack{.offset = block.offset, .size = block.size};
    if (block.shape.size() < 2 || block.size == 0) {
      stack.first = append_block(layout.vectors, block);
    } else {
      std::vector<std::int64_t> row_shape = block.shape;
      std::vector<std::int64_t> col_shape = block.shape;
      row_shape.pop_back();
      col_shape.erase(col_shape.end() - 2);
      stack.cols = block.shape.back();
      stack.rows = row_shape.back();
      stack.first_row = append_block(
          layout.rows, {.name = block.name, .shape = row_shape, .size = block.size / stack.cols});
      stack.first_col = append_block(
          layout.cols, {.name = block.name, .shape = col_shape, .size = block.size / stack.rows});
    }
    layout.stacks.push_back(stack);
  }
  return layout;
}

class Adafactor final : public UpdateRule {
 public:
  Adafactor(const AdafactorOptions& options, std::span<const ParameterBlock> blocks)
      : UpdateRule(blocks),
        options_(options),
        layout_(layout_of(parameter_blocks())),
        row_sums_(add_state("exp_avg_sq_row", layout_.rows)),
        col_sums_(add_state("exp_avg_sq_col", layout_.cols)),
        squares_(add_state("exp_avg_sq", layout_.vectors)) {
    add_setting("beta2_decay", -options.decay_exponent);
    add_setting("eps.0", options.epsilon1);
    add_setting("eps.1", options.epsilon2);
    add_setting("d", options.clip_threshold);
  }

 private:
  Eigen::VectorXd update(const ConstVectorRef& theta, const ConstVectorRef& gradient) override {
    const auto t = static_cast<double>(num_steps() + 1);
    const double decay = 1 - std::pow(t, -options_.decay_exponent);
    Eigen::VectorXd u(gradient.size());
    for (const Stack& stack : layout_.stacks) {
      if (stack.size == 0) continue;
      const auto g = gradient.segment(stack.offset, stack.size);
      auto w = u.segment(stack.offset, stack.size);
      w = g;
      if (stack.rows == 0) {
        divide_vector(stack, decay, w);
      } else {
        divide_matrices(stack, decay, w);
      }
      w /= std::max(1.0, root_mean_square(w) / options_.clip_threshold);
      const double scale = root_mean_square(theta.segment(stack.offset, stack.size));
      w *= options_.is_scaled ? -std::max(options_.epsilon2, scale) : -1.0;
    }
    return u;
  }

  // Turns w, the gradient, into U; b is the decay.
  void divide_vector(const Stack& stack, double b, Eigen::Ref<Eigen::VectorXd> w) {
    auto v = squares_.segment(stack.first, stack.size);
    v = b * v.array() + (1 - b) * (w.array().square() + options_.epsilon1);
    w.array() /= v.array().sqrt();
  }

  void divide_matrices(const Stack& stack, double b, Eigen::Ref<Eigen::VectorXd> w) {
    const Eigen::Index matrix_size = stack.rows * stack.cols;
    for (Eigen::Index k = 0; k < stack.size / matrix_size; ++k) {
      Eigen::Map<RowMajor> g(w.data() + k * matrix_size, stack.rows, stack.cols);
      auto r = row_sums_.segment(stack.first_row + k * stack.rows, stack.rows);
      auto c = col_sums_.segment(stack.first_col + k * stack.cols, stack.cols);
      const RowMajor d = g.array().square() + options_.epsilon1;
      r = b * r + (1 - b) * d.rowwise().sum();
      c = b * c + (1 - b) * d.colwise().sum().transpose();
      // Roots are taken first: the product of two tiny sums could underflow.
      const Eigen::VectorXd roots = (r / r.sum()).cwiseSqrt();
      g.array() /= (roots * c.cwiseSqrt().transpose()).array();
    }
  }

  AdafactorOptions options_;
  Layout layout_;
  Eigen::VectorXd& row_sums_;
  Eigen::VectorXd& col_sums_;
  Eigen::VectorXd& squares_;
};

}  // namespace

UpdateRuleKind adafactor_kind() {
  constexpr RealRange kNormal{.minimum = std::numeric_limits<double>::min()};
  return {
      .name = "adafactor",
      .summary = "second moments factored over rows and columns",
      .keys = {detail::weight_key("decay-exponent", 0.8, "c in the decay 1 - t^-c"),
               detail::real_key("epsilon1", 1e-30, "added to squared gradients", kNormal),
               detail::weight_key("epsilon2", 1e-3, "smallest scale of a block's parameters"),
               detail::real_key(
                   "clip-threshold", 1, "largest root mean square of a block's update", kNormal),
               detail::flag_key("scale-by-parameters",
                                true,
                                "whether updates are relative to the size of the parameters")},
      .create = [](const Settings& settings, std::span<const ParameterBlock> blocks) {
        const AdafactorOptions options = {.decay_exponent = settings.real("decay-exponent"),
                                          .epsilon1 = settings.real("epsilon1"),
                                          .epsilon2 = settings.real("epsilon2"),
                                          .clip_threshold = settings.real("clip-threshold"),
                                          .is_scaled = settings.boolean("scale-by-parameters")};
        return std::make_unique<Adafactor>(options, blocks);
      }};
}

}  // namespace hesscope
