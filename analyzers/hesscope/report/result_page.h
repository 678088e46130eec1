// SPDX-License-Identifier: BSD-3-Clause
//
// The contents of results, as a page.
//
//   io::ResultReader result("run.h5");
//   const std::array sources{figures::Source{&result, "Adam"}};
//   std::string html = report::to_html(report::result_page(sources, "My run"));
#pragma once

#include <span>
#include <string>

#include <hesscope/figures/figure_kind.h>
#include <hesscope/report/page.h>

namespace hesscope::report {

/// The origin of the results and their warnings, every figure that one of them has the data for
/// (several results are shown in one figure if it supports that; figures of one checkpoint have a
/// slider), their numbers by checkpoint, which numbers are missing or unproved and why, and the
/// definitions of everything shown. Results with the same label are runs of one experiment from
/// several seeds, see figures::draw_figure().
/// @throws InputError naming file and variable if a variable does not have the expected shape;
///         PreconditionError without sources.
/// @cost   reads what figures and tables need, once for each place where it is shown.
Page result_page(std::span<const figures::Source> sources, const std::string& title);

}  // namespace hesscope::report
