# SPDX-License-Identifier: BSD-3-Clause
# Manual pages and completion for bash, zsh and fish, which the program writes from the declarations of its options:
# making them needs only the program. If it cannot be run, because it was compiled for another machine, they are left
# out.
if(NOT TARGET hesscope_cli)
  return()
endif()
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "Manual pages and completions are left out: the program cannot be run here; "
    "`hesscope --write-manual DIR` writes them there")
  return()
endif()

set(manual_folder ${PROJECT_BINARY_DIR}/manual)
set(manual_stamp ${PROJECT_BINARY_DIR}/manual.stamp)
set(manual_writer hesscope_cli)
if(TARGET hesscope_mpi_cli)
  set(manual_writer hesscope_mpi_cli) # has a page of its own
endif()
add_custom_command(OUTPUT ${manual_stamp}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual_folder}
  COMMAND ${manual_writer} --write-manual ${manual_folder} > ${manual_stamp}
  DEPENDS ${manual_writer}
  COMMENT "Writing manual pages and completions"
  VERBATIM)
add_custom_target(hesscope_manual ALL DEPENDS ${manual_stamp})

install(DIRECTORY ${manual_folder}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
install(DIRECTORY ${manual_folder}/bash-completion ${manual_folder}/zsh ${manual_folder}/fish
  DESTINATION ${CMAKE_INSTALL_DATADIR})
