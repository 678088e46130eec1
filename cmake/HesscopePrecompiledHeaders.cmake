# SPDX-License-Identifier: BSD-3-Clause
# hesscope_precompile_headers(TARGET): saves about a second of parsing in each source. Sources still include what they
# use: a build with HESSCOPE_PCH=OFF, file by file, shows it.
function(hesscope_precompile_headers target)
  if(HESSCOPE_PCH)
    target_precompile_headers(${target} PRIVATE
      <Eigen/Core> <algorithm> <cmath> <filesystem> <fmt/format.h> <functional> <map> <memory>
      <optional> <span> <string> <variant> <vector>)
  endif()
endfunction()
