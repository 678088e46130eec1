// SPDX-License-Identifier: BSD-3-Clause
//
// Prints the cost of each work: its time as GFLOP of an OpenBLAS dgemm on as many threads, its
// memory, and the ratios to the generic engine and to one thread, next to the limits set.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <hesscope/core/constants.h>

#include "arithmetic.h"
#include "functor_times.h"
#include "gemm.h"
#include "generic_estimate.h"
#include "peak_memory.h"
#include "statistics.h"
#include "stopwatch.h"
#include "works.h"

namespace hesscope::bench {
namespace {

struct Options {
  std::vector<std::string> only;
  int num_threads = 2;
  int num_rounds = 5;
  InstructionSet set = best_instruction_set();
  bool quick = false;
  std::string memory_of;
};

constexpr double kMegabyte = 1e6;

// With less than this share of processor time, a dgemm is not a valid measure.
constexpr double kLeastCpuShare = 0.9;

// If the generic engine would take more seconds than this, its time is estimated from a part of the
// work.
constexpr double kLongestGenericRun = 3;

struct Row {
  std::string gflop, arithmetic, ratio, limit, met, seconds, dgemm, generic, speedup, memory,
      memory_limit, memory_met;
};

std::string yes_or_no(bool yes) { return yes ? "yes" : "NO"; }

void print_row(const std::string& name, const Row& r, const std::string& title) {
  fmt::print(
      "| {:<12} | {:>8} | {:>10} | {:>6} | {:>9} | {:>3} | {:>8} | {:>7} | {:>10} | {:>7} | {:>6} "
      "| {:>7} | {:>3} | "
      "{} "
      "|\n",
      name,
      r.gflop,
      r.arithmetic,
      r.ratio,
      r.limit,
      r.met,
      r.seconds,
      r.dgemm,
      r.generic,
      r.speedup,
      r.memory,
      r.memory_limit,
      r.memory_met,
      title);
  std::fflush(stdout);
}

// The bytes that another process running this program on only this work finds.
double memory_of(const Work& work, const Options& options) {
  const std::string command = fmt::format("'{}' --memory-of {} --threads {} --instruction-set {}",
                                          std::filesystem::read_symlink("/proc/self/exe").string(),
                                          work.name,
                                          options.num_threads,
                                          name_of(options.set));
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  double bytes = kNaN;
  if (pipe == nullptr || std::fscanf(pipe.get(), "%lf", &bytes) != 1) {
    return kNaN;
  }
  return bytes;
}

void print_memory_of(const Work& work, const Options& options) {
  const Problem problem = work.problem(options.set);
  const GraphObjective objective(
      problem.model,
      problem.samples,
      {.num_threads = options.num_threads, .instruction_set = options.set});
  fmt::print("{}\n",
             peak_memory_over_baseline([&] { perform(objective, problem.theta, work.quantity); }));
}

// What is measured for a work, one entry for each round: seconds, GFLOP/s of the dgemm, and ratios.
struct Times {
  std::vector<double> work, cpu_share, dgemm, gflop, gradients, speedup;
};

class Table {
 public:
  explicit Table(const Options& options)
      : options_(options), gemm_(options.quick ? 2 : 20, options.num_threads) {}

  void print_header() const {
    fmt::print(
        R"({} threads, medians of {} rounds; hesscope by {} instructions, OpenBLAS by its kernels for
{}. A work of x GFLOP takes as long as a square OpenBLAS dgemm of x GFLOP beside it. dgemm: its
GFLOP/s; !: other programs took a tenth or more of its processor time, and the row decides nothing.
arithmetic: GFLOP that the work's plan computes, where the graph alone says it; x: the time over it.
generic: GFLOP without the model's structure, est. from a part. grad: gradients of the same
objective. threads: time on one over time on {}. MB: the peak over what was held before.

)",
        options_.num_threads,
        options_.num_rounds,
        name_of(options_.set),
        openblas_core(),
        options_.num_threads);
    print_row("work",
              {"GFLOP",
               "arithmetic",
               "x",
               "at most",
               "met",
               "seconds",
               "dgemm",
               "generic",
               "threads",
               "MB",
               "at most",
               "met"},
              "what");
    print_row("---",
              {"---:",
               "---:",
               "---:",
               "---:",
               "---",
               "---:",
               "---:",
               "---:",
               "---:",
               "---:",
               "---:",
               "---"},
              "---");
  }

  void print_work(const Work& work) {
    const Problem problem = work.problem(options_.set);
    const Times times = measure(work, problem);
    const double gflop = median(times.gflop);
    const std::optional<double> arithmetic = arithmetic_gflop(problem, work.quantity, options_.set);
    Row row;
    row.gflop = fmt::format("{:.3g}", gflop);
    if (arithmetic) {
      row.arithmetic = fmt::format("{:.3g}", *arithmetic);
      row.ratio = fmt::format("{:.2f}", gflop / *arithmetic);
    }
    row.seconds = fmt::format("{:.3g}", median(times.work));
    const bool is_disturbed = !(median(times.cpu_share) > kLeastCpuShare);
    row.dgemm = fmt::format("{:.0f}{}", median(times.dgemm), is_disturbed ? " !" : "");
    if (!times.speedup.empty()) row.speedup = fmt::format("{:.2f} x", median(times.speedup));
    if (work.time_limit) {
      const auto [amount, unit] = *work.time_limit;
      double found = gflop;
      std::string_view name;
      if (unit == TimeLimit::Unit::kGradients) {
        found = median(times.gradients);
        name = " grad";
        row.gflop += fmt::format(" = {:.0f} grad", found);
      } else if (unit == TimeLimit::Unit::kArithmetic) {
        found = arithmetic ? gflop / *arithmetic : kNaN;
        name = " x";
      }
      row.limit = fmt::format("{}{}", amount, name);
      row.met = is_disturbed ? "?" : yes_or_no(found <= amount);
    }
    if (work.quantity == Quantity::kHessian) {
      row.generic = generic(problem, median(times.work) / median(times.gflop));
    }
    if (!options_.quick) {
      const double bytes = memory_of(work, options_);
      row.memory = fmt::format("{:.0f}", bytes / kMegabyte);
      if (work.memory_limit) {
        row.memory_limit = fmt::format("{:.0f}", *work.memory_limit / kMegabyte);
        row.memory_met = yes_or_no(bytes <= *work.memory_limit);
      }
    }
    print_row(work.name, row, work.title);
  }

  // Time per sample of the model of W1 for increasing numbers of samples.
  void print_linearity() {
    fmt::print(
        "\nTime per sample, linear-attention full, L=3 d=5 n=20:\n\n| samples | us |\n| ---: | "
        "---: |\n");
    std::vector<double> per_sample;
    for (const Eigen::Index n : {1'000, 3'000, 10'000, 30'000, 100'000}) {
      const Problem problem =
          linear_attention_problem({.layers = 3,
                                    .dimension = 5,
                                    .context = 20,
                                    .parametrization = LinearAttentionParametrization::kFull},
                                   n,
                                   options_.set);
      const GraphObjective objective(
          problem.model,
          problem.samples,
          {.num_threads = options_.num_threads, .instruction_set = options_.set});
      std::vector<double> seconds;
      for (int round = 0; round < options_.num_rounds; ++round) {
        seconds.push_back(seconds_of(objective, problem, Quantity::kHessian));
      }
      per_sample.push_back(median(seconds) / static_cast<double>(n));
      fmt::print("| {} | {:.3f} |\n", n, 1e6 * per_sample.back());
    }
    fmt::print("\n100,000 samples over 1,000: {:.2f} x the time per sample\n",
               per_sample.back() / per_sample.front());
  }

 private:
  double seconds_of(const GraphObjective& objective,
                    const Problem& problem,
                    Quantity quantity) const {
    return seconds_per_call(options_.quick ? 0.02 : 0.2,
                            [&] { perform(objective, problem.theta, quantity); });
  }

  Times measure(const Work& work, const Problem& problem) {
    const auto objective_on = [&](int num_threads) {
      return GraphObjective(problem.model,
                            problem.samples,
                            {.num_threads = num_threads, .instruction_set = options_.set});
    };
    const GraphObjective objective = objective_on(options_.num_threads);
    const GraphObjective on_one = objective_on(1);
    const bool needs_gradients =
        work.time_limit && work.time_limit->unit == TimeLimit::Unit::kGradients;
    if (!options_.quick) perform(objective, problem.theta, work.quantity);  // to warm up
    Times times;
    for (int round = 0; round < options_.num_rounds; ++round) {
      const Gemm::Run gemm = gemm_.run();
      const double work_seconds = seconds_of(objective, problem, work.quantity);
      times.work.push_back(work_seconds);
      times.cpu_share.push_back(gemm.cpu_share);
      times.dgemm.push_back(gemm_.gflop() / gemm.seconds);
      times.gflop.push_back(work_seconds / gemm.seconds * gemm_.gflop());
      if (needs_gradients) {
        times.gradients.push_back(work_seconds /
                                  seconds_of(objective, problem, Quantity::kGradient));
      }
      if (options_.num_threads > 1 && !options_.quick) {
        times.speedup.push_back(seconds_of(on_one, problem, work.quantity) / work_seconds);
      }
    }
    return times;
  }

  // The generic engine's time for the Hessian, in GFLOP.
  std::string generic(const Problem& problem, double seconds_per_gflop) const {
    const double estimate = estimated_generic_seconds(problem, options_.num_threads, options_.set);
    if (estimate > kLongestGenericRun) {
      return fmt::format("{:.3g} est.", estimate / seconds_per_gflop);
    }
    const GraphObjective objective(problem.model,
                                   problem.samples,
                                   {.num_threads = options_.num_threads,
                                    .use_structure = false,
                                    .instruction_set = options_.set});
    return fmt::format("{:.3g}",
                       seconds_of(objective, problem, Quantity::kHessian) / seconds_per_gflop);
  }

  Options options_;
  Gemm gemm_;
};

void print_functors(int num_rounds) {
  fmt::print(
      "\nA functor's Hessian, ns, one thread:\n\n| function | n | hesscope | x of fixed size | "
      "nested ceres::Jet | ratio | met | ADOL-C | ratio | met |\n| --- | ---: | ---: | ---: | ---: "
      "| ---: | --- | ---: | ---: | --- |\n");
  for (const FunctorTimes& t : functor_times(num_rounds)) {
    const double nested = t.nested_ceres / t.hesscope;
    fmt::print("| {} | {} | {:.0f} | {:.0f} | {:.0f} | {:.1f} | {} |",
               t.function,
               t.num_variables,
               t.hesscope,
               t.hesscope_fixed,
               t.nested_ceres,
               nested,
               yes_or_no(nested > 1));
    if (t.adolc) {
      fmt::print(" {:.0f} | {:.1f} | {} |\n",
                 *t.adolc,
                 *t.adolc / t.hesscope,
                 yes_or_no(*t.adolc / t.hesscope >= 5));
    } else {
      fmt::print(" not installed | | |\n");
    }
  }
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Prints the time and memory of hesscope's works next to the limits set for them.");
  app.add_option(
         "--only", options.only, "works, and 'linearity' and 'functors', separated by commas")
      ->delimiter(',');
  app.add_option("--threads", options.num_threads, "threads for works and dgemm")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_option("--rounds", options.num_rounds, "how often each work is measured")
      ->capture_default_str()
      ->check(CLI::Range(1, 99));
  std::map<std::string, InstructionSet> sets;
  for (const InstructionSet set : supported_instruction_sets()) {
    sets.emplace(name_of(set), set);
  }
  app.add_option("--instruction-set", options.set, "of hesscope; OPENBLAS_CORETYPE is OpenBLAS's")
      ->default_str(std::string(name_of(options.set)))
      ->transform(CLI::CheckedTransformer(sets, CLI::ignore_case));
  app.add_flag("--quick",
               options.quick,
               "one round on as many threads, without memory, by a small dgemm: for trying out, or "
               "what takes minutes");
  app.add_option(
      "--memory-of", options.memory_of, "print the peak memory of one work in bytes, and end");
  CLI11_PARSE(app, argc, argv);
  if (!options.memory_of.empty()) {
    print_memory_of(work_named(options.memory_of), options);
    return 0;
  }
  if (options.quick) options.num_rounds = 1;
  const auto wanted = [&](const std::string& name) {
    return options.only.empty() || std::count(options.only.begin(), options.only.end(), name) > 0;
  };
  for (const std::string& name : options.only) {
    if (name != "linearity" && name != "functors") work_named(name);
  }
  Table table(options);
  table.print_header();
  for (const Work& work : works()) {
    if (wanted(work.name)) table.print_work(work);
  }
  if (wanted("linearity")) table.print_linearity();
  if (wanted("functors")) print_functors(options.quick ? 1 : 9);
  return 0;
}

}  // namespace
}  // namespace hesscope::bench

int main(int argc, char** argv) {
  try {
    return hesscope::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "hesscope_work_table: {}\n", error.what());
    return 1;
  }
}
