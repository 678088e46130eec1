// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /alignment: how the weights of a signal-noise model are oriented to the signal and to each
/// sample's noise. Let mu be the signal, xi_i and y_i the noise and the sign of sample i, s a
/// neuron (a row of WQ and WK), and v the mean row of WV.pos minus that of WV.neg. The group holds
/// <v, mu>, <v, y_i xi_i>, <w_Q,s, mu>, <w_K,s, mu>, <w_Q,s, y_i xi_i>, <w_K,s, y_i xi_i>, the
/// attention that the two tokens pay to the signal, and shares of pairs, samples and neurons by the
/// signs of these numbers.
///
/// The signal is the token in which only the first coordinate is not zero, if every sample has
/// exactly one such token (as the sampler "signal-noise" draws it, whatever the placement).
/// Otherwise it is the token that is the same in all samples up to their signs, or else the first
/// one. mu is the mean of y_i times the signal; for that sampler, this is mu itself. For other
/// models, nothing is computed.
/// @cost m_k neurons, n samples, dimension d: 8 m_k d n operations, 2 d n numbers.
/// @source Li et al. (2025), arXiv 2410.04870.
AnalyzerKind alignment_analyzer();

}  // namespace hesscope
