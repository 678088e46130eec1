# SPDX-License-Identifier: BSD-3-Clause
# The tree decides what a folder of the library contributes: *.cc are its sources; *.h its public headers, installed;
# users of the library neither see nor include what is in `internal/`.
#
# hesscope_folders(TARGET FOLDERS...): adds folders below the current one, the lowest first: a folder includes only
# those before it. The target's property HESSCOPE_FOLDERS lists them, for the test that checks this.
function(hesscope_folders target)
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS LIST_DIRECTORIES false ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cc)
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS LIST_DIRECTORIES false ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.h)
    list(FILTER headers EXCLUDE REGEX "/internal/")
    target_sources(${target} PRIVATE ${sources})
    target_sources(${target} PUBLIC FILE_SET HEADERS FILES ${headers})
  endforeach()
  set_property(TARGET ${target} APPEND PROPERTY HESSCOPE_FOLDERS ${ARGN})
endfunction()
