// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <string>

#include <hesscope/analyzers/eigenpairs.h>
#include <hesscope/analyzers/internal/group_dimensions.h>

namespace hesscope {
namespace {

// The two ends: suffix of names, and words for definitions.
struct End {
  const char* suffix;
  const char* words;
  EndOfSpectrum Extremes::*member;
};

constexpr End kEnds[] = {
    {"_largest", "largest", &Extremes::largest},
    {"_smallest", "smallest", &Extremes::smallest},
};

// Eigenvectors are known up to their sign: the entry of largest magnitude becomes positive.
void fix_signs(Eigen::MatrixXd& vectors) {
  for (auto v : vectors.colwise()) {
    Eigen::Index largest = 0;
    v.cwiseAbs().maxCoeff(&largest);
    if (v[largest] < 0) v = -v;
  }
}

class EigenpairsAnalyzer final : public Analyzer {
 public:
  explicit EigenpairsAnalyzer(Eigen::Index count) : count_(count) {
    declare_all(quantities(), headline());
  }

  std::vector<Dimension> dimensions(const Objective& objective) const override {
    return {detail::rank_dimension(
        "pair", std::min(count_, objective.num_parameters()), "the outermost first")};
  }

  std::vector<Variable> quantities() const {
    std::vector<Variable> all;
    for (const End& end : kEnds) {
      const auto add = [&](const std::string& name,
                           std::vector<std::string> dimensions,
                           const std::string& long_name,
                           const std::string& definition) {
        all.push_back({.name = name + end.suffix,
                       .dimensions = std::move(dimensions),
                       .long_name = long_name + " (" + end.words + " eigenvalues)",
                       .definition = definition});
      };
      add("eigenvalues", {"pair"}, "outermost eigenvalues", "the outermost first");
      add("residuals",
          {"pair"},
          "residuals of the eigenpairs",
          "Euclidean norm of H v - lambda v for its unit eigenvector v");
      add("eigenvectors",
          {"pair", "parameter"},
          "unit eigenvectors",
          "their entry of largest magnitude is positive");
      add("participation",
          {"pair"},
          "inverse participation ratio",
          "sum of the fourth powers of an eigenvector's entries: 1 on one parameter, 1 / n evenly "
          "on all");
      add("block_weight",
          {"pair", "block"},
          "weight of an eigenvector in a parameter tensor",
          "sum of its squared entries there");
      add("overlap",
          {"pair"},
          "overlap with the checkpoint before",
          "squared norm of an eigenvector's projection on the space that these eigenvectors "
          "spanned at the checkpoint before");
      add("gradient_fraction",
          {"pair"},
          "fraction of the gradient in the outermost eigenvectors",
          "squared norm of the gradient's projection on the eigenvectors up to this one, over its "
          "squared norm");
      all.push_back({.name = std::string("proof") + end.suffix,
                     .type = VariableType::kInt8,
                     .long_name = "how the eigenvalues were established",
                     .definition = "as /spectrum/proof",
                     .flag_meanings = {std::begin(kProofMeanings), std::end(kProofMeanings)}});
    }
    return all;
  }

  std::vector<std::string> headline() const {
    return {"participation_largest", "overlap_largest", "gradient_fraction_largest"};
  }

  Cost cost(const Objective& objective) const override {
    const auto n = static_cast<double>(objective.num_parameters());
    // A search by products with the matrix, and two counts; without it, a search that finds more
    // than one pair at each end.
    const auto pairs = static_cast<double>(count_);
    return {.asks_hessian = true,
            .matrices = 1,
            .numbers = 512 * n,
            .searches = 1 + pairs / 4,
            .matrix_operations = (1 + pairs / 4) * 200 * n * n + n * n * n / 15};
  }

  Group analyze(PointAnalysis& point) const override {
    Group record = declared();
    const Extremes& extremes = point.extremes(count_);
    for (const End& end : kEnds) {
      const EndOfSpectrum& found = extremes.*end.member;
      record[named("proof", end)].set_flag(static_cast<std::int8_t>(found.proof));
      if (found.status == Status::kOk) {
        describe(point, end, found, record);
        continue;
      }
      for (const Variable& quantity : quantities()) {
        if (quantity.name.ends_with(end.suffix) && quantity.type != VariableType::kInt8) {
          record[quantity.name].set_missing(found.status);
        }
      }
    }
    return record;
  }

 private:
  static std::string named(const std::string& name, const End& end) { return name + end.suffix; }

  void describe(PointAnalysis& point,
                const End& end,
                const EndOfSpectrum& found,
                Group& record) const {
    Eigen::MatrixXd vectors = found.vectors;
    fix_signs(vectors);
    record[named("eigenvalues", end)].set(found.values);
    record[named("residuals", end)].set(found.residuals);
    if (found.proof == Proof::kConverged) record[named("eigenvalues", end)].is_proved = false;
    record[named("eigenvectors", end)].set_rows(vectors.transpose());
    record[named("participation", end)].set(
        vectors.array().square().square().colwise().sum().transpose().matrix());
    const auto blocks = point.objective().parameter_blocks();
    Eigen::MatrixXd weights(vectors.cols(), static_cast<Eigen::Index>(blocks.size()));
    for (Eigen::Index b = 0; b < weights.cols(); ++b) {
      const ParameterBlock& block = blocks[static_cast<std::size_t>(b)];
      weights.col(b) = vectors.middleRows(block.offset, block.size).colwise().squaredNorm();
    }
    record[named("block_weight", end)].set_rows(weights);
    set_overlap(point, end, vectors, record);
    set_gradient_fraction(point, end, vectors, record);
  }

  void set_overlap(PointAnalysis& point,
                   const End& end,
                   const Eigen::MatrixXd& vectors,
                   Group& record) const {
    const std::string name = named("overlap", end);
    if (point.previous() == nullptr) return record[name].set_missing(point.no_neighbour_status());
    const EndOfSpectrum& before = point.previous()->extremes(count_).*end.member;
    if (before.status != Status::kOk) return record[name].set_missing(Status::kNotComputed);
    record[name].set((before.vectors.transpose() * vectors).colwise().squaredNorm().transpose());
  }

  static void set_gradient_fraction(PointAnalysis& point,
                                    const End& end,
                                    const Eigen::MatrixXd& vectors,
                                    Group& record) {
    const std::string name = named("gradient_fraction", end);
    // Of the unit gradient, so that no square underflows.
    const Eigen::VectorXd direction = point.gradient().stableNormalized();
    if (!(direction.squaredNorm() > 0))
      return record[name].set_missing(Status::kUndefinedZeroDenominator);
    Eigen::VectorXd fraction = (vectors.transpose() * direction).array().square();
    for (Eigen::Index k = 1; k < fraction.size(); ++k) fraction[k] += fraction[k - 1];
    record[name].set(fraction);
  }

  Eigen::Index count_;
};

}  // namespace

AnalyzerKind eigenpairs_analyzer() {
  return {.name = "eigenpairs",
          .question =
              "eigenvectors at both ends of the spectrum: where they live, how they turn between "
              "checkpoints",
          .by_default = false,
          .on_missing = "an overlap is with the checkpoint before",
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
