// SPDX-License-Identifier: BSD-3-Clause
//
// Tools for kinds of directions.
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/parameter_block.h>
#include <hesscope/landscape/directions.h>

namespace hesscope::detail {

/// Pseudo-random numbers from a seed: the same on every machine.
class DirectionSource {
 public:
  explicit DirectionSource(std::uint64_t seed) : engine_(seed) {}

  /// n independent standard normal numbers.
  Eigen::VectorXd normal(Eigen::Index n);

  /// A random direction orthogonal to d, with the same norm. n >= 2, and d is not zero.
  Eigen::VectorXd orthogonal_to(const Eigen::Ref<const Eigen::VectorXd>& d);

 private:
  std::mt19937_64 engine_;
};

/// Scales `direction`, which holds normal numbers in the block `block`, by the weights there.
void normalize(const ParameterBlock& block,
               const Eigen::Ref<const Eigen::VectorXd>& theta,
               Normalization normalization,
               bool leaves_out_vectors,
               Eigen::VectorXd& direction);

/// What normalize() does, for descriptions: "random, rows scaled to the weights".
std::string description_of(Normalization normalization, bool leaves_out_vectors);

/// An eigenvector is known up to its sign: the entry with the largest magnitude becomes positive.
void fix_sign(Eigen::Ref<Eigen::VectorXd> v);

/// The parts of "a,b".
std::vector<std::string> split_at_commas(const std::string& text);

/// For messages: how the argument of a kind names a part of the checkpoint for each direction.
struct ArgumentForm {
  const char* kind;  ///< "eigen"
  const char* part;  ///< "rank"
  const char* two;   ///< "K1,K2"
};

/// The parts of the argument: two; or one or two if no second direction is needed. @throws
/// ConfigError.
std::vector<std::string> argument_parts(const std::string& argument,
                                        bool needs_second,
                                        const ArgumentForm& form);

/// @throws ConfigError unless the model has two parameters or no second direction is needed.
void require_two_parameters(const DirectionContext& context);

/// One column, or two.
Eigen::MatrixXd columns_of(const Eigen::VectorXd& first, const Eigen::VectorXd* second);

/// The kind's first direction and, if needed, a second one that is drawn orthogonal to it.
Eigen::MatrixXd with_orthogonal(const DirectionContext& context, const Eigen::VectorXd& first);

}  // namespace hesscope::detail
