// SPDX-License-Identifier: BSD-3-Clause
//
// What is computed for a path, piece by piece, as records that a run keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <hesscope/core/progress.h>
#include <hesscope/dataset/dataset.h>
#include <hesscope/objective/objective.h>
#include <hesscope/paths/elastic_band.h>

namespace hesscope::detail {

/// alignment_quantities() of the second point and, in the variable kFamilies, the names of the
/// available maps; unaligned if `aligns` is false.
Group alignment_record(const Objective& objective,
                       const Eigen::VectorXd& first,
                       const Eigen::VectorXd& second,
                       bool aligns,
                       const ProgressCallback& progress);

inline constexpr const char* kFamilies = "families";  ///< text: maps that were used
inline constexpr const char* kLeftOut = "left_out";   ///< text: families too large to be used

/// straight_quantities(): for the aligned point and, if it differs, for the second point as given.
Group straight_record(const Objective& objective,
                      const Eigen::VectorXd& first,
                      const Eigen::VectorXd& aligned,
                      const Eigen::VectorXd* unaligned,
                      Eigen::Index num_places);

/// The complete state of a band as a record, and back.
Group band_record(const BandState& state);
BandState band_in(const Group& record);

/// band_quantities().
Group band_summary(const BandState& state);

/// image_quantities() at one image: one number each, or one row.
Group image_record(const Objective& objective,
                   const BandState& state,
                   Eigen::Index image,
                   bool has_spectrum,
                   const ProgressCallback& progress);

/// saddle_quantities().
Group saddle_record(const Objective& objective,
                    const BandState& state,
                    const ProgressCallback& progress);

}  // namespace hesscope::detail
