# SPDX-License-Identifier: BSD-3-Clause
# Run at build time: writes the experiment files of FOLDER into OUTPUT, a source that defines
# hesscope::built_in_experiments(), and hesscope::built_in_files() with the symbols that hesscope_embed() made.
# usage: cmake -D FOLDER=DIR -D OUTPUT=FILE -D NAMES=NAME;... -D SYMBOLS=SYMBOL;... -P EmbedExperiments.cmake
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
set(symbols "")
set(carried "")
foreach(name symbol IN ZIP_LISTS NAMES SYMBOLS)
  string(APPEND symbols "extern const char ${symbol}_begin[];\nextern const char ${symbol}_end[];\n")
  string(APPEND carried "      {\"${name}\", {${symbol}_begin, ${symbol}_end}},\n")
endforeach()
list(LENGTH NAMES num_carried)
file(WRITE ${OUTPUT}
"// Generated from ${FOLDER}.
#include <array>

#include <hesscope/reproduction/built_in_experiments.h>

extern \"C\" {
${symbols}}

namespace hesscope {

std::span<const BuiltInExperiment> built_in_experiments() {
  static const std::array<BuiltInExperiment, ${count}> experiments = {{
${entries}  }};
  return experiments;
}

std::span<const BuiltInFile> built_in_files() {
  static const std::array<BuiltInFile, ${num_carried}> files = {{
${carried}  }};
  return files;
}

}  // namespace hesscope
")
