// SPDX-License-Identifier: BSD-3-Clause
//
// Losses of a model's output, with the definitions and the normalisation of PyTorch's functions
// with reduction = "mean" over the whole data set: the mean over samples of what is recorded here
// is that number, with weights of classes and ignored targets, too.
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
  kBinaryCrossEntropy,     ///< of logits, with a probability for each as target
  kHuber,                  ///< r^2 / 2 up to delta, delta (|r| - delta / 2) beyond; mean as above
  kNegativeLogLikelihood,  ///< of logarithms of probabilities, with classes as targets
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
  Settings source = {};                         ///< what they are from: knows each key's place
};

/// "cross-entropy".
std::string_view to_string(LossKind kind);

/// Whether its targets are classes, or probabilities of them.
bool takes_classes(LossKind kind);

/// The keys of a [model] table that losses take, `loss` first. @param choices  the losses the kind
/// offers.
std::vector<SettingKey> loss_keys(const std::vector<LossKind>& choices);

/// What settings checked against loss_keys() say; of a kind that has one loss, without `loss`.
/// @throws ConfigError for a key that the chosen loss does not take.
LossOptions loss_options(const Settings& settings, std::optional<LossKind> only = {});

/// The key `weight_decay` of a kind whose models may have one: Model::weight_decay.
SettingKey weight_decay_key();

/// What the settings say of that key; 0 if nothing.
double weight_decay_from(const Settings& settings);

/// Whether the loss is the mean over samples of a function of one sample alone, with no key but
/// `loss`, and its targets are classes or numbers: what faster Hessians are made for.
bool is_plain(const LossOptions& options, const std::string& target, const TensorShapes& data);

/// Declares the target array and records the loss of one sample, 1 x 1.
///
/// @param output  what the model gives, of `shape` for one sample, row by row.
/// @param target  name of the array in `data`; its shape says what it is: classes (shape without
///                its last axis, or without its first as PyTorch has it; without the axis
///                `class_axis`, if given), or an entry for each output; probabilities are of the
///                classes on that axis, or on the only one of the last and the first along which
///                all add up to 1, else on the last.
/// @throws InputError naming the data file, the array and both shapes where they do not fit;
///         classes that are weighted or ignored but cannot be counted; no target that counts.
/// @throws ConfigError naming the place of `class_weights` or `pos_weight` where their number, or
///         of `class_axis` where it does not fit the output.
Var record_loss(ModelBuilder& builder,
                const LossOptions& options,
                Var output,
                const std::vector<std::int64_t>& shape,
                const std::string& target,
                const TensorShapes& data);

/// What to say where targets fit the output with the classes on one axis or another, and nothing
/// says which; empty elsewhere. Arguments as of record_loss().
std::string remark_on_class_axis(const LossOptions& options,
                                 const std::vector<std::int64_t>& shape,
                                 const std::string& target,
                                 const TensorShapes& data);

/// What to say where the model ends in the softmax or sigmoid that the loss applies to what it
/// takes for logits, or of which it takes the result for logarithms; empty elsewhere.
/// @param output  as in record_loss().
std::string remark_on_probabilities(const LossOptions& options, Var output);

/// What to say where a cross-entropy is that of one class, and 0; empty elsewhere.
std::string remark_on_single_class(const LossOptions& options, Eigen::Index num_outputs);

}  // namespace hesscope
