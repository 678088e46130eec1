// SPDX-License-Identifier: BSD-3-Clause
#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/structured/internal/graph/entry_numbers.h>

namespace hesscope::detail {

EntryNumbers::EntryNumbers(const Graph& graph) {
  const auto nodes = graph.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].op == Graph::Op::kReshape) {
      first_.push_back(first_[at(nodes[i].a)]);
      root_.push_back(root_[at(nodes[i].a)]);
      continue;
    }
    first_.push_back(size_);
    root_.push_back(static_cast<int>(i));
    size_ += size_of(nodes[i]);
    node_of_.resize(at(size_), static_cast<int>(i));
  }
}

}  // namespace hesscope::detail
