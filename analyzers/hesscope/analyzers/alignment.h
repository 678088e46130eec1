// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hesscope/analyzers/analyzer.h>

namespace hesscope {

/// Group /alignment: how the weights of a signal-noise model lie to the signal and to each sample's
/// noise. With mu the signal, xi_i and y_i the noise and the sign of sample i, s a neuron (a row of
/// WQ and WK) and v the mean row of WV.pos less that of WV.neg: <v, mu>, <v, y_i xi_i>, <w_Q,s,
/// mu>, <w_K,s, mu>, <w_Q,s, y_i xi_i>, <w_K,s, y_i xi_i>, the attention that the two tokens pay to
/// the signal, and what they say together: which share of them have the same sign.
///
/// The signal is the token whose first coordinate alone is not zero, where in every sample exactly
/// one token is like that (as the sampler "signal-noise" draws it, whatever the placement), and
/// otherwise the first token; mu is the mean of y_i times it, which for that sampler is mu itself.
/// Of other models nothing is computed.
/// @cost m_k neurons, n samples, dimension d: 8 m_k d n operations, 2 d n numbers.
/// @source Li et al. (2025), arXiv 2410.04870.
AnalyzerKind alignment_analyzer();

}  // namespace hesscope
