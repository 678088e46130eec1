// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <hesscope/core/block_tree.h>
#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>

namespace hesscope {
namespace {

using BlockFunction = std::function<void(Eigen::Index, std::span<double>)>;

void add(const std::vector<double>& numbers, std::vector<double>& sum) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += numbers[i];
}

void go_on_or_throw(const StopRequest& stop) {
  if (stop && stop()) throw Interrupted();
}

void require_work(const char* function, const char* unit, Eigen::Index count, bool has_body) {
  if (count >= 0 && has_body) return;
  throw PreconditionError(
      fmt::format("Executor::{}: expected a function and at least 0 {}, got {}{} {}",
                  function,
                  unit,
                  has_body ? "" : "no function and ",
                  count,
                  unit));
}

// Split by TBB.
class TreeRange : public BlockRange {
 public:
  explicit TreeRange(const BlockRange& range) : BlockRange(range) {}

  TreeRange(TreeRange& whole, tbb::split) : BlockRange(whole.right()) { whole.end = begin; }

  bool empty() const { return size() == 0; }

  bool is_divisible() const { return !is_leaf(); }
};

// Body of tbb::parallel_deterministic_reduce with simple_partitioner, which splits everything that
// is divisible: the tree of joins is that of the ranges.
class TreeSum {
 public:
  TreeSum(std::size_t size, const BlockFunction& block, const StopRequest& stop)
      : block_(&block), stop_(&stop), partial_(size, 0.0) {}

  TreeSum(TreeSum& other, tbb::split)
      : TreeSum(other.partial_.size(), *other.block_, *other.stop_) {}

  void operator()(const TreeRange& leaf) {
    for (Eigen::Index b = leaf.begin; b != leaf.end; ++b) {
      go_on_or_throw(*stop_);
      (*block_)(b, partial_);
    }
  }

  void join(const TreeSum& right) { add(right.partial_, partial_); }

  std::vector<double>& partial() { return partial_; }

 private:
  const BlockFunction* block_;
  const StopRequest* stop_;
  std::vector<double> partial_;
};

// The tree of a sum, traversed by ranks that each have some neighbouring blocks: a rank sums its
// own subtrees, and sends the sum of a right half to the rank that has the left half. All ranks
// reach the joins in the same order, so there are no circular waits.
class RankSum {
 public:
  RankSum(Team& team, Eigen::Index num_blocks)
      : team_(team), cuts_(equal_shares(num_blocks, team.size())) {
    list_own({0, num_blocks});
  }

  /// Allocates what join_all() needs.
  void allocate(std::size_t size) {
    partials_.resize(own_.size());
    received_.resize(size);
  }

  /// The largest subtrees that belong to this rank, from left to right.
  const std::vector<BlockRange>& own() const { return own_; }

  /// Their partial sums, in the same order.
  std::vector<std::vector<double>>& partials() { return partials_; }

  /// The whole sum on the first rank; meaningless on the others.
  std::vector<double> join_all() { return join({0, cuts_.back()}); }

 private:
  int owner_of(Eigen::Index block) const {
    return static_cast<int>(std::upper_bound(cuts_.begin(), cuts_.end(), block) - cuts_.begin()) -
           1;
  }

  bool is_of_one(const BlockRange& node) const {
    return owner_of(node.begin) == owner_of(node.end - 1);
  }

  void list_own(const BlockRange& node) {
    if (!is_of_one(node)) {
      list_own(node.left());
      list_own(node.right());
    } else if (owner_of(node.begin) == team_.rank()) {
      own_.push_back(node);
    }
  }

  // Returns this rank's part of a node's sum if it owns the node's first block.
  std::vector<double> join(const BlockRange& node) {
    const int owner = owner_of(node.begin);
    if (is_of_one(node)) {
      return owner == team_.rank() ? std::move(partials_[num_taken_++]) : std::vector<double>();
    }
    std::vector<double> sum = join(node.left());
    const std::vector<double> right = join(node.right());
    const int giver = owner_of(node.middle());
    if (team_.rank() == giver && giver != owner) team_.send(owner, right);
    if (team_.rank() != owner) return {};
    if (giver != owner) team_.receive(giver, received_);
    add(giver == owner ? right : received_, sum);
    return sum;
  }

  Team& team_;
  std::vector<Eigen::Index> cuts_;
  std::vector<BlockRange> own_;
  std::vector<std::vector<double>> partials_;
  std::vector<double> received_;
  std::size_t num_taken_ = 0;
};

// The sum over a subtree, multithreaded.
std::vector<double> sum_of(const BlockRange& node,
                           std::size_t size,
                           const BlockFunction& block,
                           const StopRequest& stop,
                           tbb::task_arena& arena) {
  TreeSum total(size, block, stop);
  // Isolation prevents a thread that waits for a join from starting an unrelated outer task, whose
  // scratch would exceed the memory bound.
  arena.execute([&] {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_deterministic_reduce(TreeRange(node), total, tbb::simple_partitioner());
    });
  });
  return std::move(total.partial());
}

constexpr int kMaxThreads = 256;

// Without this, TBB ignores a request for more threads than cores, and prints a warning on stderr.
// An application's own, smaller tbb::global_control stays in force.
void allow_more_threads_than_cores() {
  static const tbb::global_control control(tbb::global_control::max_allowed_parallelism,
                                           kMaxThreads);
}

}  // namespace

struct Executor::Impl {
  Impl(int num_threads, StopRequest token)
      : arena(num_threads == 0 ? tbb::task_arena::automatic : std::min(num_threads, kMaxThreads)),
        stop(std::move(token)) {
    allow_more_threads_than_cores();
  }

  mutable tbb::task_arena arena;
  StopRequest stop;
};

Executor::Executor(int num_threads, StopRequest stop) {
  if (num_threads < 0) throw PreconditionError("Executor: num_threads must not be negative");
  impl_ = std::make_shared<const Impl>(num_threads, std::move(stop));
}

Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

int Executor::num_threads() const { return impl_->arena.max_concurrency(); }

const StopRequest& Executor::stop() const { return impl_->stop; }

void Executor::for_each(Eigen::Index count, const std::function<void(Eigen::Index)>& body) const {
  require_work("for_each", "times", count, static_cast<bool>(body));
  impl_->arena.execute([&] {
    tbb::parallel_for(
        Eigen::Index{0},
        count,
        [&](Eigen::Index i) {
          go_on_or_throw(impl_->stop);
          body(i);
        },
        tbb::simple_partitioner());
  });
}

Executor::Executor(std::shared_ptr<const Impl> impl, Team* team)
    : impl_(std::move(impl)), team_(team) {}

Executor Executor::with(Team* team) const { return {impl_, team}; }

Executor Executor::alone() const { return {impl_, nullptr}; }

Team* Executor::team() const {
  return team_ != nullptr && team_->is_at_work() && team_->size() > 1 ? team_ : nullptr;
}

void Executor::isolated(const std::function<void()>& body) const {
  impl_->arena.execute([&] { tbb::this_task_arena::isolate(body); });
}

BlockRange Executor::own(Eigen::Index count,
                         const std::function<double(Eigen::Index)>& work) const {
  Team* const others = team();
  if (others == nullptr) return {0, count};
  const std::vector<Eigen::Index> cuts = equal_shares(count, others->size(), work);
  const auto rank = static_cast<std::size_t>(others->rank());
  return {cuts[rank], cuts[rank + 1]};
}

void Executor::together(const std::function<void()>& add,
                        Eigen::Index count,
                        const std::function<MatrixPart(Eigen::Index, Eigen::Index)>& part,
                        const std::function<double(Eigen::Index)>& work) const {
  Team* const others = team();
  if (others == nullptr) return add();
  others->together(add);
  const std::vector<Eigen::Index> cuts = equal_shares(count, others->size(), work);
  for (std::size_t r = 0; r + 1 < cuts.size(); ++r) {
    if (cuts[r] == cuts[r + 1]) continue;
    share_part(*others, static_cast<int>(r), part(cuts[r], cuts[r + 1]));
  }
}

void Executor::share(Eigen::Index count,
                     const std::function<void(Eigen::Index)>& body,
                     const std::function<MatrixPart(Eigen::Index, Eigen::Index)>& part,
                     const std::function<double(Eigen::Index)>& work) const {
  const auto add = [&] {
    const BlockRange mine = own(count, work);
    for_each(mine.size(), [&](Eigen::Index i) { body(mine.begin + i); });
  };
  together(add, count, part, work);
}

void Executor::sum(Eigen::Index num_blocks,
                   std::span<double> result,
                   const BlockFunction& block) const {
  require_work("sum", "blocks", num_blocks, static_cast<bool>(block));
  Team* const others = num_blocks > 0 ? team() : nullptr;
  if (others == nullptr) {
    std::ranges::copy(sum_of({0, num_blocks}, result.size(), block, impl_->stop, impl_->arena),
                      result.begin());
    return;
  }
  RankSum sum(*others, num_blocks);
  others->together([&] {
    sum.allocate(result.size());
    for_each(std::ssize(sum.own()), [&](Eigen::Index i) {
      const auto k = static_cast<std::size_t>(i);
      sum.partials()[k] = sum_of(sum.own()[k], result.size(), block, impl_->stop, impl_->arena);
    });
  });
  const std::vector<double> total = sum.join_all();
  if (others->rank() == 0) std::ranges::copy(total, result.begin());
  others->broadcast(0, std::as_writable_bytes(result));
}

}  // namespace hesscope
