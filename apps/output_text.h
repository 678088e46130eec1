// SPDX-License-Identifier: BSD-3-Clause
//
// What commands whose runs can be resumed say of their output.
#pragma once

#include <string>
#include <string_view>

#include "run_options.h"

namespace hesscope::cli {

/// After an interruption that left something to continue from, which is kept in `kept_in`: the
/// command that continues. `command` is the run's, quoted for a shell, without --output and
/// --force.
std::string resumption_text(const std::string& kept_in,
                            const std::string& command,
                            const std::string& output,
                            const ForceOption& force);

/// What a run would find at the output's place.
/// @param is_done  whether that is the complete result of the same command.
std::string_view output_state(const std::string& output, const ForceOption& force, bool is_done);

/// The last line of a summary: what became of the output.
std::string ending_text(const std::string& output, bool is_done_already, double seconds);

}  // namespace hesscope::cli
