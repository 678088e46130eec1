// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace hesscope {

/// For programs to call at their beginning. Each thread that is within OpenBLAS takes a buffer of
/// 128 MiB of addresses (not of memory), its own threads as soon as it is loaded; where the system
/// refuses it (RLIMIT_AS, `ulimit -v`), it asks for ever. All solvers here call this, too.
/// @throws OutputError naming what is needed, and the limit, where that could happen.
void require_blas_addresses();

/// For programs to call at their beginning that use the BLAS through this library only: one thread
/// of OpenBLAS from now on. The solvers here use one in any case, but each gives OpenBLAS the number
/// back that it had, and where the process has forked, as isolated readers do, OpenBLAS starts its
/// threads anew for that.
void use_one_blas_thread();

}  // namespace hesscope
