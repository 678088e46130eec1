// SPDX-License-Identifier: BSD-3-Clause
//
// Everything a program that links hesscope::hesscope usually needs.
#pragma once

// IWYU pragma: begin_exports
#include <hesscope/autodiff/derivatives.h>
#include <hesscope/core/error.h>
#include <hesscope/core/version.h>
#include <hesscope/models/model.h>
#include <hesscope/objective/functor_objective.h>
#include <hesscope/objective/graph_objective.h>
#include <hesscope/spectra/condition_numbers.h>
#include <hesscope/spectra/counted_spectrum.h>
#include <hesscope/spectra/eigensystem.h>
#include <hesscope/spectra/extremes.h>
#include <hesscope/spectra/spectrum.h>
// IWYU pragma: end_exports
