// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include <mpi.h>

#include <fmt/format.h>

#include <hesscope/core/error.h>
#include <hesscope/core/memory.h>
#include <hesscope/mpi/internal/node_memory.h>

namespace hesscope::detail {

void require_node_memory(Team& team, double bytes) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int num_ranks = 0;
  MPI_Comm_size(node, &num_ranks);
  double needed = 0.0;
  MPI_Allreduce(&bytes, &needed, 1, MPI_DOUBLE, MPI_SUM, node);
  MPI_Comm_free(&node);
  std::array<char, MPI_MAX_PROCESSOR_NAME> name = {};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  team.together([&] {
    if (const double limit = address_space_limit_bytes(); bytes > limit) {
      throw OutputError(
          fmt::format("a rank on {} needs {:.3g} GB of memory for its part of the Hessian, and may "
                      "take {:.3g} GB (ulimit -v); spread it over more ranks",
                      name.data(),
                      bytes / 1e9,
                      limit / 1e9));
    }
    const double free = free_memory_bytes();
    if (needed <= free) return;
    throw OutputError(fmt::format(
        "the {} ranks on {} need {:.3g} GB of memory for their part of the Hessian, and {:.3g} GB "
        "are free there; spread it over more nodes, or let fewer ranks share one",
        num_ranks,
        name.data(),
        needed / 1e9,
        free / 1e9));
  });
}

}  // namespace hesscope::detail
