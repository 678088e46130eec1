// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /tracking: which of the K outermost eigenpairs at each end continues which of the
/// checkpoint before, by the overlaps of their eigenvectors: eigenvalues that cross keep their
/// identities. How well a pair is continued stands beside it, and an identity ends where it is not
/// clear.
AnalyzerKind tracking_analyzer();

}  // namespace hesscope
