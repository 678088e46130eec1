// SPDX-License-Identifier: BSD-3-Clause
#include "program_text.h"

#include <array>

namespace hesscope::cli {

std::span<const Meaning> program_options() {
  static const std::array<Meaning, 3> all = {
      {{"-h, --help", "Print this text; after a command, what it takes"},
       {"--version", "Print the version"},
       {"--write-manual DIR",
        "Write manual pages, and completion for bash, zsh and fish, into the folders where they "
        "are "
        "looked for below DIR, as in ~/.local/share"}}};
  return all;
}

std::span<const Meaning> exit_codes() {
  static const std::array<Meaning, 7> all = {
      {{"0", "done"},
       {"1", "failed"},
       {"2", "usage"},
       {"3", "bad input file"},
       {"4", "locked by another run"},
       {"5", "finished but a number failed, is not finite or is not proved"},
       {"129, 130, 143", "interrupted"}}};
  return all;
}

}  // namespace hesscope::cli
