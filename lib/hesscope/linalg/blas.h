// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace hesscope {

/// For programs to call at their beginning. Each thread that is within OpenBLAS takes a buffer of
/// 128 MiB of addresses (not of memory), its own threads as soon as it is loaded; where the system
/// refuses it (RLIMIT_AS, `ulimit -v`), it asks for ever. All solvers here call this, too.
/// @throws OutputError naming what is needed, and the limit, where that could happen.
void require_blas_addresses();

/// For programs to call at their beginning whose linear algebra is this library's: OpenBLAS keeps
/// to one thread from now on, and those that it started when it was loaded end, of which each would
/// look for work for some 25 ms. The solvers here use one thread in any case, but give OpenBLAS the
/// number back that it had, and after a fork, as of an isolated reader, it starts its threads anew
/// for that.
void use_one_blas_thread();

/// The name of OpenBLAS's kernels ("Prescott") where they are older than AVX2 and this processor is
/// not, else "". OpenBLAS knows the processors of its own time; for others it may take its oldest
/// kernels, with which decompositions take about twice as long. The environment's
/// OPENBLAS_CORETYPE=Haswell chooses those of AVX2.
std::string outdated_blas_kernels();

}  // namespace hesscope
