// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <hesscope/core/error.h>
#include <hesscope/core/executor.h>

namespace hesscope {
namespace {

using BlockFunction = std::function<void(Eigen::Index, std::span<double>)>;

void go_on_or_throw(const StopRequest& stop) {
  if (stop && stop()) throw Interrupted();
}

// Body of tbb::parallel_deterministic_reduce with grain 1 and simple_partitioner: the splits, and
// so the tree of joins, depend on the number of blocks alone.
class TreeSum {
 public:
  TreeSum(std::size_t size, const BlockFunction& block, const StopRequest& stop)
      : block_(&block), stop_(&stop), partial_(size, 0.0) {}

  TreeSum(TreeSum& other, tbb::split)
      : TreeSum(other.partial_.size(), *other.block_, *other.stop_) {}

  void operator()(const tbb::blocked_range<Eigen::Index>& range) {
    for (Eigen::Index b = range.begin(); b != range.end(); ++b) {
      go_on_or_throw(*stop_);
      (*block_)(b, partial_);
    }
  }

  void join(const TreeSum& right) {
    for (std::size_t i = 0; i < partial_.size(); ++i) partial_[i] += right.partial_[i];
  }

  const std::vector<double>& partial() const { return partial_; }

 private:
  const BlockFunction* block_;
  const StopRequest* stop_;
  std::vector<double> partial_;
};

constexpr int kMaxThreads = 256;

// Without this TBB ignores a request for more threads than cores, and says so on stderr. An
// application's own, smaller tbb::global_control stays in force.
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

  tbb::task_arena arena;
  StopRequest stop;
};

Executor::Executor(int num_threads, StopRequest stop) {
  if (num_threads < 0) throw PreconditionError("Executor: num_threads must not be negative");
  impl_ = std::make_unique<Impl>(num_threads, std::move(stop));
}

Executor::~Executor() = default;
Executor::Executor(Executor&&) noexcept = default;
Executor& Executor::operator=(Executor&&) noexcept = default;

int Executor::num_threads() const { return impl_->arena.max_concurrency(); }

const StopRequest& Executor::stop() const { return impl_->stop; }

void Executor::for_each(Eigen::Index count, const std::function<void(Eigen::Index)>& body) const {
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

void Executor::sum(Eigen::Index num_blocks,
                   std::span<double> result,
                   const BlockFunction& block) const {
  TreeSum total(result.size(), block, impl_->stop);
  // Isolation keeps a thread that waits for a join from starting an unrelated outer task, whose
  // scratch would add to the memory bound.
  impl_->arena.execute([&] {
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_deterministic_reduce(
          tbb::blocked_range<Eigen::Index>(0, num_blocks, 1), total, tbb::simple_partitioner());
    });
  });
  std::copy(total.partial().begin(), total.partial().end(), result.begin());
}

}  // namespace hesscope
