// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <span>
#include <utility>

#include <hesscope/autodiff/internal/indexing.h>
#include <hesscope/autodiff/internal/moved_entries.h>
#include <hesscope/structured/internal/graph/parameter_views.h>

namespace hesscope::detail {
namespace {

class ViewFinder {
 public:
  explicit ViewFinder(const Graph& graph)
      : graph_(graph), nodes_(graph.nodes()), views_(nodes_.size()) {}

  std::vector<std::optional<ParameterView>> find(const std::vector<char>& is_needed) && {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (is_needed[i]) views_[i] = view_of(static_cast<int>(i));
    }
    return std::move(views_);
  }

 private:
  std::optional<ParameterView> view_of(int i) const {
    const Graph::Node& n = nodes_[at(i)];
    ParameterView view;
    if (n.op == Graph::Op::kParameter) {
      view.theta.resize(at(size_of(n)));
      std::iota(view.theta.begin(), view.theta.end(), static_cast<int>(n.offset));
      view.roots = {i};
      return view;
    }
    const bool moves =
        moves_entries(n.op) || n.op == Graph::Op::kReshape || n.op == Graph::Op::kScale;
    if (!moves || !views_[at(n.a)] || (n.b >= 0 && !views_[at(n.b)])) return std::nullopt;
    const ParameterView& a = *views_[at(n.a)];
    view = {.theta = {}, .factor = a.factor, .roots = a.roots};
    const auto cols = static_cast<int>(n.cols);
    const auto a_cols = static_cast<int>(nodes_[at(n.a)].cols);
    switch (n.op) {
      case Graph::Op::kScale:
        if (n.factor == 0) return std::nullopt;
        view.factor *= n.factor;
        [[fallthrough]];
      case Graph::Op::kReshape:
        view.theta = a.theta;
        break;
      case Graph::Op::kSlice:
        for (int e = 0; e < size_of(n); ++e) {
          view.theta.push_back(a.theta[at((static_cast<int>(n.row) + e / cols) * a_cols +
                                          static_cast<int>(n.col) + e % cols)]);
        }
        break;
      case Graph::Op::kEmbed:
        view.theta.assign(at(size_of(n)), -1);
        for (int e = 0; e < static_cast<int>(a.theta.size()); ++e) {
          view.theta[at((static_cast<int>(n.row) + e / a_cols) * cols + static_cast<int>(n.col) +
                        e % a_cols)] = a.theta[at(e)];
        }
        break;
      default: {  // kGather
        if (n.b >= 0) {
          const ParameterView& b = *views_[at(n.b)];
          if (b.factor != a.factor) return std::nullopt;
          view.roots.insert(view.roots.end(), b.roots.begin(), b.roots.end());
        }
        for (int e = 0; e < size_of(n); ++e) {
          const int from = graph_.indices()[at(static_cast<int>(n.offset) + e)];
          const auto a_size = static_cast<int>(a.theta.size());
          view.theta.push_back(from < 0        ? -1
                               : from < a_size ? a.theta[at(from)]
                                               : views_[at(n.b)]->theta[at(from - a_size)]);
        }
      }
    }
    return view;
  }

  const Graph& graph_;
  std::span<const Graph::Node> nodes_;
  std::vector<std::optional<ParameterView>> views_;
};

}  // namespace

std::vector<std::optional<ParameterView>> parameter_views(const Graph& graph,
                                                          const std::vector<char>& is_needed) {
  return ViewFinder(graph).find(is_needed);
}

}  // namespace hesscope::detail
