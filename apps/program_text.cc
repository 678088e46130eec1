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
  static const std::array<Meaning, 8> all = {
      {{"0", "done"},
       {"1", "failed"},
       {"2", "usage"},
       {"3", "bad input file"},
       {"4", "locked by another run"},
       {"5", "finished but a number failed, is not finite or is not proved"},
       {"129, 130, 143", "interrupted"},
       {"137", "killed, or a rank of hesscope-mpi was"}}};
  return all;
}

std::span<const std::string> ranks_description() {
  static const std::array<std::string, 3> all = {
      "Commands, options, results and exit codes are those of hesscope (hesscope --help). The "
      "result "
      "is the same to the last byte for any number of ranks, and that of hesscope without MPI.",
      "Every rank reads the inputs, which must be the same, by a program that is the same, on "
      "processors with the same vector instructions; else the run is refused. One rank a node, "
      "with "
      "as many threads as the node has cores (--threads), takes the least memory: each rank holds "
      "the "
      "samples and, while one is computed, a Hessian.",
      "A rank that dies ends the others. What is finished is kept, and the same command continues "
      "from there, on any number of ranks. With its option --quiet mpirun leaves the last word to "
      "hesscope-mpi."};
  return all;
}

std::span<const Meaning> ranks_commands() {
  static const std::array<Meaning, 4> all = {
      {{"analyze, landscape, path",
        "Losses, gradients, Hessians, products with them, gradients of samples, predictions: by "
        "all "
        "ranks; decompositions: by the first one"},
       {"analyze --method distributed",
        "All eigenvalues of a Hessian that no rank holds: one rank a core; the bytes are those of "
        "any "
        "number of ranks with the same --grid"},
       {"train, reproduce",
        "Refused for more ranks than one: runs are shared by --part I/N of hesscope"},
       {"all others", "By the first rank; the others do nothing"}}};
  return all;
}

std::span<const std::string> ranks_examples() {
  static const std::array<std::string, 3> all = {
      "mpirun --quiet -n 4 hesscope-mpi analyze checkpoints/ --problem problem.toml -o result.h5",
      "mpirun --quiet -n 16 hesscope-mpi analyze checkpoints/ --problem problem.toml -o result.h5 "
      "--only spectrum,condition --method distributed",
      "srun --mpi=pmix hesscope-mpi analyze checkpoints/ --problem problem.toml -o result.h5"};
  return all;
}

}  // namespace hesscope::cli
