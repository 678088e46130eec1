// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/sampling/attention_regression.h>
#include <hesscope/sampling/internal/sampler_support.h>

namespace hesscope {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Targets = AttentionRegressionOptions::Targets;

AttentionRegression::AttentionRegression(const AttentionRegressionOptions& options)
    : options_(options) {
  const std::int64_t n = options.sequence;
  const Index embedding = options.embedding;
  const Index heads = options.teacher_heads;
  const Index d = options.teacher_head_dimension;
  if (n < 1 || embedding < 1 || heads < 1 || d < 1) {
    throw PreconditionError(
        fmt::format("AttentionRegression: every size must be at least 1, got {}, {}, {} and {}",
                    n,
                    embedding,
                    heads,
                    d));
  }
  add_array("inputs", {n, embedding});
  add_array("target", {n});
  if (options.targets == Targets::kGaussian) return;
  RandomStream random(options.teacher_seed, Stream::kTask, 0);
  const double inner = 1 / std::sqrt(static_cast<double>(embedding));
  const double outer = 1 / std::sqrt(static_cast<double>(heads * d));
  std::vector<MatrixXd> values;
  for (Index h = 0; h < heads; ++h) {
    MatrixXd queries = detail::normal_matrix(random, embedding, d, inner);
    MatrixXd keys = detail::normal_matrix(random, embedding, d, inner);
    values.push_back(detail::normal_matrix(random, embedding, d, inner));
    teacher_.push_back({std::move(queries), std::move(keys), {}});
  }
  for (Index h = 0; h < heads; ++h) {
    teacher_[static_cast<std::size_t>(h)].values =
        values[static_cast<std::size_t>(h)] * detail::normal_matrix(random, d, 1, outer);
  }
}

VectorXd AttentionRegression::teach(const Eigen::Ref<const MatrixXd>& x) const {
  const double scale = 1 / std::sqrt(static_cast<double>(options_.teacher_head_dimension));
  VectorXd y = VectorXd::Zero(x.rows());
  for (const Head& head : teacher_) {
    const MatrixXd q = x * head.queries;
    const MatrixXd k = x * head.keys;
    MatrixXd s = scale * q * k.transpose();
    if (options_.targets == Targets::kGaussianTeacher) {
      // -|q - k|^2 / (2 sqrt d)
      s.colwise() -= 0.5 * scale * q.rowwise().squaredNorm();
      s.rowwise() -= 0.5 * scale * k.rowwise().squaredNorm().transpose();
      s = s.array().exp();
    } else {
      s.colwise() -= s.rowwise().maxCoeff().eval();
      s = s.array().exp();
      s.array().colwise() /= s.rowwise().sum().array().eval();
    }
    y += s * (x * head.values);
  }
  return y;
}

void AttentionRegression::draw(std::uint64_t seed,
                               Stream stream,
                               std::uint64_t index,
                               std::span<double> record) const {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  detail::require_record(*this, record);
  RandomStream random(seed, stream, index);
  if (options_.targets == Targets::kGaussian) return random.normal(record);
  const auto num_inputs = static_cast<std::size_t>(arrays()[0].size);
  random.normal(record.first(num_inputs));
  const Eigen::Map<const RowMajor> x(record.data(), options_.sequence, options_.embedding);
  Eigen::Map<VectorXd>(record.data() + num_inputs, options_.sequence) = teach(x);
}

SamplerKind attention_regression_kind() {
  return {
      .name = "attention-regression",
      .summary = "random sequences, with random targets or those of an attention layer",
      .keys = {size_key("sequence", "n, tokens of a sample", 100000),
               size_key("embedding", "D, the dimension of a token", 100000),
               {.name = "targets",
                .meaning = "N(0, 1), or the output of a fixed attention layer with this kernel",
                .choices = {"gaussian", "softmax-teacher", "gaussian-teacher"},
                .fallback = SettingValue(std::string("gaussian"))},
               detail::optional_size_key("teacher_heads", "H, heads of the teacher", 10000),
               detail::optional_size_key("teacher_head_width", "d, the width of a head", 100000),
               detail::seed_key("teacher_seed", "seed of the teacher")},
      .create =
          [](const Settings& settings, const std::filesystem::path& /*folder*/) {
            AttentionRegressionOptions options = {
                .sequence = settings.integer("sequence"),
                .embedding = settings.integer("embedding"),
                .teacher_seed = detail::seed_from(settings, "teacher_seed")};
            const std::string& targets = settings.text("targets");
            options.targets = targets == "gaussian"          ? Targets::kGaussian
                              : targets == "softmax-teacher" ? Targets::kSoftmaxTeacher
                                                             : Targets::kGaussianTeacher;
            const bool has_teacher = options.targets != Targets::kGaussian;
            detail::require_keys(settings,
                                 {"teacher_heads", "teacher_head_width"},
                                 has_teacher,
                                 fmt::format("targets = \"{}\"", targets));
            if (has_teacher) {
              options.teacher_heads = settings.integer("teacher_heads");
              options.teacher_head_dimension = settings.integer("teacher_head_width");
            }
            return std::make_unique<AttentionRegression>(options);
          },
  };
}

}  // namespace hesscope
