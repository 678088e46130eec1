// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace hesscope {

/// To be called by programs at their start. Each thread that is inside OpenBLAS takes a buffer of
/// 128 MiB of address space (not of memory), and OpenBLAS's own threads do so as soon as it is
/// loaded; if the system refuses it (RLIMIT_AS, `ulimit -v`), OpenBLAS retries forever. All solvers
/// here call this, too.
/// @throws OutputError naming the required size and the limit if that could happen.
void require_blas_addresses();

/// To be called at their start by programs whose only linear algebra is this library's: from then
/// on OpenBLAS uses one thread, and the threads that it started when it was loaded end; each of
/// them would spin for about 25 ms in search of work. The solvers here use one thread in any case,
/// but they restore the previous number afterwards; after a fork, as in an isolated reader,
/// OpenBLAS would start its threads again for that.
void use_one_blas_thread();

/// The name of OpenBLAS's kernels ("Prescott") if they are older than AVX2 although this processor
/// has it, else "". OpenBLAS only knows the processors that existed at its release; on others it
/// may choose its oldest kernels, which makes decompositions take about twice as long. The
/// environment variable OPENBLAS_CORETYPE=Haswell selects the AVX2 kernels.
std::string outdated_blas_kernels();

}  // namespace hesscope
