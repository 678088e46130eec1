// SPDX-License-Identifier: BSD-3-Clause
//
// What results say, as a page.
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

/// Where the results are from and their warnings, every figure that one of them has the data for
/// (several are laid over one another where the figure can; those of one checkpoint are leafed
/// through), their numbers by checkpoint, which numbers are missing or unproved and why, and the
/// definitions of all that is shown. Results of the same label are runs of one experiment from
/// several seeds, see figures::draw_figure().
/// @throws InputError naming file and variable if one has not the shape it should have;
///         PreconditionError without sources.
/// @cost   reads what figures and tables need, once for each place it is shown in.
Page result_page(std::span<const figures::Source> sources, const std::string& title);

}  // namespace hesscope::report
