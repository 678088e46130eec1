// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <string>

#include <Eigen/Core>
#include <fmt/format.h>

#include <hesscope/models/internal/linear_attention_layer.h>

namespace hesscope::detail {
namespace {

constexpr const char* kParametrization = "parametrization";

}  // namespace

bool is_sparse(LinearAttentionParametrization parametrization) {
  return parametrization == LinearAttentionParametrization::kSparse ||
         parametrization == LinearAttentionParametrization::kSparseSplitQk;
}

bool is_split(LinearAttentionParametrization parametrization) {
  return parametrization == LinearAttentionParametrization::kSplitQk ||
         parametrization == LinearAttentionParametrization::kSparseSplitQk;
}

std::string parameter_name(const LinearAttentionOptions& options,
                           std::int64_t layer,
                           std::int64_t head,
                           const char* matrix) {
  return options.heads == 1 ? fmt::format("layers.{}.{}", layer, matrix)
                            : fmt::format("layers.{}.heads.{}.{}", layer, head, matrix);
}

LinearAttentionHead declare_head(ModelBuilder& b,
                                 const LinearAttentionOptions& options,
                                 std::int64_t l,
                                 std::int64_t h) {
  const auto name = [&](const char* matrix) { return parameter_name(options, l, h, matrix); };
  const std::int64_t d = options.dimension;
  const std::int64_t e = d + 1;
  const std::int64_t rows = is_sparse(options.parametrization) ? d : e;
  const Var p = b.parameter(name("P"), {rows, rows});
  const auto scores = [&] {
    if (!is_split(options.parametrization)) return b.parameter(name("Q"), {rows, rows});
    const Var wq = b.parameter(name("WQ"), {rows, rows});
    const Var wk = b.parameter(name("WK"), {rows, rows});
    return matmul_tn(wk, wq);
  };
  const Var q = scores();
  if (!is_sparse(options.parametrization)) return {p, q};
  Eigen::MatrixXd corner = Eigen::MatrixXd::Zero(e, e);
  corner(d, d) = 1;
  return {embed(p, 0, 0, e, e) + b.constant(corner), embed(q, 0, 0, e, e)};
}

SettingKey parametrization_key() {
  return {.name = kParametrization,
          .meaning = "what is trained in a layer",
          .choices = {"sparse", "full", "split-qk", "sparse-split-qk"},
          .fallback = SettingValue(std::string("sparse"))};
}

LinearAttentionParametrization parametrization_of(const Settings& settings) {
  const std::string& name = settings.text(kParametrization);
  if (name == "full") return LinearAttentionParametrization::kFull;
  if (name == "split-qk") return LinearAttentionParametrization::kSplitQk;
  if (name == "sparse-split-qk") return LinearAttentionParametrization::kSparseSplitQk;
  return LinearAttentionParametrization::kSparse;
}

}  // namespace hesscope::detail
