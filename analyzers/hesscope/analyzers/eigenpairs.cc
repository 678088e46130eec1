// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hesscope/analyzers/eigenpairs.h>
#include <hesscope/analyzers/internal/eigenvalue_clusters.h>
#include <hesscope/analyzers/internal/outermost_pairs.h>
#include <hesscope/analyzers/internal/papers.h>
#include <hesscope/core/internal/norms.h>
#include <hesscope/objective/gradient_blocks.h>

namespace hesscope {
namespace {

// Eigenvectors are known up to their sign: the entry with the largest magnitude becomes positive.
void fix_signs(Eigen::MatrixXd& vectors) {
  for (auto v : vectors.colwise()) {
    Eigen::Index largest = 0;
    v.cwiseAbs().maxCoeff(&largest);
    if (v[largest] < 0) v = -v;
  }
}

class EigenpairsAnalyzer final : public Analyzer {
 public:
  explicit EigenpairsAnalyzer(Eigen::Index count) : count_(count) {}

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    return {detail::pair_dimension(count_, objective)};
  }

  Cost cost(const Objective& objective) const override {
    Cost all = detail::cost_of_pairs(count_ + 1, objective);
    all.numbers =
        std::max(all.numbers,
                 static_cast<double>(gradient_block_size(objective) * objective.num_parameters()));
    all.gradients += 1;
    all.sample_gradients += 1;
    return all;
  }

  Group analyze(PointAnalysis& point) const override {
    Group answer = declared();
    describe(point, largest_, answer);
    describe(point, smallest_, answer);
    return answer;
  }

 private:
  // What is stored for one end of the spectrum.
  struct End {
    EndOfSpectrum Extremes::*member;
    VariableId eigenvalues, residuals, eigenvectors, participation, block_weight, overlap;
    VariableId gradient_fraction, error_bound, proof;
  };

  // Positions in the summary.
  struct Headline {
    int eigenvalue = 0;
    int participation = 0;
    int overlap = 0;
    int gradient_fraction = 0;
  };

  // `name` is the suffix of the names, and also occurs in the definitions.
  End declare_end(EndOfSpectrum Extremes::*member,
                  const std::string& name,
                  const Headline& headline) {
    const auto add = [&](Variable variable) {
      return declare(detail::of_end(std::move(variable), name));
    };
    Variable eigenvalues = detail::outermost_eigenvalues();
    eigenvalues.headline = headline.eigenvalue;
    return {
        .member = member,
        .eigenvalues = add(std::move(eigenvalues)),
        .residuals =
            add({.name = "residuals",
                 .dimensions = {"pair"},
                 .long_name = "residuals of the eigenpairs",
                 .definition = "Euclidean norm of H v - lambda v for its unit eigenvector v"}),
        .eigenvectors = add(
            {.name = "eigenvectors",
             .dimensions = {"pair", "parameter"},
             .long_name = "unit eigenvectors",
             .definition = "with the sign that makes the entry of largest magnitude positive; for "
                           "eigenvalues within 1e-6 ||H|| of each other, an arbitrary basis of "
                           "their common space. If an eigenvalue beyond those requested is that "
                           "close to the last one, the other quantities of the eigenvectors close "
                           "to it, and all overlaps with them, are not computed"}),
        .participation =
            add({.name = "participation",
                 .dimensions = {"pair"},
                 .long_name = "inverse participation ratio",
                 .definition = "sum of the fourth powers of an eigenvector's entries: 1 if it is "
                               "on a single parameter, 1 / n if spread evenly over all",
                 .references = {papers::kBell},
                 .headline = headline.participation}),
        .block_weight =
            add({.name = "block_weight",
                 .dimensions = {"pair", "block"},
                 .long_name = "weight of an eigenvector in a parameter tensor",
                 .definition = "sum of the eigenvector's squared entries in the tensor"}),
        .overlap = add({.name = "overlap",
                        .dimensions = {"pair"},
                        .long_name = "overlap with the checkpoint before",
                        .definition = "squared norm of an eigenvector's projection onto the space "
                                      "that these eigenvectors spanned at the checkpoint before",
                        .references = {papers::kGurAri},
                        .undefined = {Status::kUndefinedNoOrder},
                        .headline = headline.overlap}),
        .gradient_fraction =
            add({.name = "gradient_fraction",
                 .dimensions = {"pair"},
                 .long_name = "fraction of the gradient in the outermost eigenvectors",
                 .definition = "squared norm of the gradient's projection onto the eigenvectors up "
                               "to and including this one, over the gradient's squared norm",
                 .references = {papers::kGurAri},
                 .undefined = {Status::kUndefinedZeroDenominator},
                 .headline = headline.gradient_fraction}),
        .error_bound = add(detail::error_bound_of_end()),
        .proof = add(detail::proof_of_end()),
    };
  }

  detail::ClusteredEnd pairs_of(PointAnalysis& point, const End& end) const {
    return detail::clustered_values(point, end.member, count_, detail::kClusterGap);
  }

  // How many eigenvectors, from the outermost on, span a space that does not depend on eigenvalues
  // beyond those asked for.
  static Eigen::Index num_determined(const detail::ClusteredEnd& pairs) {
    const detail::EigenvalueCluster& last = pairs.clusters.back();
    return last.is_whole ? pairs.values.size() : last.first;
  }

  // A row of numbers for each pair; those of pairs that are not determined are missing.
  static void set_determined(const Eigen::MatrixXd& rows, Eigen::Index determined, Variable& to) {
    std::vector<double> numbers;
    std::vector<Status> statuses;
    for (Eigen::Index k = 0; k < rows.rows(); ++k) {
      const bool is_determined = k < determined;
      for (const double x : rows.row(k)) {
        numbers.push_back(is_determined ? x : kNaN);
        statuses.push_back(is_determined ? Status::kOk : Status::kNotComputed);
      }
    }
    to.set_numbers(std::move(numbers), std::move(statuses));
  }

  void describe(PointAnalysis& point, const End& end, Group& answer) const {
    const detail::ClusteredEnd found = pairs_of(point, end);
    const std::array of_pairs = {end.eigenvalues,
                                 end.eigenvectors,
                                 end.participation,
                                 end.block_weight,
                                 end.overlap,
                                 end.gradient_fraction};
    answer[end.proof].set_flag(static_cast<std::int8_t>(found.proof));
    answer[end.error_bound].set(found.error_bound, found.status);
    if (found.status != Status::kOk) {
      answer[end.residuals].set_missing(found.status);
      for (const VariableId id : of_pairs) answer[id].set_missing(found.status);
      return;
    }
    const Eigen::Index determined = num_determined(found);
    Eigen::MatrixXd vectors = found.vectors;
    fix_signs(vectors);
    answer[end.eigenvalues].set(found.values);
    answer[end.residuals].set(found.residuals);
    answer[end.eigenvectors].set_rows(vectors.transpose());
    set_determined(vectors.array().square().square().colwise().sum().transpose().matrix(),
                   determined,
                   answer[end.participation]);
    const auto blocks = point.objective().parameter_blocks();
    Eigen::MatrixXd weights(vectors.cols(), static_cast<Eigen::Index>(blocks.size()));
    for (Eigen::Index b = 0; b < weights.cols(); ++b) {
      const ParameterBlock& block = blocks[static_cast<std::size_t>(b)];
      weights.col(b) = vectors.middleRows(block.offset, block.size).colwise().squaredNorm();
    }
    set_determined(weights, determined, answer[end.block_weight]);
    set_overlap(point, end, vectors, determined, answer[end.overlap]);
    set_gradient_fraction(point, vectors, determined, answer[end.gradient_fraction]);
    if (found.proof != Proof::kConverged) return;
    for (const VariableId id : of_pairs) answer[id].is_proved = false;
  }

  void set_overlap(PointAnalysis& point,
                   const End& end,
                   const Eigen::MatrixXd& vectors,
                   Eigen::Index determined,
                   Variable& overlap) const {
    if (point.previous() == nullptr) return overlap.set_missing(point.no_neighbour_status());
    const detail::ClusteredEnd before = pairs_of(*point.previous(), end);
    if (before.status != Status::kOk) return overlap.set_missing(before.status);
    if (num_determined(before) < before.values.size()) determined = 0;
    set_determined((before.vectors.transpose() * vectors).colwise().squaredNorm().transpose(),
                   determined,
                   overlap);
  }

  static void set_gradient_fraction(PointAnalysis& point,
                                    const Eigen::MatrixXd& vectors,
                                    Eigen::Index determined,
                                    Variable& gradient_fraction) {
    if (point.is_gradient_zero()) {
      return gradient_fraction.set_missing(Status::kUndefinedZeroDenominator);
    }
    // Uses the unit gradient, so that no square underflows.
    const Eigen::VectorXd direction = detail::normalized(point.gradient());
    Eigen::VectorXd fraction = (vectors.transpose() * direction).array().square();
    for (Eigen::Index k = 1; k < fraction.size(); ++k) fraction[k] += fraction[k - 1];
    set_determined(fraction, determined, gradient_fraction);
  }

  Eigen::Index count_;
  End largest_ =
      declare_end(&Extremes::largest,
                  "largest",
                  {.eigenvalue = 1, .participation = 2, .overlap = 3, .gradient_fraction = 4});
  End smallest_ = declare_end(&Extremes::smallest, "smallest", {});
};

}  // namespace

AnalyzerKind eigenpairs_analyzer() {
  return {.name = "eigenpairs",
          .question =
              "eigenvectors at both ends of the spectrum: where they live, how they turn between "
              "checkpoints",
          .by_default = false,
          .on_missing =
              "an overlap is with the checkpoint before; of eigenvalues that coincide all are "
              "taken (`eigenpairs`)",
          .options = {{.name = "eigenpairs",
                       .type = SettingKey::Type::kInteger,
                       .meaning = "how many eigenvectors to find at each end",
                       .minimum = 1,
                       .maximum = 1000,
                       .fallback = SettingValue(std::int64_t{5})}},
          .create = [](const Settings& settings) {
            return std::make_unique<EigenpairsAnalyzer>(settings.integer("eigenpairs"));
          }};
}

}  // namespace hesscope
