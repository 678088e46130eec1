// SPDX-License-Identifier: BSD-3-Clause
//
// Losses of a model's output, with the definitions and the normalisation of PyTorch's functions
// with reduction = "mean" over the whole data set: the mean over samples of what is recorded here
// is that number, also with class weights and ignored targets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hesscope/core/settings.h>
#include <hesscope/models/model.h>
#include <hesscope/models/tensor_shapes.h>

namespace hesscope {

enum class LossKind {
  kCrossEntropy,           ///< of logits, with classes or probabilities as targets
  kMeanSquaredError,       ///< mean over samples and outputs
  kBinaryCrossEntropy,     ///< of logits, with a probability as target for each
  kHuber,                  ///< r^2 / 2 up to delta, delta (|r| - delta / 2) beyond; mean as above
  kNegativeLogLikelihood,  ///< of log-probabilities, with classes as targets
  kOutput,                 ///< the model's output is each sample's loss
};

struct LossOptions {
  LossKind kind = LossKind::kCrossEntropy;
  double label_smoothing = 0;
  std::vector<double> class_weights = {};         ///< one for each class, or none
  std::vector<double> pos_weight = {};            ///< one, or one for each output, or none
  std::optional<std::int64_t> ignore_index = {};  ///< targets of this class do not count
  std::optional<std::int64_t> class_axis = {};  ///< of the output; samples are on 0, -1 is the last
  double delta = 1;                             ///< of kHuber
  Settings source = {};  ///< where the options come from: knows each key's place
};

/// "cross-entropy".
std::string_view to_string(LossKind kind);

/// Whether the targets are classes, or probabilities of classes.
bool takes_classes(LossKind kind);

/// The keys of a [model] table for losses, `loss` first. @param choices  the losses that the kind
/// offers.
std::vector<SettingKey> loss_keys(const std::vector<LossKind>& choices);

/// The options given by settings that were checked against loss_keys(). For a kind with a single
/// loss, pass it as `only`; there is then no key `loss`.
/// @throws ConfigError for a key that the chosen loss does not take.
LossOptions loss_options(const Settings& settings, std::optional<LossKind> only = {});

/// The key `weight_decay` of a kind whose models may have one: Model::weight_decay.
SettingKey weight_decay_key();

/// The value of that key in the settings; 0 if it is absent.
double weight_decay_from(const Settings& settings);

/// Whether the loss is the mean over samples of a function of one sample alone, has no key except
/// `loss`, and takes classes or numbers as targets: the case that faster Hessians support.
bool is_plain(const LossOptions& options, const std::string& target, const TensorShapes& data);

/// Declares the target array and records the loss of one sample, 1 x 1.
///
/// @param output  the model's output, of `shape` for one sample, row by row.
/// @param target  name of the array in `data`. Its shape determines its meaning: classes (shape
///                without its last axis, or without its first, as in PyTorch; without the axis
///                `class_axis`, if given), or one entry for each output. Probabilities refer to the
///                classes on that axis; if it is not given, on the last or first axis, whichever is
///                the only one along which all of them add up to 1, else on the last.
/// @throws InputError naming the data file, the array and both shapes if they do not fit; if
///         classes are weighted or ignored but cannot be counted; if no target counts.
/// @throws ConfigError naming the place of `class_weights` or `pos_weight` if their number does not
///         fit the output, or of `class_axis` if it does not.
Var record_loss(ModelBuilder& builder,
                const LossOptions& options,
                Var output,
                const std::vector<std::int64_t>& shape,
                const std::string& target,
                const TensorShapes& data);

/// A remark for targets that fit the output with the classes on either axis if nothing decides
/// between them; otherwise empty. Arguments as for record_loss().
std::string remark_on_class_axis(const LossOptions& options,
                                 const std::vector<std::int64_t>& shape,
                                 const std::string& target,
                                 const TensorShapes& data);

/// A remark for models that end in the softmax or sigmoid which the loss also applies because it
/// expects logits, or whose result the loss takes for logarithms; otherwise empty.
/// @param output  as in record_loss().
std::string remark_on_probabilities(const LossOptions& options, Var output);

/// A remark for a cross-entropy with a single class, which is always 0; otherwise empty.
std::string remark_on_single_class(const LossOptions& options, Eigen::Index num_outputs);

}  // namespace hesscope
