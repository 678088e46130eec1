// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/core/parameter_block.h>
#include <hesscope/optim/internal/adam_direction.h>
#include <hesscope/optim/internal/rule_settings.h>
#include <hesscope/optim/muon.h>

namespace hesscope {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct MuonOptions {
  double momentum;
  bool is_nesterov;
  std::int64_t num_iterations;
  bool is_scaled;
  double weight_decay;
  double adam_rate;
  detail::AdamDecays decays;
  std::vector<bool> is_adams;  // for each block, whether `adam-blocks` names it
};

// A block of the parameters and the positions of its memory.
struct MuonPart {
  Eigen::Index offset = 0;
  Eigen::Index size = 0;
  Eigen::Index first = 0;  // in momentum_buffer, or in exp_avg and exp_avg_sq
  Eigen::Index rows = 0;   // of each of its matrices; 0: uses Adam
  Eigen::Index cols = 0;
};

struct MuonLayout {
  std::vector<MuonPart> parts;
  std::vector<ParameterBlock> matrices;
  std::vector<ParameterBlock> others;
};

// A stack consists of matrices in its last two dimensions; a kernel is one matrix, its first
// dimension by all others.
std::pair<Eigen::Index, Eigen::Index> matrix_shape(const ParameterBlock& block) {
  const std::vector<std::int64_t>& shape = block.shape;
  if (shape.size() <= 3) return {shape[shape.size() - 2], shape.back()};
  return {shape.front(), block.size / shape.front()};
}

MuonLayout muon_layout(std::span<const ParameterBlock> blocks, const MuonOptions& options) {
  MuonLayout layout;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const ParameterBlock& block = blocks[b];
    MuonPart part{.offset = block.offset, .size = block.size};
    if (block.shape.size() < 2 || block.size == 0 || options.is_adams[b]) {
      part.first = append_block(layout.others, block);
    } else {
      std::tie(part.rows, part.cols) = matrix_shape(block);
      part.first = append_block(layout.matrices, block);
    }
    layout.parts.push_back(part);
  }
  return layout;
}

// Roughly the orthogonal factor of a matrix.
MatrixXd orthogonalized(const Eigen::Ref<const MatrixXd>& matrix, std::int64_t num_iterations) {
  constexpr double kA = 3.4445;
  constexpr double kB = -4.7750;
  constexpr double kC = 2.0315;
  constexpr double kLeastNorm = 1e-7;
  const bool is_tall = matrix.rows() > matrix.cols();
  MatrixXd y = matrix / (detail::norm(matrix) + kLeastNorm);
  if (is_tall) y.transposeInPlace();
  for (std::int64_t i = 0; i < num_iterations; ++i) {
    const MatrixXd a = y * y.transpose();
    const MatrixXd b = kB * a + kC * (a * a);
    y = (kA * y + b * y).eval();
  }
  if (is_tall) y.transposeInPlace();
  return y;
}

class Muon final : public UpdateRule {
 public:
  Muon(MuonOptions options, std::span<const ParameterBlock> blocks)
      : UpdateRule(blocks),
        options_(std::move(options)),
        layout_(muon_layout(parameter_blocks(), options_)),
        buffer_(add_state("momentum_buffer", layout_.matrices)),
        exp_avg_(add_state("exp_avg", layout_.others)),
        exp_avg_sq_(add_state("exp_avg_sq", layout_.others)) {
    add_setting("momentum", options_.momentum);
    add_setting("nesterov", options_.is_nesterov ? 1 : 0);
    add_setting("ns_steps", static_cast<double>(options_.num_iterations));
    add_setting("weight_decay", options_.weight_decay);
  }

 private:
  VectorXd update(const ConstVectorRef& theta, const ConstVectorRef& gradient) override {
    const auto t = static_cast<double>(num_steps() + 1);
    VectorXd u(gradient.size());
    for (const MuonPart& part : layout_.parts) {
      const auto g = gradient.segment(part.offset, part.size);
      auto w = u.segment(part.offset, part.size);
      if (part.rows > 0) {
        w = -direction(part, g);
      } else {
        w = detail::adam_direction(options_.decays,
                                   t,
                                   g,
                                   exp_avg_.segment(part.first, part.size),
                                   exp_avg_sq_.segment(part.first, part.size));
      }
      // Skipped at zero, so that non-finite parameters have no effect.
      if (options_.weight_decay != 0) {
        w -= options_.weight_decay * theta.segment(part.offset, part.size);
      }
      if (part.rows == 0) w *= options_.adam_rate;
    }
    return u;
  }

  // For one block of matrices; adds the gradient to the momentum.
  VectorXd direction(const MuonPart& part, const Eigen::Ref<const VectorXd>& g) {
    auto buffer = buffer_.segment(part.first, part.size);
    buffer = options_.momentum * buffer + g;
    VectorXd m = buffer;
    if (options_.is_nesterov) m = g + options_.momentum * buffer;
    const double ratio = static_cast<double>(part.rows) / static_cast<double>(part.cols);
    const double scale = options_.is_scaled ? std::sqrt(std::max(1.0, ratio)) : 1.0;
    const Eigen::Index matrix_size = part.rows * part.cols;
    for (Eigen::Index first = 0; first < part.size; first += matrix_size) {
      Eigen::Map<RowMajor> matrix(m.data() + first, part.rows, part.cols);
      matrix = scale * orthogonalized(matrix, options_.num_iterations);
    }
    return m;
  }

  MuonOptions options_;
  MuonLayout layout_;
  VectorXd& buffer_;
  VectorXd& exp_avg_;
  VectorXd& exp_avg_sq_;
};

// @throws ConfigError with the place of `adam-blocks`.
std::vector<bool> named_as_adams(const Settings& settings, std::span<const ParameterBlock> blocks) {
  if (blocks.empty()) return {};  // only the settings are checked
  try {
    return blocks_matching(blocks, settings.texts("adam-blocks"));
  } catch (const ConfigError& error) {
    settings.refuse("adam-blocks", fmt::format("'adam-blocks': {}", error.what()));
  }
}

}  // namespace

UpdateRuleKind muon_kind() {
  return {
      .name = "muon",
      .summary = "orthogonalised momentum for matrices, AdamW for the rest",
      .keys = {detail::decay_key("momentum", 0.95, "share of the memory of matrices that is kept"),
               detail::flag_key("nesterov", true, "whether momentum is Nesterov's"),
               {.name = "newton-schulz-steps",
                .type = SettingKey::Type::kInteger,
                .meaning = "iterations that orthogonalise",
                .minimum = 1,
                .maximum = 100,
                .fallback = SettingValue(std::int64_t{5})},
               detail::flag_key(
                   "scale-by-shape", true, "whether updates grow by sqrt(rows / columns) above 1"),
               detail::weight_key("weight-decay", 0, "times theta, subtracted from the update"),
               detail::weight_key(
                   "adam-rate", 0.015, "learning rate of the blocks that are Adam's, over this"),
               detail::decay_key("beta1", 0.9, "decay of Adam's average of gradients"),
               detail::decay_key("beta2", 0.95, "decay of Adam's average of squared gradients"),
               detail::weight_key("epsilon", 1e-10, "added to the root of the latter"),
               {.name = "adam-blocks",
                .type = SettingKey::Type::kTexts,
                .meaning = "names of matrices that are Adam's, too, '*' stands for any characters, "
                           "'?' for one, [ab] for a or b",
                .fallback = SettingValue(std::vector<std::string>())}},
      .create = [](const Settings& settings, std::span<const ParameterBlock> blocks) {
        MuonOptions options = {.momentum = settings.real("momentum"),
                               .is_nesterov = settings.boolean("nesterov"),
                               .num_iterations = settings.integer("newton-schulz-steps"),
                               .is_scaled = settings.boolean("scale-by-shape"),
                               .weight_decay = settings.real("weight-decay"),
                               .adam_rate = settings.real("adam-rate"),
                               .decays = {.beta1 = settings.real("beta1"),
                                          .beta2 = settings.real("beta2"),
                                          .epsilon = settings.real("epsilon")},
                               .is_adams = named_as_adams(settings, blocks)};
        return std::make_unique<Muon>(std::move(options), blocks);
      }};
}

}  // namespace hesscope
