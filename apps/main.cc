// SPDX-License-Identifier: BSD-3-Clause
#include "program.h"

int main(int argc, char** argv) {
  return hesscope::cli::run_program(argc, argv, hesscope::cli::run_reporting, false);
}
