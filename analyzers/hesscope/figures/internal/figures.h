// SPDX-License-Identifier: BSD-3-Clause
//
// The figures of results, each in the file of its name.
#pragma once

#include <hesscope/figures/figure_kind.h>

namespace hesscope::figures {

/// Eigenvalues by rank: each checkpoint of one result, or one checkpoint of each of several.
FigureKind spectrum_figure();

/// How many eigenvalues there are of each size at one checkpoint.
FigureKind histogram_figure();

/// The spectrum of one checkpoint as a density, from all eigenvalues and by quadrature.
FigureKind density_figure();

/// The largest eigenvalue and the robust condition number of one checkpoint over increasing numbers
/// of samples.
FigureKind population_figure();

/// Condition numbers over training steps.
FigureKind condition_figure();

/// Smallest, median and largest eigenvalue over training steps, with the band of rounding.
FigureKind eigenvalues_figure();

/// Norm of the Hessian over that of the gradient along a run, with the lines L0 + L1 |g|.
FigureKind smoothness_figure();

/// Sharpness over the largest stable one, along training steps: for gradient descent, with
/// momentum, and for the preconditioned optimiser. Points with recomputed second moments look
/// different from those whose moments are stored in checkpoints, and missing points are counted.
FigureKind stability_figure();
FigureKind edge_figure();

/// The rate at which gradient flow changes the largest eigenvalue along training steps, and its
/// change between checkpoints, measured and predicted.
FigureKind sharpening_figure();

/// The outermost eigenvalues along training steps, coloured by the tracks of their eigenvectors.
FigureKind tracking_figure();

/// Sharpness in the norms of three optimisers along training steps, with the proved bounds.
FigureKind norm_sharpness_figure();

/// Gradient noise at one checkpoint: histogram with a normal fit, and normal QQ plot.
FigureKind noise_figure();

/// A quantity on the plane as filled contours with the trajectory, or on a line as a curve.
FigureKind landscape_figure();

/// The loss on the straight and on the minimum-energy path between two checkpoints, with the pass,
/// and the outermost eigenvalues along the latter.
FigureKind path_figure();

/// The index of the critical points near checkpoints, over their losses.
FigureKind critical_figure();

/// The most influential samples at one checkpoint, and all influences.
FigureKind influence_figure();

/// Norms of the Hessian's blocks, or distances between their spectra, at one checkpoint.
FigureKind blocks_figure();

/// Loss and gradient norm over training steps.
FigureKind history_figure();

}  // namespace hesscope::figures
