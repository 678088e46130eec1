// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /tracking: which of the K outermost eigenpairs at each end continues which eigenpair of
/// the previous checkpoint, by the overlaps of their eigenvectors, so that eigenvalues keep their
/// identities when they cross. The group also says how well a pair is continued; an identity ends
/// where it is not clear.
AnalyzerKind tracking_analyzer();

}  // namespace hesscope
