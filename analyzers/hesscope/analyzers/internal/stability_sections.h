// SPDX-License-Identifier: BSD-3-Clause
//
// Groups of variables of /stability that belong together.
#pragma once

#include <optional>
#include <string>

#include <hesscope/analyzers/internal/stability_settings.h>
#include <hesscope/analyzers/linear_step.h>
#include <hesscope/analyzers/spectrum_section.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/spectra/spectrum.h>

namespace hesscope::detail {

/// A setting of the optimiser, and NAME_source: where it comes from.
class SettingSection {
 public:
  SettingSection(Group& declaring,
                 const std::string& name,
                 const std::string& long_name,
                 const std::string& definition);

  void set(Group& answer, const EffectiveSetting& setting) const;

 private:
  VariableId value_, source_;
};

/// The largest stable sharpness, stable_limit / learning_rate, and the ratio of the largest
/// eigenvalue to it.
class ThresholdSection {
 public:
  ThresholdSection(Group& declaring, Variable threshold, Variable ratio);

  /// Both are kNotComputed without a step or a learning rate.
  void set(Group& answer,
           const std::optional<LinearStep>& step,
           const std::optional<double>& learning_rate,
           const Spectrum& spectrum) const;

  void set_missing(Group& answer, Status status) const;

 private:
  VariableId threshold_, ratio_;
};

/// The preconditioner, and the curvature that the optimiser sees through it.
struct PreconditionedSection {
  /// @param is_adam  whether it is Adam's, or that of any optimiser in a checkpoint: the names of
  ///                 its threshold and ratio begin with "adam" or with "optimizer".
  PreconditionedSection(Group& declaring, bool is_adam);

  VariableId preconditioner;
  VariableId source;
  ThresholdSection threshold;
  VariableId robust_diagonal;
  VariableId robust_absolute;
  SettingSection beta1;
  SettingSection beta2;
  SettingSection epsilon;
  SpectrumSection spectrum;
};

}  // namespace hesscope::detail
