// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hesscope/core/constants.h>
#include <hesscope/core/error.h>
#include <hesscope/problem/internal/prediction_check.h>

namespace hesscope::detail {
namespace {

const std::string kArray = "predictions";
// Relative to the largest number: enough for float32 in some hundred layers, and for float64 in any
// number.
constexpr double kTolerance = 1e-4;
constexpr double kTolerance64 = 1e-6;

// Over the finite ones.
double largest(const Eigen::Ref<const Eigen::MatrixXd>& values) {
  double found = 0;
  for (const double x : values.reshaped()) {
    if (std::isfinite(x)) found = std::max(found, std::abs(x));
  }
  return found;
}

// Masked logits may be infinite, or NaN, in both.
double distance(double ours, double theirs, double scale) {
  if (std::isnan(ours) || std::isnan(theirs)) {
    return std::isnan(ours) && std::isnan(theirs) ? 0 : kInfinity;
  }
  return ours == theirs ? 0 : std::abs(ours - theirs) / scale;
}

// The largest deviation from our numbers, in units of the largest number, and the first one beyond
// the tolerance.
struct Difference {
  double largest = 0;
  Eigen::Index sample = 0;
  Eigen::Index number = 0;
};

Difference difference_of(const Eigen::Ref<const Eigen::MatrixXd>& theirs,
                         const Eigen::MatrixXd& ours) {
  const double scale = std::max(largest(theirs), largest(ours));
  Difference found;
  for (Eigen::Index i = 0; i < ours.cols(); ++i) {
    for (Eigen::Index k = 0; k < ours.rows(); ++k) {
      const double here = distance(ours(k, i), theirs(k, i), scale);
      if (here > kTolerance && found.largest <= kTolerance) {
        found.sample = i;
        found.number = k;
      }
      found.largest = std::max(found.largest, here);
    }
  }
  return found;
}

}  // namespace

std::string check_predictions(const GraphObjective& objective,
                              const Eigen::VectorXd& theta,
                              const TensorShapes& data,
                              const std::string& checkpoint,
                              const std::function<Eigen::MatrixXd()>& own) {
  const auto found = data.shapes.find(kArray);
  if (found == data.shapes.end() || !data.read || !objective.has_gauss_newton()) return {};
  const Eigen::MatrixXd ours = objective.predictions(theta, objective.all_samples());
  const std::vector<std::int64_t>& shape = found->second;
  Eigen::Index size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  if (shape.empty() || shape[0] != ours.cols() || size != ours.size()) {
    return fmt::format(
        "{}: array '{}' of shape ({}) was not compared with the model's predictions, which are {} "
        "numbers for each of {} samples",
        data.source,
        kArray,
        fmt::join(shape, ", "),
        ours.rows(),
        ours.cols());
  }
  const std::vector<double> values = data.read(kArray);
  const Eigen::Map<const Eigen::MatrixXd> theirs(values.data(), ours.rows(), ours.cols());
  const auto type = data.types.find(kArray);
  const bool is_double = type != data.types.end() && type->second == io::ElementType::kFloat64;
  const double tolerance = is_double ? kTolerance64 : kTolerance;
  const Difference difference = difference_of(theirs, ours);
  if (difference.largest <= tolerance) return {};
  const Eigen::MatrixXd at_own = own();
  double least = difference.largest;
  if (at_own.size() > 0) least = std::min(least, difference_of(theirs, at_own).largest);
  if (least <= tolerance) return {};
  if (least <= kTolerance) {
    return fmt::format(
        "{}: array '{}' holds numbers of 64 bits, but the model's differ from them by up to {:.1e} "
        "of the largest: they were computed in 32 bits, or the graph has constants of 32 bits "
        "(model.double() before exporting avoids them), or the exporter has left something out",
        data.source,
        kArray,
        least);
  }
  const Eigen::Index i = difference.sample;
  const Eigen::Index k = difference.number;
  throw InputError(fmt::format(
      "{}: array '{}', sample {}: {} (number {} of the sample), but the model predicts {} at {}{}. "
      "Either these are predictions of another checkpoint or of other samples, or the file of the "
      "model says another one than it was written from: compare both in the program that wrote it, "
      "and leave the array out to go on without this check",
      data.source,
      kArray,
      i,
      theirs(k, i),
      k,
      ours(k, i),
      checkpoint,
      at_own.size() > 0 ? fmt::format(", and {} at the parameters in its own file", at_own(k, i))
                        : ""));
}

double mean_loss(const GraphObjective& objective, const Eigen::VectorXd& theta) {
  return objective.value(theta) - objective.weight_decay() / 2 * theta.squaredNorm();
}

std::string check_mean_loss(const GraphObjective& objective,
                            const Eigen::VectorXd& theta,
                            const TensorShapes& data,
                            const std::string& checkpoint,
                            const std::function<double()>& own) {
  const auto found = data.shapes.find(kArray);
  if (found == data.shapes.end() || !data.read || objective.has_gauss_newton()) return {};
  const std::vector<double> values = data.read(kArray);
  const auto size = static_cast<Eigen::Index>(values.size());
  if (size != 1 && size != objective.num_samples()) {
    return fmt::format(
        "{}: array '{}' of shape ({}) was not compared with the model's losses, one for each of {} "
        "samples, or their mean",
        data.source,
        kArray,
        fmt::join(found->second, ", "),
        objective.num_samples());
  }
  const double theirs = Eigen::Map<const Eigen::VectorXd>(values.data(), size).mean();
  const auto is_near = [&](double ours) {
    return distance(ours, theirs, std::max(std::abs(ours), std::abs(theirs))) <= kTolerance;
  };
  const double ours = mean_loss(objective, theta);
  if (is_near(ours)) return {};
  const double at_own = own();
  if (is_near(at_own)) return {};
  throw InputError(fmt::format(
      "{}: array '{}' says that the mean loss is {}, but the model has {} at {}{}. Either that is "
      "of another checkpoint or of other samples, or the file of the model says another one than "
      "it was written from: compare both in the program that wrote it, and leave the array out to "
      "go on without this check",
      data.source,
      kArray,
      theirs,
      ours,
      checkpoint,
      std::isnan(at_own) ? "" : fmt::format(", and {} at the parameters in its own file", at_own)));
}

std::string check_log_probabilities(const GraphObjective& objective,
                                    const Eigen::VectorXd& theta,
                                    const std::string& checkpoint) {
  constexpr double kRounding = 1e-6;  // of a logarithm of a probability near 1
  const Eigen::MatrixXd predictions = objective.predictions(theta, objective.all_samples());
  for (Eigen::Index i = 0; i < predictions.cols(); ++i) {
    for (const double x : predictions.col(i)) {
      if (!(x > kRounding)) continue;
      return fmt::format(
          "{}: sample {}: loss = \"nll\" takes what the model gives for logarithms of "
          "probabilities, but it gives {}, above 0; of logits the loss is \"cross-entropy\"",
          checkpoint,
          i,
          x);
    }
  }
  return {};
}

}  // namespace hesscope::detail
