# SPDX-License-Identifier: BSD-3-Clause
# Run at build time: writes the experiment files of FOLDER into OUTPUT, a source that defines
# hesscope::built_in_experiments().
# usage: cmake -D FOLDER=DIR -D OUTPUT=FILE -P EmbedExperiments.cmake
cmake_minimum_required(VERSION 3.25)
file(GLOB files ${FOLDER}/*.toml)
list(SORT files)
set(entries "")
foreach(file IN LISTS files)
  cmake_path(GET file STEM name)
  file(READ ${file} text)
  string(APPEND entries "      {\"${name}\", R\"hesscope(${text})hesscope\"},\n")
endforeach()
list(LENGTH files count)
file(WRITE ${OUTPUT}
"// Generated from ${FOLDER}.
#include <array>

#include <hesscope/reproduction/built_in_experiments.h>

namespace hesscope {

std::span<const BuiltInExperiment> built_in_experiments() {
  static const std::array<BuiltInExperiment, ${count}> experiments = {{
${entries}  }};
  return experiments;
}

}  // namespace hesscope
")
