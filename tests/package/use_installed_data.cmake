# SPDX-License-Identifier: BSD-3-Clause
# Runs the first command of the README, and one on an experiment file, with the program and the data installed in
# PREFIX.
file(REMOVE_RECURSE ${BUILD})
file(MAKE_DIRECTORY ${BUILD})
file(GLOB_RECURSE problem ${PREFIX}/share/hesscope/problem.toml)
list(FILTER problem INCLUDE REGEX "/linear-attention/")
cmake_path(GET problem PARENT_PATH linear_attention)
cmake_path(GET linear_attention PARENT_PATH data)
cmake_path(GET data PARENT_PATH folder)
set(hesscope ${PREFIX}/bin/hesscope)
execute_process(
  COMMAND ${hesscope} analyze data/linear-attention/adam --problem data/linear-attention/problem.toml
    -o ${BUILD}/adam.h5 --only condition --quiet
  WORKING_DIRECTORY ${folder}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${hesscope} train data/experiments/la-settings.toml --run adam --seed 0 -o ${BUILD}/trained --dry-run
  WORKING_DIRECTORY ${folder}
  OUTPUT_QUIET
  COMMAND_ERROR_IS_FATAL ANY)
